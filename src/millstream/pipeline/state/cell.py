"""One cell of a query: blobs of a trigger in, answers out; everything else about it can be dumped and loaded.

A cell does what the engine does, for the rows that are meant for it: it puts them in order, holds back what may still be
overtaken, sets aside what is late, and hands the rest to the query's run in one go. What a trigger does is a function of
the cell's state and of the blobs alone, so that going through the same blobs again gives the same state.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millstream.engine.input.input_events import GraphChange
from millstream.engine.output.reporting import CloseReporter
from millstream.engine.windows.window_state import GraphRows
from millstream.kernels.matching.elements import Elements
from millstream.kernels.matching.intake import Intake
from millstream.operators import stored
from millstream.operators.ticks import ELEMENT, tick
from millstream.pipeline.datasets.static import StaticData
from millstream.pipeline.exchange.blobs import TERMS, graph_of, ids_of, numbers_of, read_blob, read_headers
from millstream.pipeline.exchange.packing import BEGINS
from millstream.pipeline.exchange.sending import Outbox, PartCore, SendingRun
from millstream.pipeline.job.specification import JobSpec
from millstream.pipeline.state.cell_graphs import CellGraphs
from millstream.pipeline.state.cell_rows import COLUMNS, Constants, Rows, begins_of, ids, in_order, joined, no_rows, picked
from millstream.pipeline.state.clock import FIRST_OF_ALL, Clock, Seen, times_of
from millstream.pipeline.state.keyed_rows import KeyedRows
from millstream.pipeline.state.late_rows import LateRows
from millstream.pipeline.state.retention import Retention
from millstream.pipeline.state.trigger_counts import NOTHING, Counts, counts_of
from millstream.plan.distribute.partitioning import waits_for_streams

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a trigger brought."""

    answers: pa.Table
    late: pa.Table | None
    """Triples of elements that came too late, told by this cell: source, part, element, at_ms, text."""
    sent: list[bytes]
    """A blob for each bucket of the second stage."""
    needed: list[bytes]
    """What must be kept of the trigger's own blobs."""
    end: int
    """From which tick on nothing of them matters."""
    counts: Counts = NOTHING


class Cell:
    """The state of one cell."""

    def __init__(self, spec: JobSpec, number: int, static: StaticData | None = None) -> None:
        self._prepare(spec, number)
        self._constants = Constants(spec, self._core.dictionary)
        static_rows = self._static(static)
        given = None if static is None else static.share(spec, number, self._core.dictionary)
        self._query, self._run = self._core.registry.make(spec.text, spec.output, spec.base, spec.now_ms)
        self._outbox = self._make_outbox()
        if spec.cells.whole:
            self._core.registry.start(self._run, given)
        else:
            self._run.start_rows(static_rows, self._core.before - 1, given)
        # Windows first close after the first element, and where nothing holds before it there is nothing to tell.
        nothing_before = not spec.cells.whole and (self._closes_windows or waits_for_streams(spec.plan))
        if self._outbox is not None or nothing_before:
            self._run.report_initial()
        self._core.housekeeping()

    @property
    def _closes_windows(self) -> bool:
        return isinstance(self._run.only.reporter, CloseReporter)

    def _prepare(self, spec: JobSpec, number: int) -> None:
        self._spec = spec
        self._number = number
        plan = spec.plan if spec.stages is None else spec.stages.cells
        self._core = PartCore(spec, plan)
        self._ends = Retention(spec)
        self._late = LateRows(spec, number)
        self._keyed = KeyedRows(spec, self._core.dictionary)
        rates, ordered = [s.fraction for s in spec.sources], [s.ordered for s in spec.sources]
        self.clock = Clock(rates, ordered, spec.lateness_ms)
        self._held = no_rows()
        self._finished = False
        self._since_ms = FIRST_OF_ALL
        self._graphs = CellGraphs(self._core.dictionary)

    def _make_outbox(self) -> Outbox | None:
        return Outbox(self._spec, self._number, self._run) if isinstance(self._run, SendingRun) else None

    # Datasets ---------------------------------------------------------------------------------------------------------

    def _static(self, static: StaticData | None) -> list[GraphRows]:
        """The part of the datasets that this cell needs."""
        rows: list[GraphRows] = []
        if static is not None and self._spec.cells.whole:
            for graph, triples in static.triples(self._core.dictionary):
                self._core.change_graph(graph, Intake(triples), True, self._core.now_tick)
        elif static is not None:
            for graph, triples, pattern in static.routed(self._spec, self._number, self._core.dictionary):
                passed, zeros = self._core.before - 1, np.zeros(len(pattern), np.int64)
                rows.append(self._graphs.effective(GraphRows(graph, triples, pattern, zeros + passed, zeros + 1, zeros)))
        return rows

    def at_start(self) -> bytes:
        """What a cell of the parts that are evaluated ahead has found, for whoever puts the rows of all cells together."""
        assert self._outbox is not None
        (blob,) = self._outbox.write(self.passed, None, self._core.dictionary, ended=False)
        return blob

    # Triggers ---------------------------------------------------------------------------------------------------------

    def take(self, blobs: list[bytes]) -> Outcome:
        """The blobs of one trigger, in any order."""
        given = [read_blob(blob) for blob in blobs]
        # Of each chunk its place among all, its blob, and which of that one's it is.
        chunks = sorted((header.place, b, c) for b, (headers, _, _) in enumerate(given) for c, header in enumerate(headers))
        told = [given[b][0][c] for _, b, c in chunks]
        passed_ms = self.clock.point[0]
        judged: dict[int, list[Seen]] = {}
        for (_, b, _), seen in zip(chunks, self.clock.see(told), strict=True):
            judged.setdefault(b, []).append(seen)
        latest: dict[int, int] = {}
        arrived, late = [], []
        for b, seen_by in judged.items():
            headers, chunk, batch = given[b]
            if not batch.num_rows:
                continue
            part, at_ms = np.array([seen.part for seen in seen_by])[chunk], times_of(batch, chunk, seen_by)
            rows = self._rows(headers[0].source, part, batch, at_ms)
            # The last state of a key counts, so what would be late happens with what came before it.
            keyed = self._keyed.is_keyed(headers[0].source)
            lateness_ms = 0 if keyed else self._spec.lateness_ms
            floors = [max(passed_ms, FIRST_OF_ALL if s.before_ms is None else s.before_ms - lateness_ms) for s in seen_by]
            least = np.array(floors, np.int64)[chunk]
            if "seen" in batch.schema.names:
                least = np.maximum(least, numbers_of(batch, "seen") - lateness_ms)
            if keyed:
                rows["at_ms"] = np.maximum(rows["at_ms"], least)
            is_late = rows["at_ms"] < least
            if is_late.any():
                late.append(picked(rows, is_late))
                rows = picked(rows, ~is_late)
            if len(rows["at_ms"]):
                latest[b] = int(rows["at_ms"].max())
                arrived.append(rows)
        for rows in arrived:
            self._core.dictionary.hold(self._terms(rows))
        self._held = joined([self._held, *arrived])
        self.clock.advance()
        self._process(self._due())
        if self.clock.ended and not self._finished:
            self._finished = True
            self._finish()
        seen_of = [(headers, latest.get(b)) for b, (headers, _, _) in enumerate(given)]
        sent: list[bytes] = []
        if self._outbox is not None:
            sent = self._outbox.write(self.passed, self._first(), self._core.dictionary, ended=self._finished)
        needed, end = self._ends.needed(blobs, seen_of, self.passed)
        late_table = self._late.table(joined(late), self._core.dictionary) if late else None
        # All cells are told the same, and the first tells it.
        counts = NOTHING if self._number else counts_of(told, self.clock)
        outcome = Outcome(self._query.take_table(), late_table, sent, needed, end, counts)
        self._core.housekeeping()
        return outcome

    def parted(self, blobs: list[bytes]) -> tuple[list[bytes], list[bytes]]:
        """The blobs of a trigger without those with which everything ends, and those."""
        headers = [read_headers(blob) for blob in blobs]
        ends = [any(header.ended for header in some) for some in headers]
        if not any(ends) or not self.clock.ends_with([header for some in headers for header in some]):
            return blobs, []
        return list(compress(blobs, (not end for end in ends))), list(compress(blobs, ends))

    def _rows(self, source: int, part: Ids, batch: pa.RecordBatch, at_ms: Ids) -> Rows:
        size = batch.num_rows
        rows = {name: ids_of(batch, name, self._core.dictionary) for name in TERMS}
        whole = self._spec.cells.whole
        rows["pattern"] = np.full(size, -1, np.int64) if whole else numbers_of(batch, "pattern")
        if not whole:
            self._constants.fill(rows)
        rows["at_ms"], rows["part"] = at_ms, part
        rows["source"] = np.full(size, source, np.int64)
        rows["element"] = numbers_of(batch, "element")
        rows["row"] = np.arange(size)
        rows["op"] = numbers_of(batch, "op") if "op" in batch.schema.names else np.ones(size, np.int64)
        rows["graph"] = np.full(size, -1, np.int64)
        if self._spec.reads_any_graph:
            rows["graph"] = ids_of(batch, "graph", self._core.dictionary)
        elif "graph" in batch.schema.names:
            rows["graph"] = numbers_of(batch, "graph")
        if self._keyed.is_keyed(source):
            # A key stands in all places, so that each has a term.
            begins = rows["op"] == BEGINS
            for name in TERMS[1:]:
                rows[name][begins] = rows[TERMS[0]][begins]
        return rows

    def _terms(self, rows: Rows) -> Ids:
        """The ids of all terms of rows, names of graphs included where rows carry them."""
        found: Ids = ids(rows).ravel()
        if self._spec.reads_any_graph:
            found = np.concatenate([found, rows["graph"][rows["graph"] >= 0]])
        return found

    def _graph(self, number: int) -> str | None:
        """The graph that a row concerns."""
        if not self._spec.reads_any_graph:
            return self._spec.graphs[number]
        return graph_of(str(self._core.dictionary.decode(np.array([number], np.int64))[0]))

    def _due(self) -> Rows:
        """What can no longer be overtaken, in order; the rest stays."""
        held = self._held
        due = self.clock.is_due(held["at_ms"], held["source"], held["part"])
        if due.all():
            found, self._held = held, no_rows()
        else:
            found, self._held = picked(held, due), picked(held, ~due)
        return in_order(found)

    def _process(self, rows: Rows) -> None:
        point_ms = self.clock.point[0]
        last = tick(int(rows["at_ms"][-1]), ELEMENT) if len(rows["at_ms"]) else None
        changes = self._keyed.changes(rows)
        if self._spec.cells.whole:
            self._process_whole(changes)
        else:
            point = tick(point_ms, ELEMENT)
            self._process_tagged(changes, point if last is None else max(point, last))
        if last is not None:
            self._core.dictionary.release(self._terms(rows), last)
            self._core.pass_time(last)
        if point_ms > -(1 << 60):
            self._core.pass_time(tick(point_ms, ELEMENT))
        self._core.catch_up_all()

    def _process_tagged(self, rows: Rows, upto: int) -> None:
        first = self._first()
        run = self._run
        if first is not None and (tick(first[0], ELEMENT) <= upto):
            if isinstance(run.only.reporter, CloseReporter):
                run.only.reporter.first_element(first[0], self._since_ms)
            if run.has_first_change_ahead:
                # The first change is reported together with what the datasets gave, also where it brings no row.
                is_first = np.ones(len(rows["at_ms"]), np.bool_)
                for name, value in zip(("source", "part", "element"), first[1:], strict=True):
                    is_first &= rows[name] == value
                self._together(picked(rows, is_first), tick(first[0], ELEMENT))
                rows = picked(rows, ~is_first)
        if len(rows["at_ms"]):
            self._together(rows, tick(int(rows["at_ms"][-1]), ELEMENT))

    def _together(self, rows: Rows, last: int) -> None:
        begins = begins_of(rows)
        order = np.cumsum(begins) - 1
        batches, changes = [], []
        for number, source in enumerate(self._spec.sources):
            ours = rows["source"] == number
            if not ours.any():
                continue
            # Mostly there is one source, and nothing to copy.
            some, turn = (rows, order) if ours.all() else (picked(rows, ours), order[ours])
            if source.changes:
                changes.extend(self._changes(some, turn))
            else:
                assert source.name is not None
                batches.append(self._batch(source.name, some, turn, tagged=True))
        self._run.together(batches, changes, last)
        if self._outbox is not None:
            self._outbox.name(picked(rows, begins))

    def _changes(self, rows: Rows, order: Ids) -> list[GraphRows]:
        found = []
        for number in np.unique(rows["graph"]).tolist():
            ours = rows["graph"] == number
            some = picked(rows, ours)
            ticks = some["at_ms"] * 4 + ELEMENT
            graph = self._graph(number)
            found.append(
                self._graphs.effective(GraphRows(graph, ids(some), some["pattern"], ticks, some["op"], order[ours]))
            )
        return found

    def _batch(
        self, stream: str, rows: Rows, order: Ids | None, *, tagged: bool, before: int = 0, first: int = 1
    ) -> Elements:
        begins = begins_of(rows)
        element = np.cumsum(begins) - 1
        totals = before + np.cumsum(np.bincount(element))
        number = before + 1 + np.arange(len(element))
        at_ms, pattern = rows["at_ms"][begins], rows["pattern"] if tagged else None
        turns = None if order is None else order[begins]
        return Elements(stream, at_ms, ids(rows), element, number, totals, before, first, turns, pattern)

    def _process_whole(self, rows: Rows) -> None:
        """Everything in order, as the engine itself would."""
        bounds = np.flatnonzero(np.diff(rows["source"])) + 1
        for some in np.split(np.arange(len(rows["source"])), bounds):
            if not len(some):
                continue
            part = picked(rows, some)
            source = self._spec.sources[int(part["source"][0])]
            if source.changes:
                begins = np.flatnonzero(begins_of(part))
                for one in np.split(np.arange(len(part["op"])), begins[1:]):
                    graph = self._graph(int(part["graph"][one[0]]))
                    change = GraphChange(graph, Intake(ids(picked(part, one))), insert=bool(part["op"][one[0]] > 0))
                    self._core.process(int(part["at_ms"][one[0]]), change)
            else:
                assert source.name is not None
                stream = self._core.stream(source.name)
                before, first = stream.triples, stream.elements + 1
                batch = self._batch(source.name, part, None, tagged=False, before=before, first=first)
                self._core.process_batch(stream, batch, len(batch))

    def _first(self) -> tuple[int, int, int, int] | None:
        """The first element of any stream that the query reads, once that is certain: time, source, part, number."""
        read = {w.stream.value for w in self._spec.query.windows}
        found = []
        for number, (source, clock) in enumerate(zip(self._spec.sources, self.clock.sources, strict=True)):
            if not source.changes and source.name in read and clock.first is not None:
                at_ms, part, element = clock.first
                found.append((at_ms, number, part, element))
        first = min(found, default=None)
        if first is None or not self.clock.is_due(*(np.array([number]) for number in first[:3])).all():
            return None
        return first

    def _finish(self) -> None:
        for source, clock in zip(self._spec.sources, self.clock.sources, strict=True):
            if not source.changes and clock.largest_ms is not None and source.name is not None:
                self._run.contents.see(source.name, clock.largest_ms)
        self._core.reach_last_end()

    @property
    def stats(self) -> dict[str, Any]:
        """How far the job is, as every cell knows it."""
        clock = self.clock
        return {"elements": sum(s.elements for s in clock.sources), "at_ms": clock.at_ms, "more": False}

    # State ------------------------------------------------------------------------------------------------------------

    def mark(self) -> dict[str, Any]:
        """What a slice needs to know of the time before it."""
        return self.clock.dump()

    def go_on_from(self, clock: dict[str, Any]) -> None:
        """Begins where another cell was, whose rows before that have all ended: windows that closed do not close again."""
        self.clock.load(clock)
        self._since_ms = self.clock.point[0]

    @property
    def passed(self) -> int:
        """The tick up to which everything has happened."""
        return self._core.before - 1

    def dump(self) -> dict[str, Any]:
        """All of it, in plain values and arrays."""
        return {
            "core": self._core.dump(),
            "clock": self.clock.dump(),
            "held": [self._held[name] for name in COLUMNS],
            "finished": self._finished,
            "keyed": self._keyed.dump(),
            "contents": self._graphs.dump(),
        }

    @classmethod
    def load(cls, spec: JobSpec, number: int, state: dict[str, Any]) -> Cell:
        """A cell that goes on where another was dumped."""
        cell = cls.__new__(cls)
        cell._prepare(spec, number)
        cell._core.load(state["core"])
        (cell._query,), (cell._run,) = cell._core.registry.queries, cell._core.runs
        cell._outbox = cell._make_outbox()
        cell.clock.load(state["clock"])
        size = len(state["held"][0])
        cell._held = {name: stored.column(some, size) for name, some in zip(COLUMNS, state["held"], strict=True)}
        cell._core.dictionary.hold(cell._terms(cell._held))
        cell._finished = stored.flag(state["finished"])
        cell._graphs.load(state["contents"])
        # States from before there were such sources have none.
        cell._keyed.load(state.get("keyed", []))
        cell._constants = Constants(spec, cell._core.dictionary)
        return cell
