"""Answers as CSV and TSV, after the SPARQL 1.1 Query Results CSV and TSV Formats."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from millstream.runs.terms import plain_text
from millstream.runs.writing import Writer, is_number

_QUOTED = re.compile(r'[",\r\n]')


class CsvWriter(Writer):
    """Values alone, lines end as RFC 4180 has it; what is unbound is empty."""

    def header(self) -> bytes:
        return (",".join(map(_cell, self.columns)) + "\r\n").encode()

    def write(self, table: pa.Table) -> None:
        columns = [_values(column) for column in table.columns]
        lines = [",".join(row) for row in zip(*columns, strict=True)]
        if lines:
            self.file.write(("\r\n".join(lines) + "\r\n").encode("utf-8", "replace"))


def _values(column: pa.ChunkedArray[Any]) -> list[str]:
    found = column.to_pylist()
    if is_number(column):
        return list(map(str, found))
    return [_cell(plain_text(term)) for term in found]


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


class TsvWriter(Writer):
    """Terms in Turtle syntax."""

    def header(self) -> bytes:
        return ("\t".join(f"?{name}" for name in self.columns) + "\n").encode()

    def write(self, table: pa.Table) -> None:
        columns = [_terms(column) for column in table.columns]
        lines = ["\t".join(row) for row in zip(*columns, strict=True)]
        if lines:
            self.file.write(("\n".join(lines) + "\n").encode("utf-8", "replace"))


def _terms(column: pa.ChunkedArray[Any]) -> list[str]:
    found = column.to_pylist()
    if is_number(column):
        return list(map(str, found))
    # A tab inside a literal would end the cell.
    return ["" if term is None else term.replace("\t", "\\t") for term in found]
