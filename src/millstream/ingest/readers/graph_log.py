"""Named graphs of a log as elements, with `prov:generatedAtTime` as their times, from the scanner's columns.

The quads of a graph follow each other; what the default graph says about a graph's time may come before or after them,
or stand inside the graph, where it is part of the element. A run of quads ends where those of another graph begin, or
where its time is stated behind it, so that a graph's name can serve again for the next element.

Elements keep the order of their graphs: one whose time is still to come holds back those behind it, up to a number of
statements, after which it is set aside. That bounds memory and delay. What waits from one chunk to the next is held in the
dictionary, since ids of terms that nobody holds are given to others.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from millstream.errors import DataError
from millstream.ingest.columns import Columns, Ids
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.emission.terms import term_of
from millstream.kernels.matching.repeats import repeats
from millstream.kernels.scanning.scanner import Scanned
from millstream.rdf import Rejections
from millstream.rdf.grouping import OUTSIDE_GRAPHS
from millstream.rdf.times import date_time_ms, time_ms
from millstream.rdf.timing import GENERATED_AT_TIME

# The columns of rows.
SUBJECT, PREDICATE, OBJECT, GRAPH, LINE = range(5)
_DATE_TIME = '"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
_PAST = -(1 << 62)
MAX_WAITING = 1_000_000


@dataclass(slots=True)
class _Stated:
    """A time that was stated before its graph, and the row that says so."""

    at_ms: int
    row: Ids
    held: bool = False


@dataclass(slots=True)
class _Run:
    graph: int
    line: int
    at_ms: int | None = None
    pieces: list[Ids] = field(default_factory=list)
    size: int = 0
    held: int = 0
    """How many of the pieces are held in the dictionary."""
    fault: str | None = None


class GraphLog:
    """Takes what a scanner found, chunk by chunk, and gives the elements that are complete."""

    def __init__(self, dictionary: Dictionary, rejections: Rejections, max_waiting: int = MAX_WAITING) -> None:
        self._dictionary = dictionary
        self._rejections = rejections
        self._max_waiting = max_waiting
        self._generated = np.array([dictionary.encode_one(str(GENERATED_AT_TIME))], np.int64)
        dictionary.hold(self._generated)
        self._current: _Run | None = None
        # Runs that are complete, in order; those without a time also by graph.
        self._complete: deque[_Run] = deque()
        self._untimed: dict[int, deque[_Run]] = {}
        self._waiting = 0
        # Times stated before their graph, and the last one used, which may be repeated.
        self._times: dict[int, _Stated] = {}
        self._stated: list[_Stated] = []
        self._used: tuple[int, int] | None = None
        self._used_held = np.empty(0, np.int64)
        self._ready: list[_Run] = []

    def take(self, found: Scanned, fault: DataError | None = None) -> Columns:
        """The elements that a chunk completes; the ids are good until the dictionary is settled."""
        assert found.g is not None
        try:
            self._go_through(np.column_stack([found.triples, found.g, found.line]))
        except DataError as error:
            # Nothing is set aside: what came before the fault is there, and nothing comes after it.
            fault = error
        given = self._given(fault)
        for run in (*self._complete, *([] if self._current is None else [self._current])):
            for piece in run.pieces[run.held :]:
                self._dictionary.hold(piece[:, :LINE].ravel())
            run.held = len(run.pieces)
        for stated in self._stated:
            if self._times.get(int(stated.row[SUBJECT])) is stated:
                self._dictionary.hold(stated.row[:LINE])
                stated.held = True
        self._stated = []
        self._hold_used()
        return given

    def _go_through(self, rows: Ids) -> None:
        graph = rows[:, GRAPH]
        # Each statement outside of graphs by itself.
        begins = np.flatnonzero((np.diff(graph, prepend=-2) != 0) | (graph < 0))
        ends = np.append(begins, len(rows))[1:]
        stated = rows[:, PREDICATE] == self._generated[0]
        inside = np.flatnonzero(stated & (graph >= 0) & (rows[:, SUBJECT] == graph))
        outside = np.flatnonzero(stated & (graph < 0))
        times = dict(zip(outside.tolist(), self._decoded(rows[outside, OBJECT]), strict=True))
        within = np.searchsorted(inside, begins).tolist()
        for number, (low, high, name) in enumerate(zip(begins.tolist(), ends.tolist(), graph[begins].tolist(), strict=True)):
            if name < 0:
                self._outside(rows[low], times.get(low))
            else:
                run = self._inside(name, rows, low, high)
                for place in range(within[number], len(inside)):
                    if inside[place] >= high or run.at_ms is not None:
                        break
                    self._state_inside(run, rows[inside[place], OBJECT])
            self._emit()

    def _inside(self, graph: int, rows: Ids, low: int, high: int) -> _Run:
        run = self._current
        if run is None or run.graph != graph:
            self._close()
            stated = self._times.pop(graph, None)
            run = self._current = _Run(graph, int(rows[low, LINE]))
            if stated is not None:
                run.at_ms = stated.at_ms
                self._forget(stated)
        run.pieces.append(rows[low:high])
        run.size += high - low
        return run

    def _state_inside(self, run: _Run, value: int) -> None:
        try:
            run.at_ms = _time(self._decoded(np.array([value], np.int64))[0])
        except DataError as error:
            run.fault = error.reason

    def _outside(self, row: Ids, time: str | None) -> None:
        line = int(row[LINE])
        if time is None:
            self._rejections.reject(OUTSIDE_GRAPHS, line=line, column=1, text=self._text(row))
            return
        try:
            at_ms = _time(time)
        except DataError as error:
            self._rejections.reject(error.reason, line=line, column=1, text=self._text(row))
            return
        graph = int(row[SUBJECT])
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
        if stated is not None and stated.at_ms != at_ms:
            before = self._decoded(stated.row[OBJECT : OBJECT + 1])[0]
            reason = f"the graph's time was already stated as {before}"
            self._rejections.reject(reason, line=line, column=1, text=self._text(row))
        elif stated is None and self._used != (graph, at_ms):
            self._times[graph] = _Stated(at_ms, row)
            self._stated.append(self._times[graph])

    def _emit(self) -> None:
        while self._complete and (self._complete[0].at_ms is not None or self._waiting > self._max_waiting):
            run = self._complete.popleft()
            self._waiting -= run.size
            if run.at_ms is None:
                self._untimed[run.graph].popleft()
                self._set_aside(run, f"no time within the {self._max_waiting} statements that wait for it")
            else:
                self._ready.append(run)

    def finish(self) -> Columns:
        """The last elements: the log has ended, and what has no time now will have none."""
        fault: DataError | None = None
        self._close()
        try:
            self._give_up()
        except DataError as error:
            fault = error
        self._complete.clear()
        self._times.clear()
        self._used = None
        self._hold_used()
        self._dictionary.release(self._generated, _PAST)
        return self._given(fault)

    def _give_up(self) -> None:
        for run in self._complete:
            if run.at_ms is None:
                self._set_aside(run, "no time: nothing says its prov:generatedAtTime")
            else:
                self._ready.append(run)
        for stated in self._times.values():
            reason = "the time of a graph that has no statements"
            self._rejections.reject(reason, line=int(stated.row[LINE]), text=self._text(stated.row))
            self._forget(stated)

    def _close(self) -> None:
        run, self._current = self._current, None
        if run is None:
            return
        self._complete.append(run)
        self._waiting += run.size
        if run.at_ms is None:
            self._untimed.setdefault(run.graph, deque()).append(run)
        else:
            self._used = (run.graph, run.at_ms)

    def _hold_used(self) -> None:
        """Keeps the graph whose time was used last from being another's number in the next chunk."""
        used = np.array([] if self._used is None else self._used[:1], np.int64)
        self._dictionary.hold(used)
        self._dictionary.release(self._used_held, _PAST)
        self._used_held = used

    def _forget(self, stated: _Stated) -> None:
        if stated.held:
            self._dictionary.release(stated.row[:LINE], _PAST)

    def _set_aside(self, run: _Run, reason: str) -> None:
        why = f"its time cannot be read: {run.fault}" if run.fault else reason
        name = self._decoded(np.array([run.graph], np.int64))[0]
        self._rejections.reject(f"graph {name} has {why}", line=run.line, text=self._text(run.pieces[0][0]))
        self._release(run)

    def _release(self, run: _Run) -> None:
        for piece in run.pieces[: run.held]:
            self._dictionary.release(piece[:, :LINE].ravel(), _PAST)

    def _given(self, fault: DataError | None) -> Columns:
        runs, self._ready = self._ready, []
        for run in runs:
            self._release(run)
        rows = np.concatenate([np.empty((0, 5), np.int64), *(piece for run in runs for piece in run.pieces)])
        element = np.repeat(np.arange(len(runs)), [run.size for run in runs])
        kept = ~repeats(element, rows[:, :GRAPH])
        rows, element = rows[kept], element[kept]
        at_ms = np.array([run.at_ms for run in runs], np.int64)
        sizes = np.bincount(element, minlength=len(runs))
        return Columns(rows[:, :GRAPH], element, len(runs), at_ms, sizes, rows[:, GRAPH], fault=fault)

    def _decoded(self, ids: Ids) -> list[str]:
        return [str(term) for term in self._dictionary.decode(np.ascontiguousarray(ids)).to_pylist()]

    def _text(self, row: Ids) -> str:
        return " ".join(self._decoded(row[: GRAPH if row[GRAPH] < 0 else LINE])) + " ."


def _time(text: str) -> int:
    if text.endswith(_DATE_TIME) and "\\" not in text:
        return date_time_ms(text[1 : -len(_DATE_TIME)])
    return time_ms(term_of(text))
