"""EVENT queries on Spark: every element is matched where it is read, without shuffle or state.

A blob has whole elements. They go through a cell one after the other, each emptying the windows of the one before, so that
only what an element gives by itself is emitted. No answer depends on the order of elements, so none is late.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from millstream.operators.ticks import ELEMENT, tick
from millstream.pipeline.datasets.static import StaticData
from millstream.pipeline.exchange.blobs import numbers_of, read_blob
from millstream.pipeline.job.specification import JobSpec
from millstream.pipeline.runtime.broadcast import BroadcastBytes
from millstream.pipeline.runtime.gc_freeze import freeze_imports
from millstream.pipeline.state.cell import Cell
from millstream.pipeline.state.cell_rows import begins_of
from millstream.pipeline.state.processor import ANSWERS, COUNTS, STATS, remember, to_bytes
from millstream.pipeline.state.trigger_counts import COLUMNS, NOTHING, arrays_of, counts_of

_matchers: dict[str, ElementMatcher] = {}


def match_elements(
    job: str, pack: str, static: BroadcastBytes | None, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Blobs with whole elements to answers, in one task."""
    freeze_imports()
    matcher = _matchers.get(job)
    if matcher is None:
        data = None if static is None else StaticData.from_bytes(static.value)
        matcher = ElementMatcher(JobSpec.from_json(pack), data)
        remember(_matchers, job, matcher)
    for batch in batches:
        for blob in batch.column("blob"):
            answers = matcher.match(blob.as_py())
            stats = json.dumps({"elements": matcher.taken, "at_ms": None, "more": True}).encode()
            kinds = pa.array([ANSWERS, STATS, COUNTS], pa.int32())
            blobs = pa.array([to_bytes(answers), stats, None], pa.binary())
            counts = arrays_of([NOTHING, NOTHING, replace(matcher.counts, answers=answers.num_rows)])
            yield pa.RecordBatch.from_arrays([kinds, blobs, *counts], ["kind", "blob", *COLUMNS])


class ElementMatcher(Cell):
    """A cell that answers each element alone."""

    def __init__(self, spec: JobSpec, static: StaticData | None = None) -> None:
        # With the windows emptied in between, all that holds after an element is what appeared with it.
        super().__init__(replace(spec, output="istream"), 0, static)
        self._matched = 0
        self.taken = 0
        self.counts = NOTHING

    def match(self, blob: bytes) -> pa.Table:
        """The answers of a chunk's elements."""
        headers, chunk, batch = read_blob(blob)
        self.taken = sum(header.elements for header in headers)
        newest_ms = max((header.largest_ms for header in headers if header.largest_ms is not None), default=None)
        self.counts = replace(counts_of(headers, self.clock), newest_ms=newest_ms)
        if not batch.num_rows:
            return self._query.take_table()
        at_ms = numbers_of(batch, "at")
        source = headers[0].source
        rows = self._rows(source, np.array([header.part for header in headers])[chunk], batch, at_ms)
        begins = begins_of(rows)
        # Times of their own making, since elements may come in any order of time.
        turns = self._matched + np.cumsum(begins)
        self._matched = int(turns[-1])
        stream = self._spec.sources[source].name
        assert stream is not None
        self._core.pass_time(tick(int(turns[0]), ELEMENT))
        self._run.elements(self._batch(stream, {**rows, "at_ms": turns}, None, tagged=True))
        self._core.pass_time(tick(int(turns[-1]), ELEMENT))
        answers = self._query.take_table()
        self._core.housekeeping()
        place = answers["at_ms"].to_numpy() - int(turns[0])
        return answers.set_column(0, "at_ms", pa.array(at_ms[begins][place]))
