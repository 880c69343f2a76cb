"""Answers for people: aligned columns, IRIs shortened by the query's prefixes, printed as they come.

Columns are as wide as what was seen so far; on a terminal, lines are cut at its edge and weights have colours.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyoxigraph import Literal
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from millstream.kernels.emission.terms import term_of
from millstream.language.printer import Printer
from millstream.output.files import STANDARD
from millstream.output.sink import FormatSink, is_number

_WIDEST = 60
# What a value of these is can be seen.
_PLAIN = frozenset(
    f"http://www.w3.org/2001/XMLSchema#{name}" for name in ("integer", "decimal", "double", "float", "boolean", "dateTime")
)
# From here on (March 1973) a number of milliseconds is taken for a date, below for a time since the start.
_DATES_FROM_MS = 100_000_000_000
_LAST_DATE_MS = 253_402_300_799_999


class TableSink(FormatSink):
    """A line an answer."""

    def __init__(self, path: str, columns: tuple[str, ...], prefixes: Mapping[str, str]) -> None:
        super().__init__(path, columns)
        self._printer = Printer(prefixes)

    def begin(self, length: int) -> None:
        self._names = [*self.columns[: self.head - 2], "at", "", *self.columns[self.head :]]
        self._widths = [cell_len(name) for name in self._names]
        self._begun = length > 0
        on_terminal = self.path == STANDARD and sys.stdout.isatty()
        self._console = Console(highlight=False, emoji=False) if on_terminal else None

    def write(self, answers: pa.Table) -> None:
        if not answers.num_rows:
            return
        columns = [self._cells(place, column) for place, column in enumerate(answers.columns)]
        for place, cells in enumerate(columns):
            widest = _WIDEST if place + 1 < len(columns) else 0
            self._widths[place] = min(max(self._widths[place], *map(cell_len, cells)), max(widest, self._widths[place]))
        if not self._begun:
            self._begun = True
            self._print(self._line(tuple(self._names)), "bold")
        for row in zip(*columns, strict=True):
            self._print(self._line(row), "green" if row[self.head - 1].startswith("+") else "red")

    def _cells(self, place: int, column: pa.ChunkedArray[Any]) -> list[str]:
        found: list[Any] = column.to_pylist()
        if is_number(column):
            return [f"{n:+d}" for n in found] if place == self.head - 1 else [shown_time(n) for n in found]
        if place < self.head:
            return [term_of(term).value for term in found]
        known = {term: self._term(term) for term in set(found)}
        return [known[term] for term in found]

    def _term(self, term: str | None) -> str:
        if term is None:
            return ""
        if term.startswith("<<"):
            return term
        found = term_of(term)
        if isinstance(found, Literal) and found.datatype.value in _PLAIN:
            return found.value
        return self._printer.term(found).replace("\n", "\\n")

    def _line(self, cells: tuple[str, ...]) -> str:
        padded = [set_cell_size(c, w) if cell_len(c) < w else c for c, w in zip(cells[:-1], self._widths[:-1], strict=True)]
        return "  ".join([*padded, cells[-1]]).rstrip()

    def _print(self, line: str, style: str) -> None:
        if self._console is None:
            self.file.write((line + "\n").encode("utf-8", "replace"))
            return
        text = Text(line, style)
        text.truncate(self._console.width, overflow="ellipsis")
        self._console.print(text, soft_wrap=True)


def shown_time(at_ms: int) -> str:
    """A time for people: a date where it can be one, else seconds.

    >>> shown_time(1357000200000), shown_time(4000)
    ('2013-01-01 00:30:00.000', '4 s')
    """
    if not _DATES_FROM_MS <= at_ms <= _LAST_DATE_MS:
        return f"{at_ms // 1000} s" if at_ms % 1000 == 0 else f"{at_ms / 1000:.3f} s"
    seconds, rest = divmod(at_ms, 1000)
    found = datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")
    return f"{found}.{rest:03d}"
