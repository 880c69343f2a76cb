"""The short way for single changes of a graph: a triple goes straight to the joins of the queries that ask for it.

What `millstream.engine.lane` is for elements of streams. A graph has lanes if all its readers answer after every change and
have no window that moves in steps; then lanes do what `QueryRun.graph_changed` does.
"""

from __future__ import annotations

from millstream.engine.lane import OBJECT, PAIR, SAME, Passes, Routes, filters_of, has_lane, shape_of, tells_ends
from millstream.engine.run import QueryRun
from millstream.kernels.scanner import Scanner
from millstream.operators.conjunction import Component
from millstream.operators.rows import FOREVER

_Route = tuple[int, Passes | None, Component, int, QueryRun]
"""What the pattern takes of a triple, its filters if it has some, the part of the query and its view, the query."""


class GraphLanes:
    """The ways of one graph's triples into all its readers."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        """For changes that come as text."""
        self._routes: Routes[_Route] = Routes()
        self._acting: list[QueryRun] = []
        self._ending: list[QueryRun] = []
        """The queries that emit what ends, and so must look whether something has."""

    def add(self, run: QueryRun, graph: str | None) -> bool:
        """Adds a reader, if it can have a lane."""
        if not has_lane(run) or run.operator.has_quads:
            return False
        for i in run.contents.inputs:
            if i.operator is not None or i.graph != graph:
                continue
            if i.union is not None or i.matcher.compares:
                return False
            for number, constants, same in i.matcher.asked:
                place = run.operator.view_of(number)
                if place is None:
                    return False
                passes = filters_of(i.matcher, number)
                self._routes.add(constants, (shape_of(constants, same=same), passes, *place, run))
        if run.acts:
            self._acting.append(run)
        if tells_ends(run):
            self._ending.append(run)
        return True

    def take(self, triple: tuple[int, int, int], op: int, at_tick: int) -> None:
        """A triple that really came (op 1) or went (-1)."""
        s, p, o = triple
        for run in self._acting:
            run.let_act(at_tick)
        fed: list[QueryRun] = []
        changed: list[QueryRun] = []
        for shape, passes, component, view, run in self._routes.of(s, p, o):
            if (shape == SAME and s != o) or (passes is not None and not passes(s, o)):
                continue
            if run not in fed:
                fed.append(run)
                run.contents.change += 1
            first, second = (s, o) if shape == PAIR else (o, 0) if shape == OBJECT else (s, 0)
            rows = component.feed_row(view, first, second, at_tick, FOREVER, op, run.contents.change)
            if rows and run not in changed:
                changed.append(run)
        for run in changed:
            run.report_rows(at_tick)
        for run in self._ending:
            run.report_due(at_tick)
