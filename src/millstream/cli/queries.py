"""Query files: their text, and their errors as messages that name the file."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from millstream.cli.terminal import fail
from millstream.errors import QueryError


@dataclass(frozen=True, slots=True)
class QueryFile:
    """The text of a query and what to call it in messages."""

    name: str
    text: str

    def fail(self, error: QueryError) -> NoReturn:
        """Ends the command with what is wrong, where, and the line it stands in."""
        fail(f"{self.name}: {error}")


def read_query(path: str) -> QueryFile:
    """The query in a file; `-` is standard input."""
    name = "<standard input>" if path == "-" else path
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        fail(f"{name}: cannot be read: {reason[:1].lower()}{reason[1:]}.")
    try:
        return QueryFile(name, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        fail(f"{name}: not UTF-8 text: the byte at offset {error.start} cannot be read.")
