"""The sink protocol, and what the sinks of all result formats have in common: a header, rows as they come, an end.

Answers are written exactly once across restarts if the position that `commit` gave is kept with the snapshot of the same
moment: who goes on from both opens the sink there, and what was written behind it is gone.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from millstream.output.files import OutputFile, StandardOutput, open_output

NUMBERS = ("at_ms", "weight")


@runtime_checkable
class Sink(Protocol):
    """Where answers go: opened once, then written to and committed any number of times, then closed."""

    def open(self, position: bytes | None) -> None:
        """Begins anew, or goes on behind a position that `commit` gave: what was written after that is undone."""

    def write(self, answers: pa.Table) -> None:
        """Answers in order of time: at_ms, weight, one column of N-Triples strings a variable."""

    def commit(self) -> bytes:
        """Makes everything written so far last, and gives the position behind it."""
        ...

    def close(self) -> None:
        """Completes what has to be complete; nothing is written after that."""


@runtime_checkable
class TransactionalSink(Sink, Protocol):
    """A sink that shows nothing before the position which covers it is kept: then `settle` is called."""

    def settle(self) -> None:
        """The position that `commit` gave last is kept."""


class FormatSink:
    """A sink of one format; its positions are lengths of the file.

    Invariant: once it is closed, the file is a complete document, however many answers there were.
    """

    file: OutputFile | StandardOutput

    def __init__(self, path: str, columns: tuple[str, ...]) -> None:
        """`columns` are at_ms and weight, maybe after the name of the query, then variables."""
        self.path = path
        self.columns = columns
        self.head = columns.index("weight") + 1
        self._is_open = False

    def open(self, position: bytes | None) -> None:
        self.file = open_output(self.path, position)
        self._is_open = True
        self.begin(self.file.tell())

    def begin(self, length: int) -> None:
        """The header, unless `length` bytes of an earlier run are there already."""
        if not length:
            self.file.write(self.header().encode())

    def write(self, answers: pa.Table) -> None:
        if answers.num_rows:
            self.file.write(self.rows(answers).encode("utf-8", "replace"))

    def commit(self) -> bytes:
        return b"%d" % self.file.sync()

    def close(self) -> None:
        if not self._is_open:
            return
        self._is_open = False
        with self.file:
            self.file.write(self.end().encode())
            self.file.flush()

    def header(self) -> str:
        return ""

    def rows(self, answers: pa.Table) -> str:
        """Answers as text; a format that is none has a `write` of its own."""
        raise NotImplementedError

    def end(self) -> str:
        return ""


def is_number(column: pa.ChunkedArray[Any]) -> bool:
    """Whether a column holds plain numbers, not terms."""
    return bool(pa.types.is_integer(column.type))
