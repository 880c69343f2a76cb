"""Answers as JSON: the SPARQL 1.1 Query Results JSON Format, or an object a line.

The results format is written as it grows, a solution a line, and completed at the end; at_ms and weight are bindings
like any other, xsd:integer literals.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from millstream.output.sink import FormatSink, is_number
from millstream.output.terms import XSD_INTEGER, json_term


class JsonSink(FormatSink):
    """One document, valid once it has ended."""

    def begin(self, length: int) -> None:
        super().begin(length)
        self._has_rows = length > len(self.header().encode())

    def header(self) -> str:
        variables = json.dumps(list(self.columns), ensure_ascii=False)
        return f'{{"head": {{"vars": {variables}}},\n "results": {{"bindings": ['

    def rows(self, answers: pa.Table) -> str:
        columns, names = map(_bindings, answers.columns), answers.column_names
        found = (
            json.dumps({n: term for n, term in zip(names, row, strict=True) if term is not None}, ensure_ascii=False)
            for row in zip(*columns, strict=True)
        )
        before, self._has_rows = ",\n  " if self._has_rows else "\n  ", True
        return before + ",\n  ".join(found)

    def end(self) -> str:
        return "\n]}}\n" if self._has_rows else "]}}\n"


class NdjsonSink(FormatSink):
    """`{"at_ms": 4000, "weight": 1, "bindings": {"x": {"type": "uri", "value": "http://e/a"}}}` a line."""

    def rows(self, answers: pa.Table) -> str:
        columns = [column.to_pylist() if is_number(column) else _bindings(column) for column in answers.columns]
        head, names = self.head, answers.column_names
        lines = []
        for row in zip(*columns, strict=True):
            found = {n: cell if isinstance(cell, int) else cell["value"] for n, cell in zip(names[:head], row, strict=False)}
            found["bindings"] = {n: cell for n, cell in zip(names[head:], row[head:], strict=True) if cell is not None}
            lines.append(json.dumps(found, ensure_ascii=False) + "\n")
        return "".join(lines)


def _bindings(column: pa.ChunkedArray[Any]) -> list[dict[str, Any] | None]:
    found = column.to_pylist()
    if is_number(column):
        return [{"type": "literal", "value": str(number), "datatype": XSD_INTEGER} for number in found]
    # Most terms come again and again.
    known: dict[str, dict[str, Any]] = {term: json_term(term) for term in set(found) if term is not None}
    return [None if term is None else known[term] for term in found]
