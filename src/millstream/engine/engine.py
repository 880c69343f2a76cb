"""The engine: streams, datasets and registered queries in one process, in event time.

There is one clock, moved by what comes in. Everything is processed by time, equal times in arrival order; with a lateness it
is held until the largest time seen, less the lateness, has reached it. Queries that a change does not concern are not
touched: they catch up when someone looks at them, or now and then.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyoxigraph import Triple

from millstream.engine.answers import Answer
from millstream.engine.batch import ElementBatch
from millstream.engine.datasets import Graph, Triples
from millstream.engine.feeds import NEVER
from millstream.engine.intake import Encoder, Intake
from millstream.engine.lines import LineSource, batch_at_rate, line_sources, rate_of, scanned, set_aside
from millstream.engine.query import ContinuousQuery
from millstream.engine.run import QueryRun
from millstream.engine.snapshot import pack, unpack
from millstream.errors import DataError, LateElementError, OptionError, PendingLimitError
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.scanner import Scanned, Scanner
from millstream.kernels.scanner_summary import Summary
from millstream.language import algebra as a
from millstream.language import parse_query
from millstream.language.iris import DEFAULT_BASE, resolve
from millstream.language.windows import Triples as TriplesWindow
from millstream.operators.conjunction import ConjunctionOperator
from millstream.operators.expressions import Evaluator
from millstream.operators.rows import ELEMENT, GRID, MOST_MS, tick, time_of
from millstream.plan.conjunction import conjunction_of
from millstream.plan.sources import sources_of
from millstream.rdf import Format, Rejected, StreamElement, read_elements, read_quads

DEFAULT_MAX_PENDING = 10_000_000
_HOUSEKEEPING_EVERY = 4096
_ELEMENTS_A_BATCH = 4096
_MOST_REJECTED = 100_000

_T = TypeVar("_T")


@dataclass(slots=True)
class _Stream:
    """One stream: who reads it and how much has come."""

    iri: str
    runs: list[tuple[ContinuousQuery, QueryRun]] = field(default_factory=list)
    summary: Summary | None = None
    elements: int = 0
    triples: int = 0


@dataclass(frozen=True, slots=True)
class _Element:
    stream: str
    intake: Intake


@dataclass(frozen=True, slots=True)
class _GraphChange:
    graph: str | None
    triples: Triples
    insert: bool


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
    ) -> None:
        """`strict` raises for late and malformed input instead of setting it aside.

        `summary`, `lazy` and `adaptive` switch off early dropping, doing nothing while a view is empty, and choosing the
        order at each probe; they are for comparisons, answers never change.
        """
        if lateness_ms < 0:
            raise OptionError(f"lateness_ms must not be negative, got {lateness_ms}.")
        if max_pending < 1:
            raise OptionError(f"max_pending must be at least 1, got {max_pending}.")
        self._options = {
            "lateness_ms": lateness_ms,
            "t0_ms": t0_ms,
            "max_pending": max_pending,
            "strict": strict,
            "summary": summary,
            "lazy": lazy,
            "adaptive": adaptive,
        }
        self._lateness_ms = lateness_ms
        self._t0_ms = checked_time(t0_ms)
        self._max_pending = max_pending
        self._strict = strict
        self._summary = summary
        self._lazy = lazy
        self._adaptive = adaptive
        self.dictionary = Dictionary()
        self._encoder = Encoder(self.dictionary)
        self._streams: dict[str, _Stream] = {}
        self._graphs: dict[str | None, Graph] = {None: Graph(self.dictionary)}
        self._queries: list[tuple[ContinuousQuery, QueryRun]] = []
        self._before = NEVER
        """All ticks before this one have passed."""
        self._largest_ms: int | None = None
        self._passed_ms: int | None = None
        self._held: list[tuple[int, int, _Element | _GraphChange]] = []
        self._arrivals = 0
        self._rejected: list[Rejected] = []
        self._counts = {"elements": 0, "triples": 0, "kept": 0, "changes": 0, "late": 0, "rejected": 0}
        self._until_housekeeping = _HOUSEKEEPING_EVERY

    # Datasets ---------------------------------------------------------------------------------------------------------

    def load(
        self, source: object, graph: str | None = None, *, format: str | None = None, base: str | None = None
    ) -> int:
        """Puts RDF into the datasets as they stand now; gives how many triples were new.

        `graph` takes what the source has in its default graph; named graphs of the source keep their names.
        """
        by_graph: dict[str | None, list[Triple]] = {}
        for quad in read_quads(source, format=format, base=base, on_rejected=self._set_aside, strict=self._strict):
            name = getattr(quad.graph_name, "value", None)
            by_graph.setdefault(_graph_iri(graph) if name is None else str(name), []).append(quad.triple)
        added = 0
        for name, triples in by_graph.items():
            for some in _batched(triples, 1 << 16):
                change = _GraphChange(name, self._encoder.encode_all(some), insert=True)
                added += self._change_graph(change, self._now_tick())
        self._housekeeping()
        return added

    def insert(self, triples: object, at_ms: int | None = None, graph: str | None = None) -> None:
        """Triples enter a graph at a time; without one, now."""
        self._offer_change(triples, at_ms, graph, insert=True)

    def delete(self, triples: object, at_ms: int | None = None, graph: str | None = None) -> None:
        """Triples leave a graph at a time; without one, now."""
        self._offer_change(triples, at_ms, graph, insert=False)

    def _offer_change(self, triples: object, at_ms: int | None, graph: str | None, *, insert: bool) -> None:
        time_ms = self.clock_ms if at_ms is None else checked_time(at_ms)
        change = _GraphChange(_graph_iri(graph), self._encoder.encode(triples).triples, insert)
        self._check_pending()
        self._offer(time_ms, change, lambda: f"graph {graph or 'default'}")

    # Queries ----------------------------------------------------------------------------------------------------------

    def register(
        self,
        text: str,
        output: str | None = None,
        on_answer: Callable[[Answer], object] | None = None,
        base: str | None = None,
    ) -> ContinuousQuery:
        """Starts a continuous query: it sees the datasets as they are and the streams from now on."""
        handle, run = self._make(text, output, on_answer, base, self.clock_ms)
        for iri in run.streams:
            self._summarise(self._streams[iri])
        contents = {name: graph.triples() for name, graph in self._graphs.items()}
        run.start(contents, self.clock_ms, self._before - 1)
        return handle

    def _make(
        self,
        text: str,
        output: str | None,
        on_answer: Callable[[Answer], object] | None,
        base: str | None,
        now_ms: int,
    ) -> tuple[ContinuousQuery, QueryRun]:
        """A query with its run, among the others but without any state."""
        query = parse_query(text, base)
        chosen = query.output if output is None else output_named(output)
        plan = conjunction_of(query)
        evaluator = Evaluator(self.dictionary, now_ms=now_ms, base=base)
        operator = ConjunctionOperator(plan, self.dictionary, evaluator, lazy=self._lazy, adaptive=self._adaptive)
        handle = ContinuousQuery(self, query, text, chosen, on_answer)
        handle.registered_with = (base, now_ms)
        run = QueryRun(query, chosen, operator, sources_of(query), self.dictionary, handle.emit, self._t0_ms)
        handle.attach(run)
        self._queries.append((handle, run))
        for iri in run.streams:
            self._streams.setdefault(iri, _Stream(iri)).runs.append((handle, run))
        return handle, run

    def close_query(self, query: ContinuousQuery) -> None:
        for handle, run in self._queries:
            if handle is query:
                handle.detach()
                run.close(self._now_tick())
                self._queries.remove((handle, run))
                for iri in run.streams:
                    self._streams[iri].runs.remove((handle, run))
                    self._summarise(self._streams[iri])
                return

    def catch_up(self, query: ContinuousQuery) -> None:
        run = query.run
        if run is not None:
            run.pass_time(self._before)

    def _summarise(self, stream: _Stream) -> None:
        """What anyone who reads the stream may match; None keeps everything."""
        runs = [run for _, run in stream.runs]
        # A count of triples counts each once, which only those who see all of them can do.
        counted = any(
            isinstance(w.window, TriplesWindow)
            for run in runs
            for w in run.query.windows
            if w.stream.value == stream.iri
        )
        # What is held may be processed after a query was registered that asks for it.
        if not self._summary or self._lateness_ms or counted or any(run.needs_everything for run in runs):
            stream.summary = None
            return
        stream.summary = Summary([c for run in runs for c in run.constants(stream.iri)])

    # Streams ----------------------------------------------------------------------------------------------------------

    def push(self, stream: str, triples: object, at_ms: int) -> None:
        """One stream element, atomic: all its triples enter at once."""
        time_ms = checked_time(at_ms)
        state = self._stream(stream)
        intake = self._encoder.encode(triples, state.summary)
        self._check_pending()
        self._offer(time_ms, _Element(state.iri, intake), lambda: state.iri)

    def push_table(self, stream: str, table: pa.Table) -> None:
        """Elements as Arrow: s, p, o in N-Triples syntax, at_ms, and optionally element, equal for rows of one element."""
        self.read(stream, table)

    def read(
        self,
        stream: str,
        source: object,
        *,
        format: str | None = None,
        time: str | None = None,
        element: str | None = None,
        base: str | None = None,
    ) -> None:
        """A whole source of elements, at full speed: a file, folder, glob, bytes, Arrow or an iterable."""
        state = self._stream(stream)
        rate = None if self._lateness_ms else rate_of(time, element)
        sources = None if rate is None else line_sources(source, format, element, self._set_aside)
        if rate is not None and sources is not None:
            self._read_lines(state, sources, rate)
            return
        elements = read_elements(
            source,
            format=format,
            time=time,
            element=element,
            base=base,
            on_rejected=self._set_aside,
            strict=self._strict,
        )
        for some in _batched(elements, _ELEMENTS_A_BATCH):
            self._check_pending()
            self._read_batch(state, some)

    def _read_batch(self, stream: _Stream, elements: list[StreamElement]) -> None:
        for element in elements:
            intake = self._encoder.encode(element.triples, stream.summary)
            self._offer(checked_time(element.at_ms), _Element(stream.iri, intake), lambda: stream.iri)

    def _read_lines(self, stream: _Stream, sources: list[LineSource], rate: Fraction) -> None:
        """Lines at a rate, straight from the scanner to the queries."""
        statements = 0
        for source in sources:
            graphs = source.format is Format.N_QUADS
            scanner = Scanner(self.dictionary, graphs=graphs, summary=stream.summary, scope=self._encoder.scope())
            for found, before in scanned(source, scanner):
                if found.errors:
                    self._malformed(source, found)
                after = scanner.statements
                if after == before:
                    continue
                self._check_pending()
                counts = (before + statements, after + statements, stream.elements, stream.triples)
                moved = replace(found, index=found.index + statements) if statements else found
                batch = batch_at_rate(stream.iri, moved, counts, rate, sparse=all(r.is_timed for _, r in stream.runs))
                self._offer_batch(stream, batch, after - before)
            statements += scanner.statements

    def _malformed(self, source: LineSource, found: Scanned) -> None:
        if self._strict:
            line, column, reason, text = found.errors[0]
            raise DataError(reason, source=source.name, line=line, column=column, text=text)
        set_aside(source, found, self._set_aside)

    def _offer_batch(self, stream: _Stream, batch: ElementBatch, elements: int) -> None:
        """Elements in time order, as one; those that are late are set aside first."""
        checked_time(int(batch.at_ms[-1]))
        point = max(
            self._largest_ms if self._largest_ms is not None else NEVER,
            self._passed_ms + 1 if self._passed_ms is not None else NEVER,
        )
        late = int(np.searchsorted(batch.at_ms, point))
        if late:
            for place in range(late):
                one = batch.slice(place, place + 1)
                intake = Intake(one.triples, np.zeros(len(one.triples), np.int64), 1)
                self._late(int(one.at_ms[0]), _Element(stream.iri, intake), stream.iri)
            if late == len(batch):
                return
            batch = batch.slice(late, len(batch))
        first, last = int(batch.at_ms[0]), int(batch.at_ms[-1])
        self._largest_ms = last
        self._pass_time(tick(first, ELEMENT))
        stream.elements += elements
        stream.triples += elements
        self._counts["elements"] += elements
        self._counts["triples"] += elements
        self._counts["kept"] += len(batch.triples)
        for handle, run in stream.runs:
            handle.count(elements, len(batch.triples))
            run.elements(batch)
        self._pass_time(tick(last, ELEMENT) + 1)
        self._housekeeping()

    # Time -------------------------------------------------------------------------------------------------------------

    def advance_to(self, at_ms: int) -> None:
        """Time passes without an element: everything up to and including this millisecond is over."""
        time_ms = checked_time(at_ms)
        self._release(time_ms)
        self._passed_ms = time_ms if self._passed_ms is None else max(self._passed_ms, time_ms)
        self._pass_time(tick(time_ms, GRID) + 1)
        self._catch_up_all()

    def finish(self) -> None:
        """Input has ended: what is held is processed, and time reaches the last end of anything a query sees."""
        if self._held:
            self._release(max(at_ms for at_ms, _, _ in self._held))
        end = max((run.last_end() for _, run in self._queries), default=NEVER)
        if end > NEVER:
            self._pass_time(tick(time_of(end), ELEMENT))
        self._catch_up_all()
        self._housekeeping()

    def _pass_time(self, before: int) -> None:
        self._before = max(self._before, before)

    def _catch_up_all(self) -> None:
        for _, run in self._queries:
            run.pass_time(self._before)

    def _now_tick(self) -> int:
        """The tick of something that happens now, after all that has happened."""
        return max(self._before, tick(self.clock_ms, ELEMENT))

    # Order ------------------------------------------------------------------------------------------------------------

    def _offer(self, at_ms: int, what: _Element | _GraphChange, source: Callable[[], str]) -> None:
        """Takes something that happens at a time, unless that time has passed."""
        largest = self._largest_ms
        point = None if largest is None else largest - self._lateness_ms
        if (point is not None and at_ms < point) or (self._passed_ms is not None and at_ms <= self._passed_ms):
            self._late(at_ms, what, source())
            return
        if largest is None or at_ms > largest:
            self._largest_ms = largest = at_ms
        if not self._lateness_ms and not self._held:
            self._process(at_ms, what)
            return
        self._hold(what)
        self._arrivals += 1
        heapq.heappush(self._held, (at_ms, self._arrivals, what))
        self._release(largest - self._lateness_ms)
        self._pass_time(tick(largest - self._lateness_ms, ELEMENT))

    def _release(self, until_ms: int) -> None:
        while self._held and self._held[0][0] <= until_ms:
            at_ms, _, what = heapq.heappop(self._held)
            self._process(at_ms, what)
            triples = what.intake.triples if isinstance(what, _Element) else what.triples
            self.dictionary.release(triples.ravel(), tick(at_ms, ELEMENT))

    def _hold(self, what: _Element | _GraphChange) -> None:
        triples = what.intake.triples if isinstance(what, _Element) else what.triples
        self.dictionary.hold(triples.ravel())

    def _process(self, at_ms: int, what: _Element | _GraphChange) -> None:
        at_tick = tick(at_ms, ELEMENT)
        self._pass_time(at_tick)
        if isinstance(what, _Element):
            self._element(what, at_ms)
        else:
            self._change_graph(what, at_tick)
        self._pass_time(at_tick + 1)
        self._until_housekeeping -= 1
        if self._until_housekeeping <= 0:
            self._housekeeping()

    def _element(self, element: _Element, at_ms: int) -> None:
        stream = self._stream(element.stream)
        intake = element.intake
        batch = ElementBatch(
            stream.iri,
            np.array([at_ms], np.int64),
            intake.triples,
            np.zeros(len(intake.triples), np.int64),
            intake.place + stream.triples + 1,
            np.array([stream.triples + intake.total], np.int64),
            stream.triples,
            stream.elements + 1,
        )
        stream.elements += 1
        stream.triples += intake.total
        self._counts["elements"] += 1
        self._counts["triples"] += intake.total
        self._counts["kept"] += len(intake.triples)
        for handle, run in stream.runs:
            handle.count(1, len(intake.triples))
            run.elements(batch)

    def _change_graph(self, change: _GraphChange, at_tick: int) -> int:
        graph = self._graphs.get(change.graph)
        if graph is None:
            graph = self._graphs[change.graph] = Graph(self.dictionary)
        effective = graph.insert(change.triples) if change.insert else graph.delete(change.triples, at_tick)
        self._counts["changes"] += len(effective)
        if len(effective):
            for _, run in self._queries:
                if run.reads_graph(change.graph):
                    run.graph_changed(change.graph, effective, 1 if change.insert else -1, at_tick)
        return len(effective)

    def _stream(self, iri: str) -> _Stream:
        stream = self._streams.get(iri)
        if stream is None:
            name = resolve(DEFAULT_BASE, iri)
            stream = self._streams.get(name)
            if stream is None:
                stream = self._streams[name] = _Stream(name)
                self._summarise(stream)
        return stream

    # Memory -----------------------------------------------------------------------------------------------------------

    def _housekeeping(self) -> None:
        """Brings all queries up to date and lets the dictionary forget what no one can need any more."""
        self._until_housekeeping = _HOUSEKEEPING_EVERY
        self._catch_up_all()
        oldest = [query.oldest_pending_ms for query, _ in self._queries]
        waiting = min((tick(ms, 0) for ms in oldest if ms is not None), default=self._before)
        self.dictionary.forget_before(min(self._before, waiting))
        self.dictionary.settle()

    def _check_pending(self) -> None:
        pending = sum(query.pending for query, _ in self._queries)
        if pending >= self._max_pending:
            raise PendingLimitError(
                f"{pending} answers wait to be taken, max_pending is {self._max_pending}; "
                "take them, give register an on_answer, or raise max_pending."
            )

    # Snapshots --------------------------------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """The whole state, versioned: what `Engine.restore` continues from. Callbacks are not part of it."""
        self._housekeeping()
        ids, terms, keep_until, holds = self.dictionary.dump()
        held = [
            (at_ms, number, what.stream, what.intake.triples, what.intake.place, what.intake.total)
            if isinstance(what, _Element)
            else (at_ms, number, what.graph, what.triples, what.insert)
            for at_ms, number, what in self._held
        ]
        state = {
            "options": self._options,
            "terms": (ids, "\n".join(str(t) for t in terms.to_pylist()).encode(), keep_until, holds, self.dictionary.mark),
            "graphs": [(name, graph.triples()) for name, graph in self._graphs.items()],
            "streams": [(s.iri, s.elements, s.triples) for s in self._streams.values()],
            "before": self._before,
            "largest_ms": self._largest_ms,
            "passed_ms": self._passed_ms,
            "held": held,
            "arrivals": self._arrivals,
            "counts": self._counts,
            "queries": [{**query.dump(), "run": run.dump()} for query, run in self._queries],
        }
        return pack(state)

    @classmethod
    def restore(cls, data: bytes) -> Engine:
        """An engine that goes on where a snapshot was taken; its queries are in `queries`, in order of registration."""
        state = unpack(data)
        engine = cls(**state["options"])
        ids, terms, keep_until, holds, mark = state["terms"]
        texts = terms.decode().split("\n") if len(ids) else []
        engine.dictionary.load(ids, pa.array(texts, pa.string()), keep_until, holds, mark)
        for name, triples in state["graphs"]:
            graph = engine._graphs.setdefault(name, Graph(engine.dictionary))
            graph.restore(np.ascontiguousarray(triples))
        for iri, elements, triples in state["streams"]:
            engine._streams[iri] = _Stream(iri, elements=elements, triples=triples)
        for kept in state["queries"]:
            query, run = engine._make(kept["text"], kept["output"], None, kept["base"], kept["now_ms"])
            for matcher in run.operator.matchers.values():
                matcher.forget_holds(mark)
            run.load(kept["run"])
            query.load(kept)
        for stream in engine._streams.values():
            engine._summarise(stream)
        engine._before, engine._arrivals = state["before"], state["arrivals"]
        engine._largest_ms, engine._passed_ms = state["largest_ms"], state["passed_ms"]
        engine._counts = state["counts"]
        for at_ms, number, target, *rest in state["held"]:
            what: _Element | _GraphChange
            what = _Element(target, Intake(*rest)) if len(rest) == 3 else _GraphChange(target, rest[0], rest[1])
            heapq.heappush(engine._held, (at_ms, number, what))
        return engine

    @property
    def queries(self) -> tuple[ContinuousQuery, ...]:
        """The registered queries, in order of registration."""
        return tuple(query for query, _ in self._queries)

    # What was set aside -----------------------------------------------------------------------------------------------

    def rejected(self) -> list[Rejected]:
        """What was set aside since the last call: source, place, reason, text."""
        found, self._rejected = self._rejected, []
        return found

    def _set_aside(self, rejected: Rejected) -> None:
        self._counts["rejected"] += 1
        if len(self._rejected) < _MOST_REJECTED:
            self._rejected.append(rejected)

    def _late(self, at_ms: int, what: _Element | _GraphChange, source: str) -> None:
        point = max(
            (self._largest_ms or 0) - self._lateness_ms, self._passed_ms + 1 if self._passed_ms is not None else NEVER
        )
        reason = f"late: its time is {at_ms} ms, when only {point} ms and later was still taken"
        if self._strict:
            raise LateElementError(f"{source}: {reason}")
        self._counts["late"] += 1
        triples = what.intake.triples if isinstance(what, _Element) else what.triples
        text = "\n".join(" ".join(row) + " ." for row in self._texts(triples[:10]))
        if len(self._rejected) < _MOST_REJECTED:
            self._rejected.append(Rejected(source, None, None, reason, text))

    def _texts(self, triples: npt.NDArray[np.int64]) -> list[list[str]]:
        return [[str(t) for t in self.dictionary.decode(np.ascontiguousarray(row)).to_pylist()] for row in triples]

    @property
    def stats(self) -> dict[str, int]:
        """Counts since the start; `stored` is what queries keep now, `terms` what the dictionary knows."""
        self._catch_up_all()
        return {
            **self._counts,
            "stored": sum(run.stored for _, run in self._queries),
            "answers": sum(query.stats["answers"] for query, _ in self._queries),
            "held": len(self._held),
            "queries": len(self._queries),
            "terms": self.dictionary.stats()["live"],
        }

    @property
    def clock_ms(self) -> int:
        """The time that processing has reached; t0 if nothing came yet."""
        return self._t0_ms if self._before == NEVER else time_of(self._before - 1)


def checked_time(at_ms: object) -> int:
    """A time in milliseconds, or a DataError that says what is wrong with it."""
    if isinstance(at_ms, bool) or not isinstance(at_ms, int | np.integer):
        raise DataError(f"a time is a whole number of milliseconds, got {at_ms!r}")
    value = int(at_ms)
    if not -MOST_MS <= value <= MOST_MS:
        raise DataError(f"a time lies between -2^59 and 2^59 milliseconds, got {value}")
    return value


def output_named(name: str) -> a.Output:
    try:
        return a.Output(name.lower())
    except (ValueError, AttributeError):
        names = ", ".join(o.value for o in a.Output)
        raise OptionError(f"output is one of {names}, got {name!r}.") from None


def _graph_iri(graph: str | None) -> str | None:
    return None if graph is None else resolve(DEFAULT_BASE, graph)


def _batched(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    iterator = iter(items)
    while some := list(islice(iterator, size)):
        yield some
