"""Runs queries in this process: `millstream run --engine embedded`.

Sources are put in order each by itself, merged by time and handed to the engine as columns.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from millstream.cli.run.arguments import GraphSource, StreamSource
from millstream.cli.run.checkpoint import Checkpoint, Saved, merge_input_state, restore_merge_input
from millstream.cli.run.context import Run
from millstream.cli.run.sources import StandardInput, source_of, want_of
from millstream.cli.run.unmatched import unmatched_patterns
from millstream.cli.terminal import fail, note
from millstream.connect.kafka.options import is_address
from millstream.engine import Engine
from millstream.errors import DataError, LateElementError, QueryError, SnapshotError
from millstream.ingest import Chunk, Columns
from millstream.ingest.merging import Merge, MergeInput, Ready
from millstream.ingest.ordering import Ordering
from millstream.operators.ticks import FOREVER
from millstream.output.files import STANDARD
from millstream.rdf import Rejected
from millstream.rdf.element import bounded

# Answers are taken all the time, so nothing should ever be refused for waiting.
_MAX_PENDING = 100_000_000
_TURN_S = 0.1


def run(run: Run) -> None:
    """Reads everything there is, or follows it; raises Stopped if asked to, with everything written that was answered."""
    _Embedded(run).run()


class _Embedded:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._options = run.options
        self._merge_inputs: list[MergeInput] = []
        self._lane_late = 0
        self._lane_set_aside = 0
        self._next_turn = time.monotonic() + _TURN_S
        self._next_checkpoint = 0.0
        self._is_over = False
        """Whether the input has ended, and the state in which it did is kept."""
        self._arrived = threading.Event()
        self._checkpoint = Checkpoint(run.options) if run.options.checkpoint is not None else None
        saved = self._checkpoint.load() if self._checkpoint is not None else None
        if saved is None:
            self._engine = self._fresh_engine()
            run.open()
        else:
            assert self._checkpoint is not None
            try:
                self._engine = Engine.restore(saved.snapshot)
            except SnapshotError as error:
                raise self._checkpoint.refusal(error) from None
            run.open(saved.positions)
            run.counts.answers = saved.counts["answers"]
            run.counts.before = self._engine.stats["elements"]
            self._lane_late, self._lane_set_aside = saved.counts["late"], saved.counts["set_aside"]
        self._saved = saved
        self._sources: list[StreamSource | GraphSource] = [*run.options.streams, *run.options.changes]

    def _fresh_engine(self) -> Engine:
        options = self._options
        engine = Engine(
            strict=options.strict, max_pending=_MAX_PENDING, limits=options.limits, max_jump_ms=options.max_jump_ms
        )
        for source in options.datasets:
            if source.path == STANDARD:
                engine.load(StandardInput(self._run.check), source.graph, format="turtle")
            else:
                engine.load(source.path, source.graph)
        for query in options.queries:
            try:
                engine.register(query.text)
            except QueryError as error:
                fail(f"{query.name}: {error}")
        return engine

    def run(self) -> None:
        try:
            self._merge()
        finally:
            # Also when stopped, or when a strict run meets bad data: what was answered is written.
            self._take()
        if self._checkpoint is not None and not self._is_over:
            self._keep()
        self._engine.finish()
        self._take()
        self._warn_about_nothing()

    def _merge(self) -> None:
        options = self._options
        states = [None] * len(self._sources) if self._saved is None else self._saved.merge_inputs
        for number, (source, state) in enumerate(zip(self._sources, states, strict=True)):
            want = want_of(source, number, options, self._set_aside)
            since = None if state is None else state["position"].encode()
            chunks = source_of(source, options, self._arrived).chunks(want, since)
            ordering: Ordering[Columns] = Ordering(options.lateness_ms, options.max_jump_ms)
            is_timed = isinstance(source, StreamSource) or options.changes_time is not None or is_address(source.path)
            merge_input = MergeInput(number, chunks, ordering, self._encoder(source), self._refused, is_timed=is_timed)
            if state is not None:
                restore_merge_input(merge_input, state, self._engine.arrivals.dictionary)
            self._merge_inputs.append(merge_input)
        idle_s = options.idle_ms / 1000 if options.follow else None
        merge = Merge(self._merge_inputs, self._engine.arrivals.dictionary, idle_s=idle_s)
        merge.leave_open(self._checkpoint is not None and not options.follow)
        self._next_checkpoint = time.monotonic() + options.checkpoint_every_ms / 1000
        while True:
            found = merge.take()
            if found is not None:
                self._push(*found)
                self._turn()
            elif merge.at_open_end:
                # Should more come, a later run goes on from here, as if there had been no end: nothing is kept after it.
                self._take()
                self._keep()
                self._is_over = True
                merge.leave_open(False)
            elif merge.finished:
                return
            else:
                self._wait_for_more()

    def _encoder(self, source: StreamSource | GraphSource) -> Callable[[Chunk], Columns]:
        arrivals = self._engine.arrivals
        if isinstance(source, GraphSource):
            return arrivals.encode_changes
        return lambda chunk: arrivals.encode(source.iri, chunk)

    def _push(self, number: int, ready: Ready) -> None:
        source, arrivals = self._sources[number], self._engine.arrivals
        if isinstance(source, StreamSource):
            arrivals.take(source.iri, ready.columns)
        else:
            arrivals.change(ready.columns, source.graph)
        if ready.held:
            arrivals.dictionary.release(ready.columns.terms, -FOREVER)

    def _wait_for_more(self) -> None:
        self._next_turn = 0.0
        self._turn()
        self._run.commit()
        self._arrived.wait(_TURN_S)
        self._arrived.clear()

    def _refused(self, number: int, element: Columns, reason: str) -> None:
        source = self._sources[number]
        name = source.iri if isinstance(source, StreamSource) else f"graph {source.graph or 'default'}"
        is_late = reason.startswith("late")
        if self._options.strict:
            raise LateElementError(f"{name}: {reason}") if is_late else DataError(reason, source=name)
        self._lane_late += is_late
        self._lane_set_aside += not is_late
        rows = [self._engine.arrivals.dictionary.texts(row) for row in element.triples[:10]]
        text = "\n".join(" ".join(map(str, row)) + " ." for row in rows)
        self._run.set_aside(Rejected(name, None, None, reason, bounded(text)))

    def _set_aside(self, rejected: Rejected) -> None:
        self._lane_set_aside += 1
        self._run.set_aside(rejected)

    # Every now and then -----------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        now = time.monotonic()
        if now < self._next_turn:
            return
        self._next_turn = now + _TURN_S
        self._take()
        is_due = now >= self._next_checkpoint or self._run.stop.is_set()
        if self._checkpoint is not None and is_due and not self._is_over:
            self._keep()
            self._next_checkpoint = time.monotonic() + self._options.checkpoint_every_ms / 1000
        self._run.check()

    def _take(self) -> None:
        """Writes what was answered and set aside, and counts."""
        run, engine = self._run, self._engine
        answers = {number: query.take_table() for number, query in enumerate(engine.queries)}
        # Before anything is written: nobody may read on, and the run is summed up all the same.
        found = engine.stats
        counts = run.counts
        counts.elements, counts.triples = found["elements"], found["triples"]
        counts.late = found["late"] + self._lane_late
        counts.set_aside = found["rejected"] + self._lane_set_aside
        counts.at_ms = engine.clock_ms if counts.elements or found["changes"] else None
        run.emit(answers)
        for rejected in engine.rejected():
            run.set_aside(rejected)

    def _warn_about_nothing(self) -> None:
        """Tells why a query had no answer, if that is plain: mostly a name is spelt in another way in the data."""
        if self._saved is not None:
            return  # what came before is not counted
        for asked, query in zip(self._options.queries, self._engine.queries, strict=True):
            elements = query.stats["elements"]
            if query.stats["answers"] or not elements:
                continue
            if missed := [f"`{pattern}`" for pattern in unmatched_patterns(query)]:
                told = f"{asked.name} has no answer: nothing in {elements:,} element{'' if elements == 1 else 's'}"
                note("warning", f"{told} or the datasets matches {', '.join(missed)}; compare the names with the data")

    def _keep(self) -> None:
        """A checkpoint of everything as it is now; what waited for that may be seen."""
        assert self._checkpoint is not None
        self._checkpoint.save(self._state())
        self._run.settle()

    def _state(self) -> Saved:
        """Everything as it is now, which is after everything was taken."""
        counts = {"answers": list(self._run.counts.answers), "late": self._lane_late, "set_aside": self._lane_set_aside}
        merge_inputs = [
            merge_input_state(merge_input, self._engine.arrivals.dictionary) for merge_input in self._merge_inputs
        ]
        return Saved(self._engine.snapshot(), merge_inputs, self._run.commit(), counts)
