"""One-off queries: sent to the mirror, at most so many at once, their results read as they come and bounded.

The mirror is fed every change before who made it is answered, so who asks afterwards sees it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from millstream.server.durable.commands import Numbered, packed
from millstream.server.limits import ServerLimits
from millstream.server.one_off.mirror import ASK, CHANGE, DATA, END, ERROR, HEAD, LOAD, MESSAGE, PIECE, TOO_MUCH_MEMORY
from millstream.server.problems import BusyError, ServerError, TooLargeError

LOG = logging.getLogger("millstream.server")
_GRACE_S = 5.0
_MOST_BEHIND = 256 << 20


@dataclass(frozen=True, slots=True)
class Result:
    """A document."""

    media_type: str
    content: bytes


class MirrorProcess:
    """The mirror as a child process: what it is told goes through a thread, so that nobody waits for it."""

    def __init__(self, quads: Iterable[bytes]) -> None:
        ours, theirs = socket.socketpair()
        self._channel = ours
        self._process = subprocess.Popen(
            [sys.executable, "-m", "millstream.server.one_off.mirror", str(theirs.fileno())],
            pass_fds=(theirs.fileno(),),
            # No threads but its own: it forks.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        theirs.close()
        self._waiting: queue.SimpleQueue[tuple[bytes, bytes, int | None] | None] = queue.SimpleQueue()
        self._behind = 0
        self.is_alive = True
        for part in quads:
            self._waiting.put((LOAD, part, None))
        threading.Thread(target=self._send, name="millstream mirror", daemon=True).start()

    def tell(self, kind: bytes, data: bytes, descriptor: int | None = None) -> None:
        """Sends something, in order; the descriptor is closed once it is sent."""
        self._behind += len(data)
        if self._behind > _MOST_BEHIND:
            # It cannot keep up: a new one begins with the datasets as they are then.
            self.close()
        self._waiting.put((kind, data, descriptor))

    def _send(self) -> None:
        while (found := self._waiting.get()) is not None:
            kind, data, descriptor = found
            try:
                if self.is_alive:
                    head = MESSAGE.pack(kind, len(data))
                    if descriptor is None:
                        self._channel.sendall(head)
                    else:
                        socket.send_fds(self._channel, [head], [descriptor])
                    self._channel.sendall(data)
            except OSError:
                self.is_alive = False
            finally:
                self._behind -= len(data)
                if descriptor is not None:
                    os.close(descriptor)
        self._channel.close()

    def close(self) -> None:
        """Ends it."""
        self.is_alive = False
        self._waiting.put(None)
        self._process.kill()
        self._process.wait()


class OneOffs:
    """Asks the mirror, and starts it anew when it has died."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._turns = asyncio.Semaphore(max(1, limits.one_offs))
        self._waiting = 0
        self._mirror: MirrorProcess | None = None

    @property
    def needs_start(self) -> bool:
        """Whether there is no mirror that could be asked."""
        return self._limits.one_offs > 0 and (self._mirror is None or not self._mirror.is_alive)

    def start(self, quads: Iterable[bytes]) -> None:
        """Begins with the datasets as they are now."""
        self.stop()
        self._mirror = MirrorProcess(quads)

    def stop(self) -> None:
        if self._mirror is not None:
            self._mirror.close()
            self._mirror = None

    def feed(self, numbered: Numbered) -> None:
        """A change of the datasets."""
        if self._mirror is not None:
            self._mirror.tell(CHANGE, packed([numbered]))

    async def ask(self, asked: dict[str, Any]) -> Result:
        """The result of a query; raises what refused or stopped it."""
        limits = self._limits
        if not limits.one_offs:
            raise ServerError("this server takes no one-off queries.", status=501)
        if self._waiting >= limits.one_offs_waiting + limits.one_offs:
            raise BusyError("too many one-off queries wait; try again later.", headers={"Retry-After": "1"})
        self._waiting += 1
        try:
            async with self._turns:
                return await self._ask(asked)
        finally:
            self._waiting -= 1

    async def _ask(self, asked: dict[str, Any]) -> Result:
        limits, mirror = self._limits, self._mirror
        if mirror is None:
            raise BusyError("one-off queries cannot be answered just now.", headers={"Retry-After": "1"})
        told = {
            **asked,
            "seconds": limits.one_off_seconds,
            "memory": limits.one_off_memory,
            "most_rows": limits.one_off_rows,
            "most_bytes": limits.one_off_bytes,
        }
        reading, writing = os.pipe()
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reading, "rb"))
        began = loop.time()
        try:
            mirror.tell(ASK, json.dumps(told).encode(), writing)
            async with asyncio.timeout(limits.one_off_seconds + _GRACE_S):
                return await _result(reader)
        except TimeoutError:
            raise self._too_long() from None
        except asyncio.IncompleteReadError:
            if loop.time() - began >= limits.one_off_seconds:
                raise self._too_long() from None
            if not mirror.is_alive:
                raise BusyError("one-off queries cannot be answered just now.", headers={"Retry-After": "1"}) from None
            raise TooLargeError(TOO_MUCH_MEMORY) from None
        finally:
            transport.close()

    def _too_long(self) -> ServerError:
        return ServerError(
            f"the query took more than {self._limits.one_off_seconds} s and was stopped; ask for less.", status=408
        )


async def _result(reader: asyncio.StreamReader) -> Result:
    media_type, parts = "", []
    while True:
        kind, length = PIECE.unpack(await reader.readexactly(PIECE.size))
        data = await reader.readexactly(length)
        if kind == HEAD:
            media_type = data.decode()
        elif kind == DATA:
            parts.append(data)
        elif kind == END:
            return Result(media_type, b"".join(parts))
        elif kind == ERROR:
            found = json.loads(data)
            raise _RemoteError(found.pop("error"), status=found.pop("status"), place=found)


class _RemoteError(ServerError):
    """What a child said is wrong, with the place it said."""

    def __init__(self, message: str, *, status: int, place: dict[str, int]) -> None:
        super().__init__(message, status=status)
        self.line, self.column = place.get("line"), place.get("column")
