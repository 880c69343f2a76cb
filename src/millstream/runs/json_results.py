"""Answers as JSON: the SPARQL 1.1 Query Results JSON Format, or an object a line.

The results format is written as it grows, a solution a line, and completed at the end; at_ms and weight are bindings
like any other, xsd:integer literals.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from millstream.runs.terms import XSD_INTEGER, json_term
from millstream.runs.writing import NUMBERS, Writer, is_number


class JsonWriter(Writer):
    """One document, valid once it has ended."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._rows = 0

    def begin(self, length: int) -> None:
        super().begin(length)
        self._rows = max(0, length - len(self.header()))

    def header(self) -> bytes:
        variables = json.dumps(list(self.columns), ensure_ascii=False)
        return f'{{"head": {{"vars": {variables}}},\n "results": {{"bindings": ['.encode()

    def write(self, table: pa.Table) -> None:
        columns = [_bindings(column) for column in table.columns]
        names = table.column_names
        pieces = []
        for row in zip(*columns, strict=True):
            pieces.append(",\n  " if self._rows else "\n  ")
            self._rows += 1
            found = {name: term for name, term in zip(names, row, strict=True) if term is not None}
            pieces.append(json.dumps(found, ensure_ascii=False))
        self.file.write("".join(pieces).encode("utf-8", "replace"))

    def end(self) -> None:
        self.file.write(b"\n]}}\n" if self._rows else b"]}}\n")
        super().end()


class NdjsonWriter(Writer):
    """`{"at_ms": 4000, "weight": 1, "bindings": {"x": {"type": "uri", "value": "http://e/a"}}}` a line."""

    def write(self, table: pa.Table) -> None:
        columns = [column.to_pylist() if is_number(column) else _bindings(column) for column in table.columns]
        names = table.column_names
        plain = [i for i, name in enumerate(names) if (name in NUMBERS and is_number(table.column(i))) or name == "query"]
        terms = [i for i in range(len(names)) if i not in plain]
        lines = []
        for row in zip(*columns, strict=True):
            found: dict[str, Any] = {names[i]: row[i] if isinstance(row[i], int) else row[i]["value"] for i in plain}
            found["bindings"] = {names[i]: row[i] for i in terms if row[i] is not None}
            lines.append(json.dumps(found, ensure_ascii=False) + "\n")
        self.file.write("".join(lines).encode("utf-8", "replace"))


def _bindings(column: pa.ChunkedArray[Any]) -> list[dict[str, Any] | None]:
    found = column.to_pylist()
    if is_number(column):
        return [{"type": "literal", "value": str(number), "datatype": XSD_INTEGER} for number in found]
    # Most terms come again and again.
    known: dict[str, dict[str, Any]] = {term: json_term(term) for term in set(found) if term is not None}
    return [None if term is None else known[term] for term in found]
