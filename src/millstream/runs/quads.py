"""Answers of CONSTRUCT as N-Quads: what one change brings is a named graph with its time, an element of a stream again."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from millstream.runs.writing import Writer

_GENERATED = "<http://www.w3.org/ns/prov#generatedAtTime>"
_INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"


class NQuadsWriter(Writer):
    """Takes tables with the columns subject, predicate and object; triples that disappear (weight -1) are left out."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._graph = 0
        self._last_ms: int | None = None

    def begin(self, length: int) -> None:
        # Graphs of an earlier run keep their names to themselves.
        self._graph = length

    def write(self, table: pa.Table) -> None:
        names = ("at_ms", "weight", "subject", "predicate", "object")
        lines = []
        for at_ms, weight, s, p, o in zip(*(table.column(name).to_pylist() for name in names), strict=True):
            if weight < 0:
                continue
            if at_ms != self._last_ms:
                self._last_ms = at_ms
                self._graph += 1
                lines.append(f'<urn:millstream:change:{self._graph}> {_GENERATED} "{at_ms}"^^{_INTEGER} .\n')
            lines.append(f"{s} {p} {o} <urn:millstream:change:{self._graph}> .\n")
        self.file.write("".join(lines).encode("utf-8", "replace"))
