"""The queries that read a stream or a graph, and which of them an element or a change concerns.

With many queries, an element should cost what it meets: a query that only looks at what its patterns match is shown single
elements only if one of them does. What else it would have seen of them, how long they last, it is told later.
"""

from __future__ import annotations

from collections.abc import Sequence

from millstream.engine.datasets import Triples
from millstream.engine.run import QueryRun
from millstream.kernels.elements import Elements
from millstream.kernels.patterns import Patterns

_FEW = 16
"""Elements that are looked through; in more of them there is something for nearly everybody."""


class Readers:
    """Who reads one stream."""

    def __init__(self, stream: str, runs: Sequence[QueryRun]) -> None:
        self._stream = stream
        self._runs = tuple(runs)
        self._always = [run for run in runs if not run.may_skip(stream)]
        self._sometimes = [run for run in runs if run.may_skip(stream)]
        self._ending = [run for run in self._sometimes if run.emits_ends]
        self.skip_unmatched = not self._always and not self._ending
        """Whether elements that no pattern matches concern nobody."""
        self._patterns: Patterns | None = None
        self._skipped_ms: int | None = None
        """The time of the last element that some query was not shown."""

    @property
    def is_final(self) -> bool:
        """Whether all that was asked of the queries holds as long as the same ones read the stream."""
        return not any(run.has_first_change_ahead for run in self._runs)

    def take(self, batch: Elements) -> None:
        """Shows elements to the queries they concern."""
        shown: Sequence[QueryRun] = self._runs
        if len(batch) <= _FEW:
            if not batch.rows:
                shown = self._always
            elif len(shown) > 1:
                shown = [*self._always, *self._matching(batch)]
        for run in shown:
            run.elements(batch)
        if len(shown) < len(self._runs):
            if batch.prolongs_time:
                self._skipped_ms = batch.last_ms
            for run in self._ending:
                run.report_due(batch.last_tick)

    def skip(self, at_ms: int, triples: int) -> None:
        """An element of so many triples that concerns nobody."""
        if triples:
            self._skipped_ms = at_ms

    def _matching(self, batch: Elements) -> list[QueryRun]:
        if self._patterns is None:
            read = [run.contents.of_stream(self._stream) for run in self._sometimes]
            # Places that must be equal and filters are for the queries themselves.
            asked = [(number, ids) for number, inputs in enumerate(read) for i in inputs for ids in i.matcher.ids]
            self._patterns = Patterns([(number, ids, []) for number, ids in asked])
        return [self._sometimes[number] for number in sorted(self._patterns.numbers_in(batch))]

    def settle(self) -> None:
        """Tells the windows of the last element they were not shown: its end may be the last of all."""
        if self._skipped_ms is not None:
            for run in self._sometimes:
                run.contents.see(self._stream, self._skipped_ms)
            self._skipped_ms = None


class GraphReaders:
    """Who reads one graph; as `Readers`, for its changes."""

    def __init__(self, graph: str | None, runs: Sequence[QueryRun]) -> None:
        self._graph = graph
        self._runs = tuple(run for run in runs if run.reads(graph))
        self._always = [run for run in self._runs if not run.may_skip_changes]
        self._sometimes = [run for run in self._runs if run.may_skip_changes]
        self._ending = [run for run in self._sometimes if run.emits_ends]
        self._patterns: Patterns | None = None

    @property
    def is_final(self) -> bool:
        """Whether all that was asked of the queries holds as long as the same ones read the graph."""
        return not any(run.has_first_change_ahead for run in self._runs)

    def take(self, triples: Triples, op: int, at_tick: int) -> None:
        """Shows the queries they concern triples that really came (op 1) or went (-1)."""
        shown: Sequence[QueryRun] = self._runs
        if len(shown) > 1 and len(triples) <= _FEW:
            shown = [*self._always, *self._matching(triples)]
        for run in shown:
            run.graph_changed(self._graph, triples, op, at_tick)
        if len(shown) < len(self._runs):
            for run in self._ending:
                run.report_due(at_tick)

    def _matching(self, triples: Triples) -> list[QueryRun]:
        if self._patterns is None:
            read = [
                [i for i in run.contents.inputs if i.window is None and i.graph == self._graph] for run in self._sometimes
            ]
            asked = [(number, ids) for number, inputs in enumerate(read) for i in inputs for ids in i.matcher.ids]
            self._patterns = Patterns([(number, ids, []) for number, ids in asked])
        return [self._sometimes[number] for number in sorted(set(self._patterns.match(triples)[1].tolist()))]
