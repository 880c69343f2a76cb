"""Checksums of bytes that are kept or sent, at their end: what was damaged is refused, and never read as something else."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from millstream.errors import SnapshotError

_CHECK_BYTES = 4


def sealed(data: bytes | memoryview) -> bytes:
    """Bytes with their checksum behind them, where it does not move them from their alignment."""
    return b"".join((data, zlib.crc32(data).to_bytes(_CHECK_BYTES, "little")))


def unsealed(data: bytes) -> memoryview:
    """What was sealed; SnapshotError if it is not as it was then."""
    content, check = memoryview(data)[:-_CHECK_BYTES], data[-_CHECK_BYTES:]
    if len(check) < _CHECK_BYTES or zlib.crc32(content) != int.from_bytes(check, "little"):
        raise damaged(f"{len(data)} bytes are not what was written")
    return content


def packed(parts: Sequence[bytes]) -> bytes:
    """Several, each sealed by itself, as one: how many, their lengths, the parts themselves."""
    return b"".join([np.array([len(parts), *map(len, parts)], "<i8").tobytes(), *parts])


def unpacked(data: bytes) -> list[bytes]:
    """What was packed."""
    count = int.from_bytes(data[:8], "little", signed=True)
    if not 0 <= count < len(data) // 8:
        raise damaged(f"{len(data)} bytes are not what was written")
    lengths = np.frombuffer(data, "<i8", count, 8).tolist()
    bounds = list(accumulate(lengths, initial=8 * (count + 1)))
    if bounds[-1] != len(data) or any(length < 0 for length in lengths):
        raise damaged(f"{len(data)} bytes are not what was written")
    return [data[first:end] for first, end in pairwise(bounds)]


def damaged(what: str) -> SnapshotError:
    """What to raise for what cannot be gone on from."""
    return SnapshotError(
        f"the state of a job, or what its tasks sent each other, is damaged: {what}. "
        "Start the job again; if that does not help, start it with a new checkpoint."
    )
