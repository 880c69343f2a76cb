"""Named graphs of a log as elements, quad by quad: what `millstream.ingest.readers.graph_log` must give.

The quads of a graph follow each other; what the default graph says about a graph's time may come before or after them,
or stand inside the graph, where it is part of the element. A run of quads ends where those of another graph begin, or
where its time is stated behind it, so that a graph's name can serve again for the next element.

Elements keep the order of their graphs: one whose time is still to come holds back those behind it, up to a number of
statements, after which it is set aside. That bounds memory and delay.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from pyoxigraph import DefaultGraph, Quad

from millstream.errors import DataError
from millstream.ingest.readers.graph_log import MAX_WAITING
from millstream.rdf.element import Rejections
from millstream.rdf.grouping import OUTSIDE_GRAPHS
from millstream.rdf.statements import Event, Mark
from millstream.rdf.times import time_ms
from millstream.rdf.timing import GENERATED_AT_TIME, Group


@dataclass(slots=True)
class _Run:
    graph: object
    line: int | None
    at_ms: int | None = None
    quads: list[Quad] = field(default_factory=list)
    fault: str | None = None


def by_graph(
    events: Iterator[Event], rejections: Rejections, *, timed: bool, max_waiting: int = MAX_WAITING
) -> Iterator[Group]:
    """Each run of a named graph's quads a group; with `timed` only once its time is known."""
    log = _GraphLog(rejections, timed, max_waiting)
    for event in events:
        if isinstance(event, Mark):
            continue
        for quad in event.quads:
            if isinstance(quad.graph_name, DefaultGraph):
                log.outside(quad, event.line)
            else:
                log.inside(quad, event.line)
        if log.ready:
            yield from log.emit()
    log.finish()
    yield from log.emit()


class _GraphLog:
    def __init__(self, rejections: Rejections, timed: bool, max_waiting: int) -> None:
        self._rejections = rejections
        self._timed = timed
        self._max_waiting = max_waiting
        self._current: _Run | None = None
        # Runs that are complete, in order; those without a time also by graph.
        self._complete: deque[_Run] = deque()
        self._untimed: dict[object, deque[_Run]] = {}
        self._waiting = 0
        # Times stated before their graph, and the last one used, which may be repeated.
        self._times: dict[object, tuple[int, Quad, int | None]] = {}
        self._used: tuple[object, int] | None = None

    @property
    def ready(self) -> bool:
        return bool(self._complete) and (
            not self._timed or self._complete[0].at_ms is not None or self._waiting > self._max_waiting
        )

    def inside(self, quad: Quad, line: int | None) -> None:
        graph = quad.graph_name
        run = self._current
        if run is None or run.graph != graph:
            self._close()
            stated = self._times.pop(graph, None)
            run = self._current = _Run(graph, line, stated[0] if stated else None)
        run.quads.append(quad)
        if self._timed and run.at_ms is None and quad.predicate == GENERATED_AT_TIME and quad.subject == graph:
            try:
                run.at_ms = time_ms(quad.object)
            except DataError as error:
                run.fault = error.reason

    def outside(self, quad: Quad, line: int | None) -> None:
        if quad.predicate != GENERATED_AT_TIME:
            self._rejections.reject(OUTSIDE_GRAPHS, line=line, column=1, text=f"{quad} .")
            return
        if not self._timed:
            return
        try:
            at_ms = time_ms(quad.object)
        except DataError as error:
            self._rejections.reject(error.reason, line=line, column=1, text=f"{quad} .")
            return
        graph = quad.subject
        run = self._current
        if run is not None and run.graph == graph:
            if run.at_ms == at_ms:
                return
            if run.at_ms is None:
                run.at_ms = at_ms
                self._close()
                return
            self._close()
        elif waiting := self._untimed.pop(graph, None):
            waiting.popleft().at_ms = at_ms
            if waiting:
                self._untimed[graph] = waiting
            self._used = (graph, at_ms)
            return
        stated = self._times.get(graph)
        if stated is not None and stated[0] != at_ms:
            reason = f"the graph's time was already stated as {stated[1].object}"
            self._rejections.reject(reason, line=line, column=1, text=f"{quad} .")
        elif stated is None and self._used != (graph, at_ms):
            self._times[graph] = (at_ms, quad, line)

    def emit(self) -> Iterator[Group]:
        while self.ready:
            run = self._complete.popleft()
            self._waiting -= len(run.quads)
            if self._timed and run.at_ms is None:
                self._untimed[run.graph].popleft()
                self._set_aside(run, f"no time within the {self._max_waiting} statements that wait for it")
            else:
                yield Group(run.quads, run.line, run.at_ms)

    def finish(self) -> None:
        """The log has ended: what has no time now will have none."""
        self._close()
        if self._timed:
            for run in self._complete:
                if run.at_ms is None:
                    self._set_aside(run, "no time: nothing says its prov:generatedAtTime")
            self._complete = deque(run for run in self._complete if run.at_ms is not None)
        for _, quad, line in self._times.values():
            self._rejections.reject("the time of a graph that has no statements", line=line, text=f"{quad} .")

    def _close(self) -> None:
        run, self._current = self._current, None
        if run is None:
            return
        self._complete.append(run)
        self._waiting += len(run.quads)
        if not self._timed:
            return
        if run.at_ms is None:
            self._untimed.setdefault(run.graph, deque()).append(run)
        else:
            self._used = (run.graph, run.at_ms)

    def _set_aside(self, run: _Run, reason: str) -> None:
        why = f"its time cannot be read: {run.fault}" if run.fault else reason
        self._rejections.reject(f"graph {run.graph} has {why}", line=run.line, text=f"{run.quads[0]} .")
