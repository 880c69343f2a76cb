"""What the writers of all formats are: a header, rows as they come, an end.

A writer takes tables whose first columns are integers (at_ms, weight) and whose other columns are N-Triples strings.
Invariant: after `end`, what was written is a complete document of its format, however many rows there were.
"""

from __future__ import annotations

from io import BufferedIOBase
from typing import Any

import pyarrow as pa

NUMBERS = ("at_ms", "weight")


class Writer:
    """Writes to a file that somebody else opens and closes."""

    def __init__(self, file: BufferedIOBase, columns: tuple[str, ...]) -> None:
        self.file = file
        self.columns = columns

    def begin(self, length: int) -> None:
        """The header, unless `length` bytes of an earlier run are there already."""
        if not length:
            self.file.write(self.header())

    def header(self) -> bytes:
        return b""

    def write(self, table: pa.Table) -> None:
        raise NotImplementedError

    def flush(self) -> None:
        self.file.flush()

    def end(self) -> None:
        self.flush()


def is_number(column: pa.ChunkedArray[Any]) -> bool:
    """Whether a column holds plain numbers, not terms."""
    return bool(pa.types.is_integer(column.type))
