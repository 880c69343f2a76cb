"""Standard input as files that Spark can read: whole, or while it comes, cut between lines."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from millstream.rdf import Format, named_format

_ROLL_S = 0.5
_ROLL_BYTES = 16 << 20
_LINES = (Format.N_TRIPLES, Format.N_QUADS, Format.JSON_LINES)


class Spool:
    """A folder that standard input goes to."""

    def __init__(self, folder: Path, format: str | None, *, follow: bool) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        chosen = Format.N_QUADS if format is None else named_format(format).format
        self._ending = chosen.value
        self._number = 0
        self._closed = threading.Event()
        self._trouble: OSError | None = None
        if follow and chosen in _LINES:
            threading.Thread(target=self._roll_on, daemon=True).start()
        else:
            self._keep(sys.stdin.buffer.read())

    def check(self) -> None:
        """Raises what went wrong while input came."""
        if self._trouble is not None:
            raise self._trouble

    def _roll_on(self) -> None:
        try:
            self._roll()
        except OSError as error:
            self._trouble = error

    def _roll(self) -> None:
        """Files of whole lines, a new one every now and then."""
        waiting: list[bytes] = []
        size, since = 0, time.monotonic()
        for line in iter(sys.stdin.buffer.readline, b""):
            waiting.append(line)
            size += len(line)
            if size >= _ROLL_BYTES or time.monotonic() - since >= _ROLL_S:
                self._keep(b"".join(waiting))
                waiting, size, since = [], 0, time.monotonic()
            if self._closed.is_set():
                return
        self._keep(b"".join(waiting))

    def _keep(self, data: bytes) -> None:
        # Readers take no file that begins with a dot, so they see it only once it is whole.
        beside = self.folder / f".{self._number:08d}"
        beside.write_bytes(data)
        beside.rename(self.folder / f"{self._number:08d}.{self._ending}")
        self._number += 1

    def close(self) -> None:
        self._closed.set()
