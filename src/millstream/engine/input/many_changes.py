"""Changes of graphs as callers pass many of them: read together, made as if each came by itself.

The texts of all items go to the scanner as one; lines tell which item a triple is of. What cannot be joined (labels of blank
nodes, which are nodes of their item, and bytes) is read by itself, after those before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from millstream.engine.options import checked_time, graph_iri
from millstream.errors import DataError, OptionError
from millstream.ingest.columns import Columns
from millstream.kernels.matching.repeats import repeats
from millstream.kernels.scanning.scanner import Scanner

if TYPE_CHECKING:
    from millstream.engine.engine import Engine

_TOGETHER = 1 << 14
_FEW = 6
"""Fewer are made one by one: columns cost more than they spare."""


class ManyChanges:
    """Items that wait to be read together: all with a time, or all without."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._scanner: Scanner | None = None
        self._places_of: dict[str | None, int] = {}
        self._names: list[str | None] = []
        self._clear()

    def _clear(self) -> None:
        self._texts: list[str] = []
        self._lines: list[int] = []
        self._signs: list[int] = []
        self._times: list[int] = []
        self._places: list[int] = []

    def take(self, changes: Iterable[tuple[str, object, int | None, str | None]]) -> None:
        """All items, one after the other; if one raises, those before it stand."""
        text_of = self._engine._encoder.text_of
        try:
            for op, triples, at_ms, graph in changes:
                sign = 1 if op == "insert" else -1 if op == "delete" else 0
                if not sign:
                    raise OptionError(f'a change is an "insert" or a "delete", got {op!r}')
                time_ms = None if at_ms is None else checked_time(at_ms)
                place = self._places_of.get(graph) if graph is None or type(graph) is str else None
                if place is None:
                    place = self._place_of(graph)
                text, scope = text_of(triples)
                if scope or not isinstance(text, str) or "\r" in text:
                    self.make()
                    self._engine.entrance.change_text(text, scope, time_ms, self._names[place], sign > 0)
                    continue
                if self._signs and (time_ms is None) == bool(self._times):
                    self.make()
                if time_ms is not None:
                    self._times.append(time_ms)
                self._texts.append(text)
                self._lines.append(text.count("\n") + 1)
                self._signs.append(sign)
                self._places.append(place)
                if len(self._signs) == _TOGETHER:
                    self.make()
        finally:
            self.make()

    def _place_of(self, graph: str | None) -> int:
        name = graph_iri(graph)
        self._names.append(name)
        self._places_of[graph] = len(self._names) - 1
        return self._places_of[graph]

    def make(self) -> None:
        """Makes the changes that wait; raises for the first that cannot be read, after those before it."""
        if len(self._signs) < _FEW:
            self._make_singly()
            return
        if self._scanner is None:
            self._scanner = Scanner(self._engine._core.dictionary)
        first_line = self._scanner.lines
        found = self._scanner.feed("\n".join(self._texts).encode("utf-8", "surrogatepass"), True)
        ends = np.cumsum(self._lines)
        element = np.searchsorted(ends, found.line - first_line, "left")
        triples, count, fault = found.triples, len(ends), None
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
        at_ms = np.array(self._times[:count], np.int64) if self._times else None
        columns = Columns(triples, element, count, at_ms, sign=np.array(self._signs[:count], np.int64))
        places = np.array(self._places[:count], np.int64)
        self._clear()
        if count:
            self._engine.arrivals.take_changes(columns, self._names, places)
        if fault is not None:
            raise fault

    def _make_singly(self) -> None:
        times: list[int] | list[None] = self._times or [None] * len(self._signs)
        waiting = list(zip(self._texts, times, self._places, self._signs, strict=True))
        self._clear()
        for text, time_ms, place, sign in waiting:
            self._engine.entrance.change_text(text, "", time_ms, self._names[place], sign > 0)
