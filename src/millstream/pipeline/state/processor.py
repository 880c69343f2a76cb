"""Cells as Spark's stateful operator: a group a cell, its ledger and slices in the state store, the cell itself in memory.

Both are in one map: every state that a processor names costs each task of each trigger some hundredths of a second.

The second stage is one more such operator, after the cells and in the same batch.

Spark makes a new processor for every batch, so what lives from one to the next is kept by the module.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import (
    MapState,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)
from pyspark.sql.types import BinaryType, IntegerType, LongType, Row, StructType

from millstream.pipeline.exchange.cell_keys import keys_of
from millstream.pipeline.runtime.gc_freeze import freeze_imports
from millstream.pipeline.state.trigger_counts import COLUMNS as COUNT_COLUMNS
from millstream.pipeline.state.trigger_counts import NOTHING, late_numbers
from millstream.pipeline.state.trigger_counts import SCHEMA as COUNTS_SCHEMA

# Only workers need all of this; Spark also opens processors in a process of the driver, just to ask for their state.
if TYPE_CHECKING:
    from millstream.pipeline.datasets.static import StaticData
    from millstream.pipeline.job.specification import JobSpec
    from millstream.pipeline.runtime.broadcast import BroadcastBytes
    from millstream.pipeline.state.cell import Outcome
    from millstream.pipeline.state.change_log import ChangeLog, InMemory, StateReport

T = TypeVar("T")
OUTPUT_SCHEMA = f"kind int, blob binary, {COUNTS_SCHEMA}"
SENT_SCHEMA = f"bucket int, {OUTPUT_SCHEMA}"
ANSWERS, LATE, STATS, FLUSHED, SENT, COUNTS = 0, 1, 2, 3, 4, 5
_OUTPUT = Row("kind", "blob", *COUNT_COLUMNS)
_SENT = Row("bucket", *_OUTPUT)
_MOST_IN_MEMORY = 64
_MOST_JOBS = 16
# Not as text, which each task would ask Java to parse.
_PIECE = StructType().add("version", LongType()).add("number", IntegerType())
_DATA = StructType().add("data", BinaryType())
# Slices have versions from 1 on.
LEDGER = (0, 0)
STATE = "pieces"

_in_memory: dict[tuple[str, str, int], InMemory[Any]] = {}
_specs: dict[str, JobSpec] = {}
_statics: dict[str, StaticData] = {}


def remember(known: dict[str, T], job: str, what: T) -> None:
    """Keeps what a process knows of a job, of the last few jobs: a worker may see many."""
    known[job] = what
    while len(known) > _MOST_JOBS:
        known.pop(next(iter(known)))


def asked_in_driver() -> bool:
    """Whether this is the process of Spark's that only asks processors for their state."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec is not None and spec.name == "pyspark.sql.streaming.transform_with_state_driver_worker"


class QuietProcessor(StatefulProcessor):
    """A processor that says nothing on the terminal."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if asked_in_driver():
            # What that process says of each step it takes would be on the terminal of whoever started the job.
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for as long as the process is there

    def close(self) -> None:
        """Nothing to let go of: state is Spark's."""


class _Kept(QuietProcessor):
    """What outlives its process by a ledger and slices; cells stay in memory for the next trigger."""

    def __init__(self, job: str, spec: str) -> None:
        self._job = job
        self._text = spec

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Spark's way in."""
        self._pieces: MapState = handle.getMapState(STATE, _PIECE, _DATA)

    @property
    def spec(self) -> JobSpec:
        """The job's plan, read once a process."""
        from millstream.pipeline.job.specification import JobSpec

        known = _specs.get(self._job)
        if known is None:
            known = JobSpec.from_json(self._text)
            remember(_specs, self._job, known)
        return known

    def _take(self, log: ChangeLog[Any], number: int, blobs: list[bytes]) -> tuple[Outcome, InMemory[Any], StateReport]:
        """What a trigger brought, and what else it did."""
        place = (self._job, type(self).__name__, number)
        # Taken out first: an attempt that fails leaves nothing that could be taken for good.
        in_memory = _in_memory.pop(place, None)
        outcome, in_memory, kept = log.take(_SparkStore(self._pieces), in_memory, blobs)
        if kept.flushed is None:
            _in_memory[place] = in_memory
        while len(_in_memory) > _MOST_IN_MEMORY:
            _in_memory.pop(next(iter(_in_memory)))
        return outcome, in_memory, kept


class CellProcessor(_Kept):
    """Hands the blobs of a trigger to their cell."""

    def __init__(self, job: str, spec: str, static: BroadcastBytes | None = None) -> None:
        super().__init__(job, spec)
        self._shared = static

    @property
    def static(self) -> StaticData | None:
        """What the job's datasets hold, read once a process: only by cells, for buckets do not have it."""
        from millstream.pipeline.datasets.static import StaticData

        if self._shared is None:
            return None
        known = _statics.get(self._job)
        if known is None:
            known = StaticData.from_bytes(self._shared.value)
            remember(_statics, self._job, known)
        return known

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        """One cell in one trigger."""
        from millstream.pipeline.state.change_log import cell_log

        freeze_imports()
        spec = self.spec
        number = keys_of(spec.cells.count).index(int(key[0]))
        outcome, in_memory, kept = self._take(cell_log(spec, number, self.static), number, [row.blob for row in rows])
        end = kept.flushed
        # What is not for a bucket passes through one of them, or through none.
        keys = keys_of(spec.cells.buckets)
        sent = [outcome.sent, [] if end is None else end.sent]
        found: list[tuple[Any, ...]] = [(key, SENT, blob) for blobs in sent for key, blob in zip(keys, blobs, strict=False)]
        tables = ((ANSWERS, outcome.answers), (LATE, outcome.late), (FLUSHED, None if end is None else end.answers))
        found += [(keys[0], kind, to_bytes(table)) for kind, table in tables if table is not None and table.num_rows]
        if number == 0:
            found.append((keys[0], STATS, json.dumps(in_memory.cell.stats).encode()))
        found.append((keys[0], COUNTS, None))
        if spec.stages is None:
            yield from _counted([row[1:] for row in found], _OUTPUT, outcome, kept)
        else:
            yield from _counted(found, _SENT, outcome, kept)


class BucketProcessor(_Kept):
    """Hands what cells sent on to the second stage; the rest of what they gave passes through."""

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        """One bucket in one trigger."""
        from millstream.pipeline.state.change_log import bucket_log

        freeze_imports()
        spec = self.spec
        blobs: list[bytes] = []
        for row in rows:
            if row.kind == SENT:
                blobs.append(row.blob)
            else:
                yield _OUTPUT(*(row[name] for name in _OUTPUT))
        outcome, _, kept = self._take(bucket_log(spec), keys_of(spec.cells.buckets).index(int(key[0])), blobs)
        end = kept.flushed
        tables = ((ANSWERS, outcome.answers), (FLUSHED, None if end is None else end.answers))
        found = [(kind, to_bytes(table)) for kind, table in tables if table is not None and table.num_rows]
        yield from _counted([*found, (COUNTS, None)], _OUTPUT, outcome, kept)


def _counted(found: list[tuple[Any, ...]], make: Row, outcome: Outcome, kept: StateReport) -> Iterator[Row]:
    """Rows of blobs, the last of which has the counts of a trigger of a cell or a bucket."""
    answers = outcome.answers.num_rows + (0 if kept.flushed is None else kept.flushed.answers.num_rows)
    counts = replace(outcome.counts, answers=answers, state_bytes=kept.state_bytes, late=late_numbers(outcome.late))
    for number, values in enumerate(found, 1):
        yield make(*values, *astuple(counts if number == len(found) else NOTHING))


class _SparkStore:
    """Spark's state as what a cell keeps itself in."""

    def __init__(self, pieces: MapState) -> None:
        self._pieces = pieces

    def ledger(self) -> str | None:
        found = self._pieces.getValue(LEDGER)
        return None if found is None else bytes(found[0]).decode()

    def keep_ledger(self, text: str) -> None:
        self._pieces.updateValue(LEDGER, (text.encode(),))

    def piece(self, version: int, number: int) -> bytes | None:
        found = self._pieces.getValue((version, number))
        return None if found is None else bytes(found[0])

    def keep_piece(self, version: int, number: int, data: bytes) -> None:
        self._pieces.updateValue((version, number), (data,))

    def drop_piece(self, version: int, number: int) -> None:
        self._pieces.removeKey((version, number))


def to_bytes(table: pa.Table) -> bytes:
    """A table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def from_bytes(data: bytes) -> pa.Table:
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return reader.read_all()
