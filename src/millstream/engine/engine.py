"""The engine as its user sees it: streams, datasets and continuous queries in one process, in event time.

There is one clock, moved by what comes in. Everything is processed by time, equal times in arrival order; with a lateness
it is held until the largest time seen, less the lateness, has reached it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from time import sleep
from typing import TYPE_CHECKING

from millstream.engine.back_pressure import PendingGuard
from millstream.engine.core import Core
from millstream.engine.input.aside import Aside
from millstream.engine.input.graph_store import GraphStore
from millstream.engine.input.input_events import Element, GraphChange, InputEvent, stored_event, triples_of
from millstream.engine.input.many_changes import ManyChanges
from millstream.engine.input.source_input import SourceInput
from millstream.engine.monitor import delivering, serialised
from millstream.engine.options import Options, checked_time, graph_iri
from millstream.engine.output.answers import Answer
from millstream.engine.queries.query import ContinuousQuery
from millstream.engine.snapshot import pack, taken_as_damage, unpack
from millstream.ingest import Chunk, Want, chunks_of, chunks_of_table, largest_time, quads_of
from millstream.ingest.chunk import known
from millstream.ingest.intake import Encoder
from millstream.ingest.ordering import Ordering
from millstream.kernels.engine.processing import Entrance, Stream
from millstream.kernels.matching.elements import Elements
from millstream.kernels.matching.intake import Intake
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.operators import stored
from millstream.operators.ticks import ELEMENT, GRID, tick, time_of
from millstream.rdf import Rejected

if TYPE_CHECKING:
    import pyarrow as pa

DEFAULT_MAX_PENDING = 10_000_000
_IDLE_S = 0.1


class Engine:
    """Registers queries, takes stream elements and dataset changes, and keeps every answer up to date."""

    def __init__(
        self,
        *,
        lateness_ms: int = 0,
        t0_ms: int = 0,
        max_pending: int = DEFAULT_MAX_PENDING,
        strict: bool = False,
        summary: bool = True,
        lazy: bool = True,
        adaptive: bool = True,
        limits: Limits | None = None,
        max_jump_ms: int | None = None,
    ) -> None:
        """`strict` raises for late and malformed input instead of setting it aside; `limits` bound input and values.

        `max_jump_ms` is how far ahead of all that came before something may be: beyond that its time is implausible.

        `summary`, `lazy` and `adaptive` switch off early dropping, doing nothing while a view is empty, and choosing
        the order at each probe; they are for comparisons, answers never change.
        """
        self._options = Options(
            lateness_ms, t0_ms, max_pending, strict, summary, lazy, adaptive, limits or DEFAULT_LIMITS, max_jump_ms
        )
        self._core = Core(self._options)
        self._encoder = Encoder(self._core.dictionary)
        self._ordering: Ordering[InputEvent] = Ordering(lateness_ms, max_jump_ms)
        self._core.on_begun = self._ordering.begin
        self._aside = Aside(self._core, self._ordering, strict=strict)
        self._pending_guard = PendingGuard(self)
        self.entrance = Entrance(_Aid(self), self._core, self._ordering, self._encoder, self._encoder.scanner)
        """Takes what callers pass, one element or change at a time."""
        self.arrivals = SourceInput(self)
        """For runners that merge sources themselves."""
        self.graph_store = GraphStore(self)
        """For those who serve the graphs at rest."""
        self._sources: dict[str, Chunk] = {}
        """The last chunk of each stream that was read from a source."""
        self._stops = 0

    # Datasets ---------------------------------------------------------------------------------------------------------

    @delivering
    @serialised
    def load(self, source: object, graph: str | None = None, *, format: str | None = None, base: str | None = None) -> int:
        """Puts RDF into the datasets as they stand now, as one change of each graph; gives how many triples were new.

        `graph` takes what the source has in its default graph; named graphs of the source keep their names.
        """
        want = self._want(format=format, base=base, graphs=True)
        return self.arrivals.load(quads_of(source, want), graph_iri(graph))

    def insert(self, triples: object, at_ms: int | None = None, graph: str | None = None) -> None:
        """Triples enter a graph at a time; without one, now."""
        self.entrance.change(triples, at_ms, graph, True)

    def delete(self, triples: object, at_ms: int | None = None, graph: str | None = None) -> None:
        """Triples leave a graph at a time; without one, now."""
        self.entrance.change(triples, at_ms, graph, False)

    @delivering
    @serialised
    def change_many(self, changes: Iterable[tuple[str, object, int | None, str | None]]) -> None:
        """Changes of datasets, each as by `insert` or `delete`, one after the other: op, triples, time, graph.

        If one raises, those before it stand.
        """
        ManyChanges(self).take(changes)

    def read_changes(
        self,
        source: object,
        graph: str | None = None,
        *,
        format: str | None = None,
        time: str | None = None,
        base: str | None = None,
        since: bytes | None = None,
    ) -> None:
        """Dataset changes in order: RDF Patch, SPARQL Update with INSERT DATA and DELETE DATA, or a table with a column op.

        What does not name a graph concerns `graph`; without the option `time` all happens now. `since` is a position of the
        source to go on from, which `positions` has under `changes` or `changes GRAPH`.
        """
        want = self._want(format=format, time=time, base=base, changes=True)
        named = graph_iri(graph)
        name = "changes" if graph is None else f"changes {named}"
        self._read_all(
            chunks_of(source, want, since),
            name,
            lambda chunk: self.arrivals.change(self.arrivals.encode_changes(chunk), named),
        )

    def _offer_graph_change(self, change: GraphChange, time_ms: int | None) -> None:
        self._pending_guard.take(lambda engine: engine._change(change, time_ms), time_ms, change.triples.ids)

    def _change(self, change: GraphChange, time_ms: int | None) -> None:
        if time_ms is None:
            self._core.process_now(change)
        else:
            self._offer(checked_time(time_ms), change)

    # Queries ----------------------------------------------------------------------------------------------------------

    @delivering
    @serialised
    def register(
        self,
        text: str,
        output: str | None = None,
        on_answer: Callable[[Answer], object] | None = None,
        base: str | None = None,
    ) -> ContinuousQuery:
        """Starts a continuous query: it sees the datasets as they are and the streams from now on.

        `on_answer` is called with each answer once what brought it has reached all queries, so it may call the engine. If it
        raises, so does the call that brought the answer, which stands; the answers after it follow with the next call.
        """
        return self._core.registry.register(text, output, on_answer, base, self._core.clock_ms)

    @property
    @serialised
    def queries(self) -> tuple[ContinuousQuery, ...]:
        """The registered queries, in order of registration."""
        return tuple(self._core.registry.queries)

    # Streams ----------------------------------------------------------------------------------------------------------

    def push(self, stream: str, triples: object, at_ms: int) -> None:
        """One stream element, atomic: all its triples enter at once."""
        self.entrance.push(stream, triples, at_ms)

    @delivering
    @serialised
    def push_many(self, stream: str, elements: Iterable[tuple[object, int]]) -> None:
        """Stream elements, each as by `push`, one after the other; if one raises, those before it stand."""
        state = self._core.stream(stream)
        times: list[int] = []
        intakes: list[Intake] = []
        try:
            self.entrance.collect(state, elements, times, intakes)
        finally:
            self.arrivals.take_intakes(state, times, intakes)

    @delivering
    @serialised
    def push_table(self, stream: str, table: pa.Table) -> None:
        """Elements as Arrow: s, p, o in N-Triples syntax, at_ms, and optionally element, equal within an element."""
        # A reader of batches can be read once, so nothing of it is tried out.
        is_whole = hasattr(table, "num_rows")
        if is_whole and self._pending_guard.may_overflow(largest_time(table) if self._core.repeating else None):
            # What is wrong with a table makes it several parts, and all of them are taken or none.
            self._pending_guard.try_out(lambda engine: engine.read(stream, table))
        for chunk in chunks_of_table(table, self._want()):
            self._take(stream, chunk)

    def read(
        self,
        stream: str,
        source: object,
        *,
        format: str | None = None,
        time: str | None = None,
        element: str | None = None,
        base: str | None = None,
        clock_ms: Callable[[], int] | None = None,
        since: bytes | None = None,
    ) -> None:
        """A whole source of elements, at full speed: a file, folder, glob, bytes, Arrow, an iterable, or any `Source`.

        `time` and `element` say where times come from and what an element is; `time="arrival"` asks `clock_ms`. `since` is a
        position of the source to go on from, as `positions` has them.
        """
        with self._core.lock:
            state = self._core.stream(stream)
        want = self._want(format=format, time=time, element=element, base=base, clock_ms=clock_ms)
        self._read_all(chunks_of(source, want, since), state.iri, lambda chunk: self._take(stream, chunk))

    def _take(self, stream: str, chunk: Chunk) -> None:
        self.arrivals.take(stream, self.arrivals.encode(stream, chunk))

    def _read_all(self, chunks: Iterator[Chunk], name: str, take: Callable[[Chunk], None]) -> None:
        stops = self._stops
        # A source is waited for without the lock: it may last as long as the stream does.
        for chunk in chunks:
            with self._core.lock:
                take(chunk)
                if chunk.is_placed:
                    self._sources[name] = chunk
            self._core.callbacks.deliver()
            if self._stops != stops:
                return
            if chunk.is_idle:
                sleep(_IDLE_S)

    def stop_reading(self) -> None:
        """Ends what `read` and `read_changes` do now, in whichever thread, each behind the chunk that it is taking.

        `positions` then says where to go on.
        """
        self._stops += 1

    @property
    @serialised
    def positions(self) -> dict[str, bytes]:
        """For each stream that was read from a source, the position behind the last chunk that was taken of it."""
        return {stream: chunk.position for stream, chunk in self._sources.items()}

    def _want(
        self,
        *,
        format: str | None = None,
        time: str | None = None,
        element: str | None = None,
        base: str | None = None,
        clock_ms: Callable[[], int] | None = None,
        changes: bool = False,
        graphs: bool = False,
    ) -> Want:
        return Want(
            format,
            time,
            element,
            base,
            clock_ms,
            None if self._options.strict else self._aside.malformed,
            self._options.limits,
            changes,
            graphs,
            floor_ms=lambda: self._ordering.bounds[0],
        )

    # Time and order ---------------------------------------------------------------------------------------------------

    @property
    @serialised
    def clock_ms(self) -> int:
        """The time that processing has reached, t0 at least: it never goes back, though input may lie before t0."""
        return max(self._core.clock_ms, self._options.t0_ms)

    @delivering
    @serialised
    def advance_to(self, at_ms: int) -> None:
        """Time passes without an element: everything up to and including this millisecond is over."""
        time_ms = checked_time(at_ms)
        self._pending_guard.pass_time(lambda engine: engine._advance_to(time_ms), time_ms)

    def _advance_to(self, time_ms: int) -> None:
        self._release(self._ordering.due(time_ms))
        self._ordering.pass_through(time_ms)
        self._core.pass_time(tick(time_ms, GRID) + 1)
        self._core.catch_up_all()

    @delivering
    @serialised
    def finish(self) -> None:
        """Input has ended: what is held is processed, and time reaches the last end of anything a query sees.

        Should more come after all, what lies before that time is late.
        """
        self._pending_guard.pass_time(lambda engine: engine._finish(), time_of(self._core.last_end))

    def _finish(self) -> None:
        self._release(self._ordering.everything())
        self._core.reach_last_end()
        self._core.housekeeping()
        if self._core.has_begun:
            self._ordering.pass_through(self._core.clock_ms - 1)

    def _offer(self, at_ms: int, what: InputEvent) -> None:
        """Takes something that happens at a time, unless that time has passed."""
        ordering = self._ordering
        if ordering.passes(at_ms):
            self._core.process(at_ms, what)
            return
        if not ordering.takes(at_ms):
            self._aside.untimely(at_ms, what)
            return
        ordering.see(at_ms)
        self._core.dictionary.hold(triples_of(what).ids)
        ordering.hold(at_ms, what)
        self._release(ordering.due(ordering.reached_ms))
        self._core.pass_time(tick(ordering.reached_ms, ELEMENT))

    def _offer_cautiously(self, at_ms: int, what: InputEvent) -> None:
        self._pending_guard.take(lambda engine: engine._offer(at_ms, what), at_ms, triples_of(what).ids)

    def _release(self, due: Iterator[tuple[int, InputEvent]]) -> None:
        for at_ms, what in due:
            self._core.process(at_ms, what)
            self._core.dictionary.release(triples_of(what).ids, tick(at_ms, ELEMENT))

    def _offer_batch(self, stream: Stream, batch: Elements, elements: int) -> None:
        """Elements in time order, as one, none of them late; `elements` counts those left out of the batch as well."""
        last_ms = checked_time(batch.last_ms)
        self._pending_guard.take_batch(stream, batch, elements)
        self._ordering.see(last_ms)
        self._core.deliver()

    # What was set aside -----------------------------------------------------------------------------------------------

    @serialised
    def rejected(self) -> list[Rejected]:
        """What was set aside since the last call: source, place, reason, text."""
        return self._aside.take()

    @property
    @serialised
    def stats(self) -> dict[str, int]:
        """Counts since the start; `stored` is what queries keep now, `terms` what the dictionary knows."""
        self._core.catch_up_all()
        return {
            **self._core.totals,
            "stored": sum(run.stored for run in self._core.runs),
            "answers": sum(query.emitted for query in self._core.registry.queries),
            "held": len(self._ordering),
            "queries": len(self._core.registry.queries),
            "terms": self._core.dictionary.stats()["live"],
        }

    @serialised
    def _repr_html_(self) -> str:
        from millstream.engine.output.notebook import engine_html

        self._core.catch_up_all()
        registry, totals = self._core.registry, self._core.totals
        streams = [(stream.iri, stream.elements, stream.triples, stream.kept) for stream in self._core.streams.values()]
        graphs = [(name or "the default graph", size) for name, size in self.graph_store.sizes().items()]
        queries = [
            (query.name or " ".join(query.text.split())[:80], query.output, query.emitted, query.pending)
            for query in registry.queries
        ]
        title = f"engine at {self.clock_ms:,} ms · late {totals['late']:,} · rejected {totals['rejected']:,}"
        return engine_html(
            title,
            {
                "streams": (["elements", "triples", "kept"], streams),
                "datasets": (["triples"], graphs),
                "queries": (["output", "answers", "pending"], queries),
            },
        )

    # Snapshots --------------------------------------------------------------------------------------------------------

    @serialised
    def snapshot(self) -> bytes:
        """The whole state, versioned: what `Engine.restore` continues from. Callbacks are not part of it."""
        *seen, held = self._ordering.dump()
        flat = [
            (at_ms, number, what.stream, what.intake.triples, what.intake.place, what.intake.total)
            if isinstance(what, Element)
            else (at_ms, number, what.graph, what.triples.triples, what.insert)
            for at_ms, number, what in held
        ]
        return pack(
            {
                "options": asdict(self._options),
                "ordering": (*seen, flat),
                "core": self._core.dump(),
                "positions": [[stream, chunk.position] for stream, chunk in self._sources.items()],
            }
        )

    @classmethod
    def restore(cls, data: bytes) -> Engine:
        """An engine that goes on where a snapshot was taken, with its queries in order of registration."""
        state = unpack(data)
        with taken_as_damage():
            options = state["options"]
            engine = cls(**{**options, "limits": Limits.of(options["limits"])})
            engine._core.load(state["core"])
            engine._core.check()
            largest_ms, passed_ms, arrivals, flat = state["ordering"]
            held = [(*row[:2], stored_event(engine._core.dictionary, *row[2:])) for row in flat]
            if engine._core.has_begun:
                engine._ordering.begin(engine._core.clock_ms)
            engine._ordering.load(largest_ms, passed_ms, arrivals, held)
            for _, _, what in held:
                engine._core.dictionary.hold(triples_of(what).ids)
            engine._sources = {stored.text(stream): known(position) for stream, position in state["positions"]}
        return engine


class _Aid:
    """What the way of one element or change asks of its engine where it is no straight one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    checked_time = staticmethod(checked_time)
    graph_named = staticmethod(graph_iri)

    def has_gap(self, at_ms: int) -> bool:
        """Whether until a time so much is emitted again that it might be too much."""
        return self._engine._pending_guard.has_gap(at_ms)

    def try_push(self, stream: str, text: str | bytes, scope: str, at_ms: int) -> None:
        """Raises if an element would bring more answers than may wait."""
        self._engine._pending_guard.try_out(lambda engine: engine.entrance.push_text(stream, text, scope, at_ms))

    def offer_element(self, stream: Stream, intake: Intake, at_ms: int) -> None:
        """An element that must wait, or is not taken."""
        self._engine._offer(at_ms, Element(stream.iri, intake))

    def offer_change(self, graph: str | None, triples: Intake, insert: bool, at_ms: int | None) -> None:
        """A change that must wait, is not taken, or might bring more answers than may wait."""
        self._engine._offer_graph_change(GraphChange(graph, triples, insert), at_ms)
