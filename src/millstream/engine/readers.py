"""The queries that read a stream or a graph, and which of them an element or a change concerns.

With many queries, an element should cost what it meets: a query that only looks at what its patterns match is shown single
elements only if one of them does. What else it would have seen of them, how long they last, it is told later.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from millstream.engine.change_batch import GraphEdits
from millstream.engine.datasets import Triples
from millstream.engine.inputs import Input
from millstream.engine.run import QueryRun
from millstream.kernels.elements import Elements
from millstream.kernels.patterns import Patterns

_FEW = 16
"""Elements that are looked through; in more of them there is something for nearly everybody."""


class _Readers(ABC):
    """Queries that read something: those that are shown all of it, and those only what their patterns match."""

    def __init__(self, runs: Sequence[QueryRun], may_skip: Sequence[bool]) -> None:
        # In the order of registration, in which what they construct for others follows each other too.
        self._runs = tuple(runs)
        self._always = [place for place, may in enumerate(may_skip) if not may]
        self._sometimes = [place for place, may in enumerate(may_skip) if may]
        self._ending = [runs[place] for place in self._sometimes if runs[place].emits_ends]
        self._patterns: Patterns | None = None

    @property
    def is_final(self) -> bool:
        """Whether all that was asked of the queries holds as long as there are no others."""
        return not any(run.has_first_change_ahead for run in self._runs)

    @abstractmethod
    def _reads(self, source: Input) -> bool:
        """Whether an input of a query is of what these read."""

    def _asked(self) -> Patterns:
        """What the queries ask for that need not be shown all; each has its place as number.

        Places that must be equal and filters are for the queries themselves.
        """
        if self._patterns is None:
            self._patterns = Patterns(
                (place, ids, [])
                for place in self._sometimes
                for source in self._runs[place].contents.inputs
                if self._reads(source)
                for ids in source.matcher.ids
            )
        return self._patterns

    def _concerned(self, places: set[int]) -> Sequence[QueryRun]:
        """Those that are shown all, and those at some places."""
        return [self._runs[place] for place in sorted({*self._always, *places})]

    def _report_ends(self, shown: Sequence[QueryRun], at_tick: int) -> None:
        """Time has come to a tick also for those that were shown nothing."""
        if len(shown) < len(self._runs):
            for run in self._ending:
                run.report_due(at_tick)


class Readers(_Readers):
    """Who reads one stream."""

    def __init__(self, stream: str, runs: Sequence[QueryRun]) -> None:
        super().__init__(runs, [run.may_skip(stream) for run in runs])
        self._stream = stream
        self.skip_unmatched = not self._always and not self._ending
        """Whether elements that no pattern matches concern nobody."""
        self._skipped_ms: int | None = None
        """The time of the last element that some query was not shown."""

    def _reads(self, source: Input) -> bool:
        return source.window is not None and source.window.stream.value == self._stream

    def take(self, batch: Elements) -> None:
        """Shows elements to the queries they concern."""
        shown: Sequence[QueryRun] = self._runs
        if len(batch) <= _FEW:
            if not batch.rows:
                shown = self._concerned(set())
            elif len(shown) > 1:
                shown = self._concerned(self._asked().numbers_in(batch))
        for run in shown:
            run.elements(batch)
        if len(shown) < len(self._runs) and batch.prolongs_time:
            self._skipped_ms = batch.last_ms
        self._report_ends(shown, batch.last_tick)

    def skip(self, at_ms: int, triples: int) -> None:
        """An element of so many triples that concerns nobody."""
        if triples:
            self._skipped_ms = at_ms

    def settle(self) -> None:
        """Tells the windows of the last element they were not shown: its end may be the last of all."""
        if self._skipped_ms is not None:
            for place in self._sometimes:
                self._runs[place].contents.see(self._stream, self._skipped_ms)
            self._skipped_ms = None


class GraphReaders(_Readers):
    """Who reads one graph."""

    def __init__(self, graph: str | None, runs: Sequence[QueryRun]) -> None:
        ours = [run for run in runs if run.reads(graph)]
        super().__init__(ours, [run.may_skip_changes for run in ours])
        self._graph = graph

    def _reads(self, source: Input) -> bool:
        return source.window is None and source.graph == self._graph

    def take(self, triples: Triples, op: int, at_tick: int) -> None:
        """Shows the queries they concern triples that really came (op 1) or went (-1)."""
        shown: Sequence[QueryRun] = self._runs
        if len(shown) > 1 and len(triples) <= _FEW:
            shown = self._concerned(set(self._asked().match(triples)[1].tolist()))
        for run in shown:
            run.graph_changed(self._graph, triples, op, at_tick)
        self._report_ends(shown, at_tick)

    def share(self, edits: GraphEdits) -> Iterator[tuple[QueryRun, GraphEdits]]:
        """For each query the edits that concern it; they really changed the graph."""
        if len(self._runs) == 1:
            yield self._runs[0], edits
            return
        rows, places = self._asked().match(edits.triples) if self._sometimes else (edits.op[:0], edits.op[:0])
        for place in self._always:
            yield self._runs[place], edits
        by_place = np.argsort(places, kind="stable")
        rows, places = rows[by_place], places[by_place]
        bounds = [*np.flatnonzero(np.diff(places, prepend=-1)).tolist(), len(places)]
        for low, high in pairwise(bounds):
            ours = rows[low:high]
            # A triple may match several patterns of a query.
            yield self._runs[int(places[low])], edits.pick(ours[np.diff(ours, prepend=-1) != 0])

    def report_ends(self, at_tick: int) -> None:
        """Time has come to a tick for all queries, shown something or not."""
        for run in self._ending:
            run.report_due(at_tick)
