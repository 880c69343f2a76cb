"""Bodies of requests: read with a limit and without waiting for ever, decompressed with the same limit."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect, Request

from millstream.rdf.inputs import is_compressed
from millstream.server.limits import ServerLimits
from millstream.server.problems import ServerError, TooLargeError

_STEP = 1 << 18


def _too_large(most: int) -> TooLargeError:
    return TooLargeError(f"the body has more than {most} bytes; send it in parts.", headers={"Connection": "close"})


async def pieces(request: Request, limits: ServerLimits) -> AsyncIterator[bytes]:
    """What comes of a body, as it comes; ServerError if nothing comes for too long, or it is cut short."""
    stream = request.stream()
    while True:
        try:
            async with asyncio.timeout(limits.body_seconds):
                piece = await anext(stream, None)
        except TimeoutError:
            raise ServerError("the body came too slowly.", status=408, headers={"Connection": "close"}) from None
        except ClientDisconnect:
            raise ServerError("the body was cut short.") from None
        if piece is None:
            return
        if piece:
            yield piece


async def body(request: Request, limits: ServerLimits, most: int | None = None) -> bytes:
    """A whole body, decompressed; TooLargeError if it is larger than it may be."""
    most = limits.body_bytes if most is None else most
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > most:
        raise _too_large(most)
    parts, size = [], 0
    async for piece in pieces(request, limits):
        size += len(piece)
        if size > most:
            raise _too_large(most)
        parts.append(piece)
    data = b"".join(parts)
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip"):
        raise ServerError(f"the content encoding {encoding[:40]!r} is not known; use gzip or none.", status=415)
    return _decompressed(data, most) if is_compressed(data) else data


def _decompressed(data: bytes, most: int) -> bytes:
    inflate = zlib.decompressobj(wbits=31)
    found = bytearray()
    try:
        while True:
            found += inflate.decompress(data, _STEP)
            if len(found) > most:
                raise _too_large(most)
            data = inflate.unconsumed_tail
            if inflate.eof:
                data = inflate.unused_data
                if not is_compressed(data):
                    return bytes(found)
                inflate = zlib.decompressobj(wbits=31)
            elif not data:
                raise ServerError("the gzip data is cut short.")
    except zlib.error:
        raise ServerError("the gzip data is damaged.") from None
