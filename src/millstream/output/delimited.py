"""Answers as CSV and TSV, after the SPARQL 1.1 Query Results CSV and TSV Formats."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from millstream.kernels.emission.terms import lexical_of
from millstream.output.sink import FormatSink, is_number

_QUOTED = re.compile(r'[",\r\n]')


class CsvSink(FormatSink):
    """Values alone, lines end as RFC 4180 has it; what is unbound is empty."""

    separator, line_end = ",", "\r\n"

    def header(self) -> str:
        return self.line(map(self.name, self.columns))

    def rows(self, answers: pa.Table) -> str:
        return "".join(map(self.line, zip(*map(self._cells, answers.columns), strict=True)))

    def _cells(self, column: pa.ChunkedArray[Any]) -> map[str]:
        return map(str if is_number(column) else self.cell, column.to_pylist())

    def line(self, cells: Any) -> str:
        """Some cells as a line."""
        return self.separator.join(cells) + self.line_end

    def name(self, column: str) -> str:
        return _quoted(column)

    def cell(self, term: str | None) -> str:
        return "" if term is None else _quoted(lexical_of(term))


class TsvSink(CsvSink):
    """Terms in Turtle syntax."""

    separator, line_end = "\t", "\n"

    def name(self, column: str) -> str:
        return f"?{column}"

    def cell(self, term: str | None) -> str:
        # A tab inside a literal would end the cell.
        return "" if term is None else term.replace("\t", "\\t")


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
