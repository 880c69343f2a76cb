"""What was set aside: to a file of JSON lines, and the first few to be shown at the end."""

from __future__ import annotations

import json

from millstream.rdf import Rejected
from millstream.runs.files import OutputFile, StandardOutput

SHOWN = 3


class DeadLetters:
    """Writes an object a line: source, line, column, reason, text; without a path only the first few are kept."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.first: list[Rejected] = []
        self._file: OutputFile | StandardOutput | None = None

    def open(self, lengths: dict[str, int] | None = None) -> None:
        if self.path == "-":
            self._file = StandardOutput()
        elif self.path is not None:
            self._file = OutputFile(self.path, None if lengths is None else lengths.get(self._key, 0))

    @property
    def _key(self) -> str:
        return f"dead letters: {self.path}"

    def add(self, rejected: Rejected) -> None:
        if len(self.first) < SHOWN:
            self.first.append(rejected)
        if self._file is not None:
            found = {
                "source": rejected.source,
                "line": rejected.line,
                "column": rejected.column,
                "reason": rejected.reason,
                "text": rejected.text,
            }
            self._file.write(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def lengths(self) -> dict[str, int]:
        return {self._key: self._file.sync()} if isinstance(self._file, OutputFile) else {}

    def close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            try:
                file.flush()
            finally:
                file.close()
