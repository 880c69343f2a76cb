"""The engine as its user sees it: streams, datasets and continuous queries in one process, in event time.

There is one clock, moved by what comes in. Everything is processed by time, equal times in arrival order; with a lateness
it is held until the largest time seen, less the lateness, has reached it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from fractions import Fraction
from itertools import islice, pairwise
from typing import TypeVar

import numpy as np
import pyarrow as pa
from pyoxigraph import Triple

from millstream.engine.answers import Answer
from millstream.engine.batch import ElementBatch
from millstream.engine.core import Core, Element, GraphChange, Happening, Stream
from millstream.engine.intake import Encoder, Intake
from millstream.engine.lines import (
    LineSource,
    batch_at_rate,
    first_at,
    line_sources,
    rate_of,
    scanned,
    set_aside,
    time_at,
)
from millstream.engine.options import Options, checked_time, graph_iri
from millstream.engine.ordering import Ordering
from millstream.engine.query import ContinuousQuery
from millstream.engine.snapshot import pack, unpack
from millstream.engine.tables import clean_table, table_batch
from millstream.errors import DataError, LateElementError
from millstream.kernels.scanner import Scanned, Scanner
from millstream.operators.rows import ELEMENT, GRID, tick
from millstream.rdf import Format, Rejected, read_changes, read_elements, read_quads

DEFAULT_MAX_PENDING = 10_000_000
_TRIPLES_A_LOAD = 1 << 16
_MOST_REJECTED = 100_000

_T = TypeVar("_T")


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

        `summary`, `lazy` and `adaptive` switch off early dropping, doing nothing while a view is empty, and choosing
        the order at each probe; they are for comparisons, answers never change.
        """
        self._options = Options(lateness_ms, t0_ms, max_pending, strict, summary, lazy, adaptive)
        self._core = Core(self._options)
        self._encoder = Encoder(self._core.dictionary)
        self._ordering: Ordering[Happening] = Ordering(lateness_ms)
        self._rejected: list[Rejected] = []
        self._is_copy = False

    # Datasets ---------------------------------------------------------------------------------------------------------

    def load(self, source: object, graph: str | None = None, *, format: str | None = None, base: str | None = None) -> int:
        """Puts RDF into the datasets as they stand now; gives how many triples were new.

        `graph` takes what the source has in its default graph; named graphs of the source keep their names.
        """
        sources = line_sources(source, format, "line", self._set_aside)
        if sources is not None:
            return self._load_lines(sources, graph_iri(graph))
        by_graph: dict[str | None, list[Triple]] = {}
        strict = self._options.strict
        for quad in read_quads(source, format=format, base=base, on_rejected=self._set_aside, strict=strict):
            name = getattr(quad.graph_name, "value", None)
            by_graph.setdefault(graph_iri(graph) if name is None else str(name), []).append(quad.triple)
        added = 0
        for name, triples in by_graph.items():
            for some in _batched(triples, _TRIPLES_A_LOAD):
                change = GraphChange(name, self._encoder.encode_all(some), insert=True)
                added += self._core.change_graph(change, self._core.now_tick)
        self._core.housekeeping()
        self._core.deliver()
        return added

    def _load_lines(self, sources: list[LineSource], graph: str | None) -> int:
        """N-Triples and N-Quads, straight from the scanner."""
        core, added = self._core, 0
        for source in sources:
            graphs = source.format is Format.N_QUADS
            scanner = Scanner(core.dictionary, graphs=graphs, scope=self._encoder.scope())
            for found, _ in scanned(source, scanner):
                if found.errors:
                    self._malformed(source, found)
                triples = np.column_stack([found.s, found.p, found.o])
                for name_id in [-1] if found.g is None else np.unique(found.g).tolist():
                    some = triples if found.g is None else triples[found.g == name_id]
                    # A graph named by a blank node goes by its label.
                    name = graph if name_id < 0 else core.dictionary.decode_one(name_id).strip("<>")
                    added += core.change_graph(GraphChange(name, some, insert=True), core.now_tick)
                core.housekeeping()
        core.deliver()
        return added

    def insert(self, triples: object, at_ms: int | None = None, graph: str | None = None) -> None:
        """Triples enter a graph at a time; without one, now."""
        self._offer_change(triples, at_ms, graph, insert=True)

    def delete(self, triples: object, at_ms: int | None = None, graph: str | None = None) -> None:
        """Triples leave a graph at a time; without one, now."""
        self._offer_change(triples, at_ms, graph, insert=False)

    def read_changes(
        self,
        source: object,
        graph: str | None = None,
        *,
        format: str | None = None,
        time: str | None = None,
        base: str | None = None,
    ) -> None:
        """Dataset changes in order: RDF Patch lines, or SPARQL Update with INSERT DATA and DELETE DATA.

        What does not name a graph concerns `graph`; without the option `time` all happens now.
        """
        strict = self._options.strict
        changes = read_changes(source, format=format, time=time, base=base, on_rejected=self._set_aside, strict=strict)
        for change in changes:
            name = graph if change.graph is None else change.graph.value
            self._offer_change(change.triples, change.at_ms, name, insert=change.insert)

    def _offer_change(self, triples: object, at_ms: int | None, graph: str | None, *, insert: bool) -> None:
        time_ms = None if at_ms is None else checked_time(at_ms)
        name = graph_iri(graph)
        data, scope = self._encoder.text_of(triples)

        def change(engine: Engine) -> None:
            found = engine._encoder.encode_text(data, scope, None, counted=False)
            what = GraphChange(name, found.triples, insert)
            if time_ms is None:
                engine._core.process_now(what)
            else:
                engine._offer(time_ms, what)

        if self._core.pending.may_overflow():
            self._try_out(change)
        change(self)
        self._core.deliver()

    # Queries ----------------------------------------------------------------------------------------------------------

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
        query, run = self._core.make_query(text, output, on_answer, base, self.clock_ms)
        self._core.start(run)
        self._core.deliver()
        return query

    @property
    def queries(self) -> tuple[ContinuousQuery, ...]:
        """The registered queries, in order of registration."""
        return tuple(query for query, _ in self._core.queries)

    # Streams ----------------------------------------------------------------------------------------------------------

    def push(self, stream: str, triples: object, at_ms: int) -> None:
        """One stream element, atomic: all its triples enter at once."""
        time_ms = checked_time(at_ms)
        core = self._core
        state = core.stream(stream)
        if core.pending.may_overflow():
            data, scope = self._encoder.text_of(triples)
            self._try_out(lambda engine: engine._push_text(engine._core.stream(state.iri), data, scope, time_ms))
            self._push_text(state, data, scope, time_ms)
        elif type(triples) is str:
            if not self._push_rows(state, triples, time_ms):
                self._push_text(state, *self._encoder.text_of(triples), time_ms)
        else:
            data, scope = self._encoder.text_of(triples)
            if scope or not self._push_rows(state, data.decode("utf-8", "surrogateescape"), time_ms):
                self._push_text(state, data, scope, time_ms)
        if core.undelivered:
            core.deliver()

    def _push_text(self, stream: Stream, data: bytes, scope: str, at_ms: int) -> None:
        intake = self._encoder.encode_text(data, scope, stream.summary, counted=stream.counted)
        self._offer(at_ms, Element(stream.iri, intake))

    def _push_rows(self, stream: Stream, text: str, at_ms: int) -> bool:
        """Takes an element the short way, if all queries have one and nothing is in its way."""
        lanes = stream.lanes if stream.looked_for_lanes else self._core.find_lanes(stream)
        if lanes is None or not self._ordering.is_next(at_ms):
            return False
        found = lanes.scanner.feed_whole(text)
        if found is None:
            return False
        rows, total, errors = found
        if errors:
            line, column, reason, bad = errors[0]
            raise DataError(reason, source="triples", line=line, column=column, text=bad)
        if total > 1 and len({row[:3] for row in rows}) < len(rows):
            return False
        self._ordering.see(at_ms)
        self._core.process_rows(stream, lanes, rows, at_ms, total)
        return True

    def push_table(self, stream: str, table: pa.Table) -> None:
        """Elements as Arrow: s, p, o in N-Triples syntax, at_ms, and optionally element, equal within an element."""
        if isinstance(table, pa.Table | pa.RecordBatch) and self._core.pending.may_overflow():
            self._try_out(lambda engine: engine.read(stream, table))
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
        clock_ms: Callable[[], int] | None = None,
    ) -> None:
        """A whole source of elements, at full speed: a file, folder, glob, bytes, Arrow or an iterable.

        `time` and `element` say where times come from and what an element is; `time="arrival"` asks `clock_ms`.
        """
        state = self._core.stream(stream)
        rate = None if self._options.lateness_ms else rate_of(time, element)
        sources = None if rate is None else line_sources(source, format, element, self._set_aside)
        if rate is not None and sources is not None:
            self._read_lines(state, sources, rate)
            return
        if time in (None, "column") and element is None and self._read_table(state, source):
            return
        elements = read_elements(
            source,
            format=format,
            time=time,
            element=element,
            base=base,
            on_rejected=self._set_aside,
            strict=self._options.strict,
            clock_ms=clock_ms,
        )
        for found in elements:
            self._check_pending()
            intake = self._encoder.encode(found.triples, state.summary, counted=state.counted)
            self._offer(checked_time(found.at_ms), Element(state.iri, intake))
            self._core.deliver()

    def _read_table(self, stream: Stream, table: object) -> bool:
        """A table as one batch, if nothing is wrong with it and nothing in its way."""
        clean = clean_table(table) if self._ordering.passes_through else None
        if clean is None or self._ordering.is_late(int(clean.at_ms[0])):
            return False
        checked_time(int(clean.at_ms[0]))
        self._check_pending()
        # Only who sees all triples of an element knows which of them are repeats.
        summary = None if stream.counted and len(clean.at_ms) < clean.rows else stream.summary
        scanner = Scanner(self._core.dictionary, summary=summary, scope=self._encoder.scope())
        batch = table_batch(clean, scanner, stream.iri, stream.elements, stream.triples)
        if batch is None:
            return False
        self._offer_batch(stream, batch, len(batch))
        return True

    def _read_lines(self, stream: Stream, sources: list[LineSource], rate: Fraction) -> None:
        """Lines at a rate, straight from the scanner to the queries."""
        statements = 0
        for source in sources:
            graphs = source.format is Format.N_QUADS
            scope = self._encoder.scope()
            scanner = Scanner(self._core.dictionary, graphs=graphs, summary=stream.summary, scope=scope)
            for found, before in scanned(source, scanner):
                if found.errors:
                    self._malformed(source, found)
                after = scanner.statements
                if after == before:
                    continue
                self._check_pending()
                moved = replace(found, index=found.index + statements) if statements else found
                self._offer_lines(stream, moved, before + statements, after + statements, rate)
            statements += scanner.statements

    def _offer_lines(self, stream: Stream, found: Scanned, first: int, last: int, rate: Fraction) -> None:
        """The statements of a source from one number up to another; those that are late are set aside first."""
        point = self._ordering.point_ms
        late = first if point is None else min(last, first_at(point, rate))
        bounds = np.searchsorted(found.index, np.arange(first, max(first, late) + 1)).tolist()
        for number, (low, high) in enumerate(pairwise(bounds), first):
            triples = np.column_stack([found.s[low:high], found.p[low:high], found.o[low:high]])
            self._late(time_at(number, rate), Element(stream.iri, Intake(triples, np.zeros(high - low, np.int64), 1)))
        first = max(first, late)
        if first < last:
            checked_time(time_at(last - 1, rate))
            sparse = all(run.is_timed for _, run in stream.runs)
            counts = (first, last, stream.elements, stream.triples)
            self._offer_batch(stream, batch_at_rate(stream.iri, found, counts, rate, sparse=sparse), last - first)

    def _malformed(self, source: LineSource, found: Scanned) -> None:
        if self._options.strict:
            line, column, reason, text = found.errors[0]
            raise DataError(reason, source=source.name, line=line, column=column, text=text)
        set_aside(source, found, self._set_aside)

    # Time and order ---------------------------------------------------------------------------------------------------

    @property
    def clock_ms(self) -> int:
        """The time that processing has reached; t0 if nothing came yet."""
        return self._core.clock_ms

    def advance_to(self, at_ms: int) -> None:
        """Time passes without an element: everything up to and including this millisecond is over."""
        time_ms = checked_time(at_ms)
        self._release(self._ordering.due(time_ms))
        self._ordering.pass_through(time_ms)
        self._core.pass_time(tick(time_ms, GRID) + 1)
        self._core.catch_up_all()
        self._core.deliver()

    def finish(self) -> None:
        """Input has ended: what is held is processed, and time reaches the last end of anything a query sees.

        Should more come after all, what lies before that time is late.
        """
        self._release(self._ordering.everything())
        self._core.reach_last_end()
        self._core.housekeeping()
        if self._core.has_begun:
            self._ordering.pass_through(self.clock_ms - 1)
        self._core.deliver()

    def _offer(self, at_ms: int, what: Happening) -> None:
        """Takes something that happens at a time, unless that time has passed."""
        ordering = self._ordering
        if ordering.is_late(at_ms):
            self._late(at_ms, what)
            return
        ordering.see(at_ms)
        if ordering.passes_through:
            self._core.process(at_ms, what)
            return
        self._core.dictionary.hold(_triples_of(what).ravel())
        ordering.hold(at_ms, what)
        self._release(ordering.due(ordering.reached_ms))
        self._core.pass_time(tick(ordering.reached_ms, ELEMENT))

    def _release(self, due: Iterator[tuple[int, Happening]]) -> None:
        for at_ms, what in due:
            self._core.process(at_ms, what)
            self._core.dictionary.release(_triples_of(what).ravel(), tick(at_ms, ELEMENT))

    def _offer_batch(self, stream: Stream, batch: ElementBatch, elements: int) -> None:
        """Elements in time order, as one, none of them late; `elements` counts those left out of the batch as well."""
        self._ordering.see(checked_time(int(batch.at_ms[-1])))
        self._core.process_batch(stream, batch, elements)
        self._core.deliver()

    def _try_out(self, call: Callable[[Engine], None]) -> None:
        """Makes a call on a copy first, which raises if more answers would wait than may: so the engine stays as it was."""
        if self._is_copy:
            return
        copy = Engine.restore(self.snapshot())
        copy._is_copy = True
        call(copy)
        copy._core.catch_up_all()
        pairs = zip(self.queries, copy.queries, strict=True)
        self._core.pending.check(sum(tried.pending for query, tried in pairs if query.keeps))

    def _check_pending(self) -> None:
        """For sources that are read in parts: the next is not begun when as many answers wait as may."""
        if not self._is_copy:
            self._core.pending.check(self._core.pending.waiting + 1)

    # What was set aside -----------------------------------------------------------------------------------------------

    def rejected(self) -> list[Rejected]:
        """What was set aside since the last call: source, place, reason, text."""
        found, self._rejected = self._rejected, []
        return found

    def _set_aside(self, rejected: Rejected) -> None:
        self._core.counts["rejected"] += 1
        self._keep_rejected(rejected)

    def _keep_rejected(self, rejected: Rejected) -> None:
        if len(self._rejected) < _MOST_REJECTED:
            self._rejected.append(rejected)

    def _late(self, at_ms: int, what: Happening) -> None:
        source = what.stream if isinstance(what, Element) else f"graph {what.graph or 'default'}"
        point = self._ordering.point_ms
        reason = f"late: its time is {at_ms} ms, when only {point} ms and later was still taken"
        if self._options.strict:
            raise LateElementError(f"{source}: {reason}")
        self._core.counts["late"] += 1
        decode = self._core.dictionary.decode
        rows = [decode(np.ascontiguousarray(row)).to_pylist() for row in _triples_of(what)[:10]]
        text = "\n".join(" ".join(map(str, row)) + " ." for row in rows)
        self._keep_rejected(Rejected(source, None, None, reason, text))

    @property
    def stats(self) -> dict[str, int]:
        """Counts since the start; `stored` is what queries keep now, `terms` what the dictionary knows."""
        self._core.catch_up_all()
        return {
            **self._core.totals,
            "stored": sum(run.stored for _, run in self._core.queries),
            "answers": sum(query.stats["answers"] for query in self.queries),
            "held": len(self._ordering),
            "queries": len(self._core.queries),
            "terms": self._core.dictionary.stats()["live"],
        }

    # Snapshots --------------------------------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """The whole state, versioned: what `Engine.restore` continues from. Callbacks are not part of it."""
        *seen, held = self._ordering.dump()
        flat = [
            (at_ms, number, what.stream, what.intake.triples, what.intake.place, what.intake.total)
            if isinstance(what, Element)
            else (at_ms, number, what.graph, what.triples, what.insert)
            for at_ms, number, what in held
        ]
        return pack({"options": asdict(self._options), "ordering": (*seen, flat), "core": self._core.dump()})

    @classmethod
    def restore(cls, data: bytes) -> Engine:
        """An engine that goes on where a snapshot was taken, with its queries in order of registration."""
        state = unpack(data)
        engine = cls(**state["options"])
        engine._core.load(state["core"])
        largest_ms, passed_ms, arrivals, flat = state["ordering"]
        held: list[tuple[int, int, Happening]] = [
            (at_ms, number, Element(target, Intake(*rest)) if len(rest) == 3 else GraphChange(target, *rest))
            for at_ms, number, target, *rest in flat
        ]
        engine._ordering.load(largest_ms, passed_ms, arrivals, held)
        return engine


def _triples_of(what: Happening) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return what.intake.triples if isinstance(what, Element) else what.triples


def _batched(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    iterator = iter(items)
    while some := list(islice(iterator, size)):
        yield some
