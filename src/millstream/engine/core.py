"""The state of an engine and what moves it: changes in processing order, and time.

All ticks before `before` have passed. Queries that a change does not concern are not touched: they catch up when someone
looks at them, or now and then, when the dictionary is also told what it may forget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from millstream.engine.input.change_batch import ChangeBatch, GraphEdits
from millstream.engine.input.datasets import Graph
from millstream.engine.input.input_events import Element, GraphChange, InputEvent
from millstream.engine.monitor import CallbackQueue
from millstream.engine.options import Options, named_iri
from millstream.engine.queries.derived_streams import DerivedStreams
from millstream.engine.queries.query import ContinuousQuery
from millstream.engine.queries.registry import Registry
from millstream.engine.queries.run import QueryRun
from millstream.engine.windows.window_operators import NEVER
from millstream.errors import ChangeLimitError
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.emission.pending import Pending
from millstream.kernels.engine.processing import Processing, Stream
from millstream.kernels.engine.routing import GraphRouter
from millstream.kernels.matching.elements import Elements
from millstream.kernels.scanning.scanner import Scanner
from millstream.kernels.scanning.summary import Summary
from millstream.operators import stored
from millstream.operators.bounds import RowBound
from millstream.operators.dataflow.dataflow import Dataflow
from millstream.operators.expressions import Bounds
from millstream.operators.ticks import ELEMENT, EXPIRY, FOREVER, MOST_MS, tick, time_of
from millstream.plan.nodes import Node
from millstream.plan.passes import planned


class Core(Processing):
    """Streams, graphs and queries, moved in order."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.dictionary = Dictionary()
        self.graphs = {None: self.new_graph()}
        self.counts = {"late": 0, "rejected": 0}
        self.value_bounds = Bounds(options.limits)
        self.on_begun: Callable[[int], None] = lambda at_ms: None
        """Told when time begins without any input."""
        self.callbacks = CallbackQueue()
        """For callbacks, which must not run before a change has reached all queries."""
        self.bound = RowBound(options.limits.change_rows, self._stop)
        self.pending = Pending(min(options.max_pending, FOREVER))
        self.registry = Registry(self)
        self.derived_streams = DerivedStreams(self)

    @property
    def totals(self) -> dict[str, int]:
        """Counts since the start."""
        streams = self.streams.values()
        return {
            "elements": sum(s.elements for s in streams),
            "triples": sum(s.triples for s in streams),
            "kept": sum(s.kept for s in streams),
            "changes": self.changes,
            **self.counts,
            "refused": self.value_bounds.refused,
        }

    def _stop(self, error: ChangeLimitError) -> None:
        """A query could not be brought up to date, and nothing leads back: from now on every call raises."""
        self.lock.refuse(lambda: ChangeLimitError(f"the engine has stopped; go on with a snapshot. What happened: {error}"))

    @property
    def runs(self) -> list[QueryRun]:
        """All that is at work for queries."""
        return self.registry.runs

    def has_gap(self, times_ms: tuple[int, int], elements: int = 1, triples: int = 0) -> bool:
        """Whether from a time to another so much is emitted again that more answers might wait than may."""
        answers = sum(run.answers_ahead(times_ms, elements, triples) for run in self.repeating)
        return self.pending.may_exceed(min(answers, FOREVER))

    # Time -------------------------------------------------------------------------------------------------------------

    @property
    def clock_ms(self) -> int:
        """The time that processing has reached; t0 if nothing came yet."""
        return time_of(self.before - 1) if self.has_begun else self.options.t0_ms

    @property
    def has_begun(self) -> bool:
        """Whether anything has happened, so that there is a time."""
        return self.before > NEVER

    def begin(self, at_ms: int) -> None:
        """Time begins, with something that was constructed before any input had a time: what comes earlier is late."""
        self.before = tick(at_ms, ELEMENT) + 1
        self.on_begun(at_ms)

    def pass_time(self, before: int) -> None:
        if self.derives:
            self.derived_streams.pass_time(before)
        self.before = max(self.before, before)

    def catch_up(self, query: ContinuousQuery) -> None:
        run = query.run
        if run is not None and run.tick < self.before - 1:
            run.pass_time(self.before)

    def deliver(self) -> None:
        """Calls back between the parts of a long call: meanwhile any thread may call the engine."""
        if self.callbacks:
            self.lock.release()
            try:
                self.callbacks.deliver()
            finally:
                self.lock.acquire()

    def catch_up_all(self) -> None:
        for run in self.runs:
            run.pass_time(self.before)

    def reach_last_end(self) -> None:
        """Time comes to the last end of anything a query sees: what expires there does, no window closes there."""
        for stream in self.streams.values():
            stream.settle()
        with self.derived_streams.after_input():
            # What is constructed on the way may last longer.
            while (end := self.last_end) > NEVER and tick(time_of(end), ELEMENT) > self.before:
                self.pass_time(tick(time_of(end), ELEMENT))
        self.catch_up_all()

    @property
    def last_end(self) -> int:
        """The last tick at which anything ends that a query sees."""
        return max((run.contents.last_end() for run in self.runs), default=NEVER)

    # What happens -----------------------------------------------------------------------------------------------------

    def process(self, at_ms: int, what: InputEvent) -> None:
        """The next thing that happens."""
        if isinstance(what, Element):
            self.process_element(self.stream(what.stream), what.intake, at_ms)
        else:
            self.process_change(what.graph, what.triples, what.insert, at_ms)

    def process_batch(self, stream: Stream, batch: Elements, elements: int) -> None:
        """Elements that happen next; `elements` counts those left out of the batch as well."""
        if self.derives and len(batch) > 1:
            self._process_singly(stream, batch, elements)
        else:
            self.pass_time(batch.first_tick)
            self.hand_on(stream, batch, elements, batch.last_total - stream.triples)
            self.derived_streams.process()
            self.pass_time(batch.last_tick + 1)
        self.happened(max(elements, batch.rows))

    def _process_singly(self, stream: Stream, batch: Elements, elements: int) -> None:
        for place in range(len(batch)):
            one = batch.slice(place, place + 1)
            self.pass_time(one.first_tick)
            self.hand_on(stream, one, 1, one.last_total - stream.triples)
            self.derived_streams.process()
            self.pass_time(one.first_tick + 1)
        stream.elements += elements - len(batch)

    def process_now(self, change: GraphChange) -> None:
        """A change that happens now, whatever the time is."""
        self.change_graph(change.graph, change.triples, change.insert, self.now_tick)
        self.happened(1)

    def process_derived(self) -> None:
        """Processes the elements of derived streams that wait."""
        self.derived_streams.process()

    def new_graph(self) -> Graph:
        return Graph(self.dictionary)

    def process_changes(self, batch: ChangeBatch) -> None:
        """Changes of graphs that happen next, each by itself; not while queries feed others."""
        shown: dict[QueryRun, list[GraphEdits]] = {}
        concerned: list[GraphRouter] = []
        for edits in batch.edits():
            effective = self.graph(edits.graph).change_where(edits.triples, edits.op, edits.ticks)
            self.changes += len(effective)
            if len(effective):
                readers = self.readers_of(edits.graph)
                concerned.append(readers)
                for run, some in readers.share(edits.pick(effective)):
                    shown.setdefault(run, []).append(some)
        for run in self.runs:
            if run in shown:
                run.graph_changes(shown[run])
        for readers in concerned:
            readers.report_ends(int(batch.ticks[-1]))

    # Streams and queries ----------------------------------------------------------------------------------------------

    def stream(self, iri: str) -> Stream:
        stream = self.streams.get(iri) if isinstance(iri, str) else None
        if stream is None:
            name = named_iri(iri, "stream")
            stream = self.streams.get(name)
            if stream is None:
                stream = self.streams[name] = Stream(name)
                self._summarise(stream)
        return stream

    def known_stream(self, iri: str) -> Stream:
        """The stream that a query names."""
        return self.streams.setdefault(iri, Stream(iri))

    def planned(self, text: str, base: str | None, output: str | None) -> Node:
        """What is run of a query by itself: all of it, unless a part of the plan runs elsewhere."""
        return planned(text, base, output)

    def run_of(self, operator: Dataflow) -> QueryRun:
        """A run for queries, without any state."""
        return QueryRun(operator, self.dictionary, self.options.t0_ms)

    def readers_changed(self, streams: Iterable[str]) -> None:
        """Queries that read some streams have come or gone, or ask for other triples."""
        for iri in streams:
            self._summarise(self.streams[iri])
        self.forget_graph_readers()
        self.repeating = [run for run in self.runs if run.repeats]
        self.derived_streams.arrange()

    def _summarise(self, stream: Stream) -> None:
        """What anyone who reads the stream may match; None keeps everything."""
        runs = stream.runs
        windows = [w for run in runs for w in run.windows if w.stream.value == stream.iri]
        stream.counted = any(w.window.counts_triples for w in windows)
        everything = any(run.needs_everything for run in runs)
        stream.look_again()
        # What is held may be processed after a query was registered that asks for it.
        if not self.options.summary or self.options.lateness_ms or everything:
            stream.summary = None
        else:
            stream.summary = Summary([c for run in runs for c in run.contents.constants(stream.iri)])
        stream.scanner = Scanner(self.dictionary, summary=stream.summary)

    # Memory -----------------------------------------------------------------------------------------------------------

    def housekeeping(self) -> None:
        """Brings all queries up to date and lets the dictionary forget what no one can need any more."""
        for stream in self.streams.values():
            stream.settle()
        self.catch_up_all()
        # More may happen in the present millisecond, and be taken back in it.
        present = NEVER if self.before == NEVER else tick(self.clock_ms, EXPIRY)
        for query in self.registry.queries:
            query.hold_pending()
        for run in self.runs:
            for emitter in run.emitters:
                emitter.reporter.hold_waiting()
        self.dictionary.forget_before(present)
        self.dictionary.settle()

    # Snapshots --------------------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """All of it, in plain values and arrays."""
        self.housekeeping()
        # Who holds a term does so again when it is restored.
        ids, terms, keep_until, _ = self.dictionary.dump()
        texts = "\n".join(str(term) for term in terms.to_pylist()).encode()
        return {
            "terms": (ids, texts, keep_until),
            "graphs": [(name, graph.triples()) for name, graph in self.graphs.items()],
            "streams": [(s.iri, s.elements, s.triples, s.kept) for s in self.streams.values()],
            "before": self.before,
            "counts": {"changes": self.changes, **self.counts},
            "refused": self.value_bounds.refused,
            **self.registry.dump(),
        }

    def check(self) -> None:
        """Raises if what a snapshot kept apart does not fit together."""
        for run in self.runs:
            if not self.before - 1 <= run.tick <= max(self.before - 1, self.now_tick):
                raise ValueError("a query is not where time is")
            for source in run.contents.inputs:
                if source.operator is not None and source.window is not None:
                    stream = self.known_stream(source.window.stream.value)
                    source.operator.check(stream.triples, stream.elements)

    def load(self, state: dict[str, Any]) -> None:
        """Takes what a core with the same options dumped."""
        import pyarrow as pa

        some, texts, until = state["terms"]
        ids = stored.column(some)
        terms = texts.decode().split("\n") if len(ids) else []
        # Nothing is forgotten before somebody says how far time has come: until then all can be held again.
        until_tick = np.maximum(stored.column(until), NEVER)
        self.dictionary.load(ids, pa.array(terms, pa.string()), until_tick, np.zeros(len(ids), np.int64), NEVER)
        for name, triples in state["graphs"]:
            known = self.graphs.setdefault(None if name is None else stored.text(name), self.new_graph())
            known.restore(triples)
        for iri, *counts in state["streams"]:
            elements, triples, kept = (stored.whole(count, 0, MOST_MS) for count in counts)
            self.streams[named_iri(iri, "stream")] = Stream(iri, elements=elements, triples=triples, kept=kept)
        self.before = stored.whole(state["before"], NEVER, FOREVER)
        self.registry.load(state)
        for stream in self.streams.values():
            self._summarise(stream)
        self.changes = stored.whole(state["counts"]["changes"], 0, MOST_MS)
        self.counts = {name: stored.whole(state["counts"][name], 0, MOST_MS) for name in self.counts}
        self.value_bounds.refused = stored.whole(state["refused"], 0, MOST_MS)
