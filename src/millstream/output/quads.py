"""Answers of CONSTRUCT as N-Quads: what one change brings is a named graph with its time, an element of a stream again."""

from __future__ import annotations

import pyarrow as pa

from millstream.errors import OptionError
from millstream.output.sink import FormatSink

_GENERATED = "<http://www.w3.org/ns/prov#generatedAtTime>"
_INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"


class NQuadsSink(FormatSink):
    """Takes tables with the columns subject, predicate and object; triples that disappear (weight -1) are left out."""

    def __init__(self, path: str, columns: tuple[str, ...]) -> None:
        super().__init__(path, columns)
        if columns[self.head :] != ("subject", "predicate", "object"):
            raise OptionError("nquads is for answers of CONSTRUCT; use csv or json for those of others")

    def begin(self, length: int) -> None:
        # Graphs of an earlier run keep their names to themselves.
        self._graph = length
        self._last_ms: int | None = None

    def rows(self, answers: pa.Table) -> str:
        lines = []
        for at_ms, weight, s, p, o in zip(*(column.to_pylist() for column in answers.columns[-5:]), strict=True):
            if weight < 0:
                continue
            if at_ms != self._last_ms:
                self._last_ms = at_ms
                self._graph += 1
                lines.append(f'<urn:millstream:change:{self._graph}> {_GENERATED} "{at_ms}"^^{_INTEGER} .\n')
            lines.append(f"{s} {p} {o} <urn:millstream:change:{self._graph}> .\n")
        return "".join(lines)
