"""Runs queries in this process: `millstream run --engine embedded`.

Lines of one stream alone, their times by a rate, are read by the engine itself, which is fastest. Otherwise sources are put
in order each by itself, merged and pushed; only that can be followed, and stopped and gone on with from a checkpoint.
"""

from __future__ import annotations

import threading
import time
from typing import cast

from millstream.cli.arguments import GraphSource, StreamSource
from millstream.cli.checkpoint import Checkpoint, Saved, lane_state, position_of, restore_lane
from millstream.cli.feeds import Item
from millstream.cli.gathering import Gathered
from millstream.cli.merging import Lane, Merge
from millstream.cli.outputs import Run
from millstream.cli.paced import PacedEngine
from millstream.cli.sources import StandardInput, make_feed
from millstream.cli.terminal import fail
from millstream.engine.lines import graph_sources, line_sources, rate_of
from millstream.engine.ordering import Ordering
from millstream.errors import DataError, LateElementError, QueryError, SnapshotError
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
        self._lanes: list[Lane] = []
        self._lane_late = 0
        self._lane_set_aside = 0
        self._next_turn = time.monotonic() + _TURN_S
        self._next_checkpoint = 0.0
        # The state in which the input ended: should more come, a later run goes on as if there had been no end.
        self._open_end: Saved | None = None
        self._arrived = threading.Event()
        self._checkpoint = Checkpoint(run.options) if run.options.checkpoint is not None else None
        saved = self._checkpoint.load() if self._checkpoint is not None else None
        if saved is None:
            self._engine = self._fresh_engine()
            run.open()
        else:
            assert self._checkpoint is not None
            try:
                self._engine = cast("PacedEngine", PacedEngine.restore(saved.snapshot))
            except SnapshotError as error:
                raise self._checkpoint.refusal(error) from None
            run.open(saved.positions)
            run.counts.answers = saved.counts["answers"]
            run.counts.before = self._engine.stats["elements"]
            self._lane_late, self._lane_set_aside = saved.counts["late"], saved.counts["set_aside"]
        self._gathered = Gathered(self._engine)
        self._saved = saved

    @property
    def _alone(self) -> bool:
        """Whether one of the engine's fast ways in is open: lines at a rate or graphs of N-Quads, from one source, once."""
        options = self._options
        if (
            len(options.streams) != 1
            or options.changes
            or options.follow
            or options.lateness_ms
            or self._checkpoint is not None
        ):
            return False
        path, format, element = options.streams[0].path, options.input_format, options.element
        if path == STANDARD:
            return False
        if rate_of(options.time, element) is not None:
            return line_sources(path, format, element, lambda rejected: None) is not None
        # Strict runs take what comes before a fault, element by element.
        return not options.strict and graph_sources(path, format, options.time, element, lambda _: None) is not None

    def _fresh_engine(self) -> PacedEngine:
        options = self._options
        engine = PacedEngine(
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
            if self._alone:
                self._read()
            else:
                self._merge()
        finally:
            # Also when stopped, or when a strict run meets bad data: what was answered is written.
            self._take()
        if self._checkpoint is not None:
            self._checkpoint.save(self._open_end or self._state())
        self._engine.finish()
        self._take()

    # One stream alone -------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        options, source = self._options, self._options.streams[0]
        self._engine.pause = self._turn
        self._engine.read(source.iri, source.path, format=options.input_format, time=options.time, element=options.element)
        self._engine.pause = None

    # Several sources --------------------------------------------------------------------------------------------------

    def _merge(self) -> None:
        options = self._options
        sources: list[StreamSource | GraphSource] = [*options.streams, *options.changes]
        states = [None] * len(sources) if self._saved is None else self._saved.lanes
        for number, (source, state) in enumerate(zip(sources, states, strict=True)):
            position = None if state is None else position_of(state)
            feed = make_feed(source, number, options, self._set_aside, self._arrived, position)
            untimed = isinstance(source, GraphSource) and options.changes_time is None
            ordering: Ordering[Item] = Ordering(options.lateness_ms, options.max_jump_ms)
            lane = Lane(number, feed, ordering, self._refused, untimed=untimed)
            if state is not None:
                restore_lane(lane, state)
            self._lanes.append(lane)
        merge = Merge(self._lanes, idle_s=options.idle_ms / 1000 if options.follow else None)
        merge.leave_open(self._checkpoint is not None and not options.follow)
        self._next_checkpoint = time.monotonic() + options.checkpoint_every_ms / 1000
        while True:
            found = merge.take()
            if found is not None:
                number, item = found
                self._push(sources[number], item)
                self._turn()
            elif merge.at_open_end:
                self._take()
                self._open_end = self._state()
                merge.leave_open(False)
            elif merge.finished:
                return
            else:
                self._wait_for_more()

    def _push(self, source: StreamSource | GraphSource, item: Item) -> None:
        if isinstance(source, StreamSource):
            assert item.at_ms is not None
            self._gathered.add(source.iri, item)
            return
        self._gathered.push()
        if item.insert:
            self._engine.insert(item.triples, at_ms=item.at_ms, graph=item.graph)
        else:
            self._engine.delete(item.triples, at_ms=item.at_ms, graph=item.graph)

    def _wait_for_more(self) -> None:
        self._next_turn = 0.0
        self._turn()
        self._run.commit()
        self._arrived.wait(_TURN_S)
        self._arrived.clear()

    def _refused(self, number: int, item: Item, reason: str) -> None:
        sources: list[StreamSource | GraphSource] = [*self._options.streams, *self._options.changes]
        source = sources[number]
        name = source.iri if isinstance(source, StreamSource) else f"graph {source.graph or 'default'}"
        is_late = reason.startswith("late")
        if self._options.strict:
            raise LateElementError(f"{name}: {reason}") if is_late else DataError(reason, source=name)
        self._lane_late += is_late
        self._lane_set_aside += not is_late
        self._run.set_aside(Rejected(name, None, None, reason, bounded("\n".join(f"{t} ." for t in item.triples[:10]))))

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
        if self._checkpoint is not None and (now >= self._next_checkpoint or self._run.stop.is_set()):
            self._checkpoint.save(self._state())
            self._next_checkpoint = time.monotonic() + self._options.checkpoint_every_ms / 1000
        self._run.check()

    def _take(self) -> None:
        """Writes what was answered and set aside, and counts."""
        self._gathered.push()
        run, engine = self._run, self._engine
        run.emit({number: query.take_table() for number, query in enumerate(engine.queries)})
        for rejected in engine.rejected():
            run.set_aside(rejected)
        found = engine.stats
        counts = run.counts
        counts.elements, counts.triples = found["elements"], found["triples"]
        counts.late = found["late"] + self._lane_late
        counts.set_aside = found["rejected"] + self._lane_set_aside
        counts.at_ms = engine.clock_ms if counts.elements or found["changes"] else None

    def _state(self) -> Saved:
        """Everything as it is now, which is after everything was taken."""
        counts = {"answers": list(self._run.counts.answers), "late": self._lane_late, "set_aside": self._lane_set_aside}
        lanes = [lane_state(lane) for lane in self._lanes]
        return Saved(self._engine.snapshot(), lanes, self._run.commit(), counts)
