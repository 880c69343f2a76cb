"""Derived streams: the answers of CONSTRUCT queries as elements that other queries read.

What one change constructs is one element, processed next, at the same millisecond. So while some query feeds another,
nothing is done in batches: elements are processed one by one, and time passes from one change to the next, each query
after those that feed the streams it reads. Which of it time goes on for once input has ended is said in
`millstream.engine.queries.drain`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from millstream.engine.input.datasets import Triples
from millstream.engine.queries.drain import Drain
from millstream.engine.windows.window_operators import NEVER
from millstream.errors import UnsupportedQueryError
from millstream.kernels.matching.elements import Elements
from millstream.kernels.matching.intake import Intake
from millstream.language import algebra as a
from millstream.operators.ticks import GRID, time_of

if TYPE_CHECKING:
    from millstream.engine.core import Core
    from millstream.engine.output.emitter import Emitter
    from millstream.engine.queries.run import QueryRun


def derived_stream(query: a.Query) -> str | None:
    """The stream that a query's answers form."""
    is_stream = query.form is a.Form.CONSTRUCT and query.output in (a.Output.ISTREAM, a.Output.RSTREAM)
    return query.name if is_stream else None


class DerivedStreams:
    """What was constructed and not yet processed, and who comes after whom."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._waiting: deque[tuple[str, Triples, int, bool]] = deque()
        """Streams, triples, times, and whether time goes on for them once input has ended."""
        self._order: list[QueryRun] = []
        self._drain: Drain | None = None
        """Once input has ended."""

    def arrange(self) -> None:
        """Looks again who feeds whom, after queries came or went."""
        core, runs = self._core, self._core.runs
        emitters = [emitter for run in runs for emitter in run.emitters]
        fed = {name for emitter in emitters if (name := derived_stream(emitter.query)) is not None}
        core.derives = any(core.streams[iri].runs for iri in fed if iri in core.streams)
        for emitter in emitters:
            derives = derived_stream(emitter.query) if core.derives else None
            if emitter.derives is None and derives is not None and emitter.run.tick > NEVER:
                # Nobody sees what time has made of it so far: those who read it come now.
                emitter.run.pass_time(core.before)
            emitter.derives = derives
        self._order = []
        if core.derives:
            for run in runs:
                self._place(run, (), runs)

    def check(self, query: a.Query) -> None:
        """Refuses a query that closes a circle in which whole answer sets are fed again with every element."""
        fed = derived_stream(query)
        if fed is None:
            return
        others = [emitter.query for run in self._core.runs for emitter in run.emitters]
        # Each way from what it feeds, with whether somebody on it feeds whole answer sets.
        ways = [(fed, query.output is a.Output.RSTREAM, frozenset((fed,)))]
        read = {window.stream.value for window in query.windows}
        while ways:
            stream, whole, path = ways.pop()
            if stream in read and whole:
                raise UnsupportedQueryError(
                    "queries that feed each other with RSTREAM, which would answer each other without end",
                    instead="Write ISTREAM, which gives what is new alone.",
                    text=query.text,
                    place=query.place,
                )
            for other in others:
                further = derived_stream(other)
                reads = any(window.stream.value == stream for window in other.windows)
                if reads and further is not None and further not in path:
                    ways.append((further, whole or other.output is a.Output.RSTREAM, path | {further}))

    def _place(self, run: QueryRun, path: tuple[QueryRun, ...], runs: list[QueryRun]) -> None:
        if run in self._order or run in path:
            return
        for other in runs:
            if any(emitter.derives in run.streams for emitter in other.emitters):
                self._place(other, (*path, run), runs)
        self._order.append(run)

    @contextmanager
    def after_input(self) -> Iterator[None]:
        """Meanwhile nothing comes from outside, only time passes."""
        self._drain = Drain(self._order)
        try:
            yield
        finally:
            self._drain = None

    def offer(self, emitter: Emitter, columns: Triples, at_ms: int) -> None:
        """Triples that one change constructed."""
        assert emitter.derives is not None
        texts = [self._core.dictionary.decode(np.ascontiguousarray(column)).to_pylist() for column in columns.T]
        order = sorted(range(len(columns)), key=lambda row: tuple(column[row] for column in texts))
        prolongs = self._drain is None or self._drain.prolonged_by(emitter, at_ms)
        self._waiting.append((emitter.derives, np.ascontiguousarray(columns[order]), at_ms, prolongs))

    def process(self) -> None:
        """Processes what waits, and what that constructs: without end where queries that feed each other never agree."""
        taken, most = 0, self._core.options.limits.chained_elements
        while self._waiting:
            taken += 1
            if taken > most:
                self._waiting.clear()
                self._core.bound.exceed(
                    f"queries that feed each other construct more than {most:,} elements of one change; "
                    "end the circle, or raise the limit chained_elements."
                )
            stream_iri, triples, at_ms, prolongs = self._waiting.popleft()
            stream = self._core.stream(stream_iri)
            if stream.runs and not self._core.has_begun:
                self._core.begin(at_ms)
            intake = Intake(triples)
            batch = Elements.of(stream_iri, [at_ms], [intake], stream.triples, stream.elements + 1, prolongs)
            self._core.hand_on(stream, batch, 1, len(intake))

    def pass_time(self, before: int) -> None:
        """All that time brings by itself before a tick, change by change."""
        while True:
            ticks = [t for run in self._order if (t := run.next_change(before)) is not None]
            at_tick = min(ticks, default=before)
            if at_tick >= before:
                return
            self._core.before = max(self._core.before, at_tick + 1)
            for run in self._order:
                run.pass_time(at_tick + 1)
                if at_tick & 3 == GRID:
                    # What is fed at an instant belongs to the same instant of those that read it.
                    self.process()
            self.process()
            assert time_of(at_tick) <= self._core.clock_ms
