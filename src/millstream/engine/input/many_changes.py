"""Changes of graphs as callers pass many of them: read together, made as if each came by itself.

The texts of all items go to the scanner as one; lines tell which item a triple is of. What cannot be joined is read by
itself, after those before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from millstream.engine.options import graph_iri
from millstream.errors import DataError
from millstream.ingest.columns import Columns
from millstream.kernels.engine.change_items import ChangeItems
from millstream.kernels.matching.repeats import repeats
from millstream.kernels.scanning.scanner import Scanner

if TYPE_CHECKING:
    from millstream.engine.engine import Engine

_FEW = 6
"""Fewer are made one by one: columns cost more than they spare."""


class ManyChanges:
    """Items that wait to be read together."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._scanner: Scanner | None = None
        self._places: dict[str | None, int] = {}
        """Of graphs by name."""
        self._items = ChangeItems(engine.entrance, self._place_of)

    def take(self, changes: Iterable[tuple[str, object, int | None, str | None]]) -> None:
        """All items, one after the other; if one raises, those before it stand."""
        items = iter(changes)
        try:
            while (odd := self._items.gather(items)) is not None:
                self._make()
                if odd:
                    self._make_one(*odd)
        finally:
            self._make()

    def _place_of(self, graph: str | None) -> int:
        return self._places.setdefault(graph_iri(graph), len(self._places))

    def _make_one(self, text: str | bytes, scope: str, time_ms: int | None, place: int, sign: int) -> None:
        self._engine.entrance.change_text(text, scope, time_ms, list(self._places)[place], sign > 0)

    def _make(self) -> None:
        """Makes the changes that wait; raises for the first that cannot be read, after those before it."""
        count, timed, fault = self._items.size, self._items.timed, None
        if not count:
            return
        text, ends, stops, signs, times, places = self._items.taken()
        if count < _FEW:
            rows = zip(np.split(text, stops[:-1]), times.tolist(), places.tolist(), signs.tolist(), strict=True)
            for one, time_ms, place, sign in rows:
                self._make_one(one.tobytes().decode("utf-8", "surrogatepass"), "", time_ms if timed else None, place, sign)
            return
        if self._scanner is None:
            self._scanner = Scanner(self._engine._core.dictionary)
        first_line = self._scanner.lines
        found = self._scanner.feed(text.data, True)
        element = np.searchsorted(ends, found.line - first_line, "left")
        triples = found.triples
        if found.errors:
            line, column, reason, shown = found.errors[0]
            count = int(np.searchsorted(ends, line - first_line, "left"))
            line -= first_line + (int(ends[count - 1]) if count else 0)
            fault = DataError(reason, source="triples", line=line, column=column, text=shown)
            kept = int(np.searchsorted(element, count))
            triples, element = triples[:kept], element[:kept]
        if len(triples) > count or (np.diff(element) == 0).any():
            once = ~repeats(element, triples)
            triples, element = triples[once], element[once]
        columns = Columns(triples, element, count, times[:count] if timed else None, sign=signs[:count])
        if count:
            place = places[:count] if len(self._places) > 1 else None
            self._engine.arrivals.take_changes(columns, list(self._places), place)
        if fault is not None:
            raise fault
