"""What was set aside: to a file of JSON lines, and the first few to be shown at the end."""

from __future__ import annotations

import json

from millstream.output.files import OutputFile, StandardOutput, open_output
from millstream.rdf import Rejected

SHOWN = 3


class DeadLetters:
    """Writes an object a line: source, line, column, reason, text; without a path only the first few are kept."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.first: list[Rejected] = []
        self._file: OutputFile | StandardOutput | None = None

    def open(self, position: bytes | None = None) -> None:
        """Begins anew, or goes on behind a position as a sink does."""
        if self.path is not None:
            self._file = open_output(self.path, position)

    def add(self, rejected: Rejected) -> None:
        if len(self.first) < SHOWN:
            self.first.append(rejected)
        if self._file is not None:
            found = {name: getattr(rejected, name) for name in ("source", "line", "column", "reason", "text")}
            self._file.write(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def commit(self) -> bytes:
        return b"0" if self._file is None else b"%d" % self._file.sync()

    def close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with file:
                file.flush()
