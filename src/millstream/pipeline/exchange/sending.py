"""What cells send on to the second stage: rows of the parts that they run, named so that others know their change.

A cell numbers changes by itself. What it sends names an element or a change of a graph by its source, part and number
there, which are the same in all cells; expiries and what happens on grids are told by their tick. With every trigger each
cell sends one blob to each bucket, with rows or without, since all must know how far time has come.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millstream.engine.core import Core
from millstream.engine.options import Options
from millstream.engine.output.emitter import Emitter
from millstream.engine.output.reporting import Emit
from millstream.engine.queries.run import QueryRun
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.emission.emission import Reporter
from millstream.operators.dataflow.dataflow import Dataflow
from millstream.operators.ticks import ELEMENT, Column, Deltas
from millstream.pipeline.exchange.blobs import ids_of, numbers_of, open_stream, stream_of, term_column
from millstream.pipeline.job.specification import JobSpec
from millstream.pipeline.state.cell_rows import Rows
from millstream.plan.nodes import ExchangeOutput, Node

NAME = ("source", "part", "element")
"""What names a change among those of its tick, in the order in which they happen."""
_HEADER = b"millstream"
_KEEPS_ALL = 1 << 62


class Sending(Reporter):
    """Takes the place of a reporter: what a run would report is kept until it is sent, no longer than a trigger."""

    def __init__(self) -> None:
        self._deltas: list[Deltas] = []

    def report(self, deltas: Deltas, upto: int) -> None:
        if len(deltas):
            self._deltas.append(deltas.copy())

    def take(self) -> list[Deltas]:
        """What came since the last call."""
        taken, self._deltas = self._deltas, []
        return taken


class SendingEmitter(Emitter):
    """The end of a plan's parts."""

    # Output operators are for the second stage to apply.
    def _make_reporter(self, emit: Emit) -> Sending:
        return Sending()


class SendingRun(QueryRun):
    """The run of a plan's parts."""

    emitter_type = SendingEmitter


class PartCore(Core):
    """Runs a part of a query's plan."""

    def __init__(self, spec: JobSpec, plan: Node) -> None:
        super().__init__(Options(0, spec.t0_ms, _KEEPS_ALL, False, True, True, True, spec.limits))
        self._plan = plan

    def planned(self, text: str, base: str | None, output: str | None) -> Node:
        return self._plan

    def run_of(self, operator: Dataflow) -> QueryRun:
        if not isinstance(self._plan, ExchangeOutput):
            return super().run_of(operator)
        return SendingRun(operator, self.dictionary, self.options.t0_ms)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a cell has come."""

    cell: int
    passed: int
    """The tick up to which everything has happened."""
    first: tuple[int, int, int, int] | None
    """The first element of any stream, once that is certain: time, source, part, number."""
    ended: bool = False
    """Whether all sources have ended."""


@dataclass(frozen=True, slots=True)
class SentRows:
    """Rows of cells, in the ids of whoever took them."""

    part: Column
    columns: npt.NDArray[np.int64]
    tick: Column
    weight: Column
    names: Column
    """Three columns; see `NAME`."""

    def __len__(self) -> int:
        return len(self.tick)

    def pick(self, which: npt.NDArray[Any]) -> SentRows:
        return SentRows(self.part[which], self.columns[which], self.tick[which], self.weight[which], self.names[which])


class Outbox:
    """What one cell sends in a trigger."""

    def __init__(self, spec: JobSpec, cell: int, run: SendingRun) -> None:
        plan = run.only.root.step.node
        assert isinstance(plan, ExchangeOutput)
        parts = range(len(plan.parts))
        self._sends = np.array([spec.cells.sends(cell, part) for part in parts], np.bool_)
        self._cell = cell
        self._buckets = spec.cells.buckets
        self._by = spec.cells.by
        self._run = run
        self._width = run.only.root.width
        self._rows: list[tuple[Deltas, Column]] = []

    @property
    def _sending(self) -> Sending:
        reporter = self._run.only.reporter
        assert isinstance(reporter, Sending)
        return reporter

    def name(self, begins: Rows) -> None:
        """Names what the run has just given; `begins` is the first row of every element it was handed, in order."""
        first, orders = self._run.contents.orders_of_changes()
        for deltas in self._sending.take():
            names = np.full((len(deltas), len(NAME)), -1, np.int64)
            told = np.flatnonzero((deltas.tick & 3) == ELEMENT)
            # An element's order is 2k + 1; see `engine.windows.window_operators`.
            element = (orders[deltas.change[told] - first] - 1) // 2
            for i, name in enumerate(NAME):
                names[told, i] = begins[name][element]
            self._keep(deltas, names)

    def _keep(self, deltas: Deltas, names: Column) -> None:
        ours = self._sends[deltas.columns[:, 0]]
        if not ours.all():
            deltas, names = deltas.pick(ours), names[ours]
        self._rows.append((deltas, names))

    def write(
        self, passed: int, first: tuple[int, int, int, int] | None, dictionary: Dictionary, *, ended: bool
    ) -> list[bytes]:
        """A blob for each bucket with all that was named, and what time brought by itself."""
        for deltas in self._sending.take():
            assert not ((deltas.tick & 3) == ELEMENT).any()
            self._keep(deltas, np.full((len(deltas), len(NAME)), -1, np.int64))
        kept, self._rows = self._rows, []
        columns = np.concatenate([np.empty((0, self._width), np.int64), *(d.columns for d, _ in kept)])
        names = np.concatenate([np.empty((0, len(NAME)), np.int64), *(n for _, n in kept)])
        tick, weight = _joined([d.tick for d, _ in kept]), _joined([d.weight for d, _ in kept])
        rows = SentRows(columns[:, 0], columns[:, 1:], tick, weight, names)
        progress = Progress(self._cell, passed, first, ended)
        if self._buckets == 1:
            return [_written(progress, rows, dictionary)]
        to = self._bucket_of(rows, dictionary)
        return [_written(progress, rows.pick(to == bucket), dictionary) for bucket in range(self._buckets)]

    def _bucket_of(self, rows: SentRows, dictionary: Dictionary) -> Column:
        """Where each row goes: the hash of its key's content tells, and what has none goes to the first bucket."""
        key = rows.columns[np.arange(len(rows)), np.array(self._by, np.int64)[rows.part]]
        found = np.zeros(len(rows), np.int64)
        bound = np.flatnonzero(key >= 0)
        found[bound] = dictionary.hashes(key[bound]).astype(np.int64) % self._buckets
        return found


def _joined(parts: Sequence[Column]) -> Column:
    return np.concatenate([np.empty(0, np.int64), *parts])


def _written(progress: Progress, rows: SentRows, dictionary: Dictionary) -> bytes:
    columns: dict[str, pa.Array[Any]] = {
        "of": pa.array(rows.part),
        "tick": pa.array(rows.tick),
        "weight": pa.array(rows.weight),
        **{name: pa.array(np.ascontiguousarray(rows.names[:, i])) for i, name in enumerate(NAME)},
    }
    for i in range(rows.columns.shape[1]):
        columns[f"c{i}"] = term_column(np.ascontiguousarray(rows.columns[:, i]), dictionary)
    return stream_of(columns, {_HEADER: json.dumps(asdict(progress))})


def read_sent(blobs: Sequence[bytes], width: int, dictionary: Dictionary) -> tuple[list[Progress], SentRows]:
    """The blobs of a trigger: how far the cells are, and all rows in the order in which things happened."""
    progress, batches = [], []
    for data in blobs:
        with open_stream(data) as reader:
            progress.append(_progress(reader.schema))
            batches.append(reader.read_next_batch())
    part, tick, weight = (_joined([numbers_of(b, name) for b in batches]) for name in ("of", "tick", "weight"))
    names = np.column_stack([_joined([numbers_of(b, name) for b in batches]) for name in NAME])
    columns = np.empty((len(tick), width), np.int64)
    for i in range(width):
        columns[:, i] = _joined([ids_of(b, f"c{i}", dictionary) for b in batches])
    order = np.lexsort((*(names[:, i] for i in reversed(range(len(NAME)))), tick))
    return progress, SentRows(part, columns, tick, weight, names).pick(order)


def is_end(blob: bytes) -> bool:
    """Whether a cell sent it when all sources had ended."""
    with open_stream(blob) as reader:
        return _progress(reader.schema).ended


def _progress(schema: pa.Schema) -> Progress:
    fields = json.loads((schema.metadata or {})[_HEADER])
    first = None if fields["first"] is None else tuple(fields["first"])
    return Progress(fields["cell"], fields["passed"], first, fields["ended"])
