"""The second stage: takes the rows that all cells send on, and runs the rest of the plan over them.

Where one key cuts the rest of the plan there are several buckets, each with the rows whose keys are its own.

All cells are told of every chunk of every source, so after a trigger they have come equally far, and each sends one blob:
nothing has to be held back here. What the rest keeps follows from the rows that are there now, so its state is those.
"""

from __future__ import annotations

from itertools import compress
from typing import Any

import numpy as np

from millstream.engine.output.reporting import CloseReporter
from millstream.engine.windows.window_operators import NEVER
from millstream.errors import MillstreamError
from millstream.operators.ticks import ELEMENT, FOREVER, Column, Deltas, tick
from millstream.pipeline.exchange.sending import Outbox, PartCore, Progress, SendingRun, SentRows, is_end, read_sent
from millstream.pipeline.job.specification import JobSpec
from millstream.pipeline.state.cell import Outcome
from millstream.plan.distribute.partitioning import waits_for_streams


class Bucket:
    """The state of the second stage, or of one part of it."""

    def __init__(self, spec: JobSpec) -> None:
        self._prepare(spec)
        self._query, self._run = self._core.registry.make(spec.text, spec.output, spec.base, spec.now_ms)

    def _prepare(self, spec: JobSpec) -> None:
        assert spec.stages is not None
        self._spec = spec
        self._width = len(spec.stages.cells.variables) - 1
        self._core = PartCore(spec, spec.stages.rest)
        self._started = False

    def take(self, blobs: list[bytes]) -> Outcome:
        """The blobs of one trigger, one a cell, in any order."""
        progress, rows = read_sent(blobs, self._width, self._core.dictionary)
        self._check(progress)
        if not self._started:
            self._started = True
            # What cells have before anything happens is there before all times.
            count = int(np.searchsorted(rows.tick, NEVER))
            self._start(rows.pick(np.arange(count)))
            rows = rows.pick(np.arange(count, len(rows)))
        self._process(rows, progress[0].first)
        self._core.pass_time(max(p.passed for p in progress) + 1)
        self._core.catch_up_all()
        outcome = Outcome(self._query.take_table(), None, [], blobs, FOREVER)
        self._core.housekeeping()
        return outcome

    def parted(self, blobs: list[bytes]) -> tuple[list[bytes], list[bytes]]:
        """The blobs of a trigger without those that cells sent behind the end of everything, and those."""
        ends = [is_end(blob) for blob in blobs]
        return list(compress(blobs, (not end for end in ends))), list(compress(blobs, ends))

    def _check(self, progress: list[Progress]) -> None:
        cells = sorted(p.cell for p in progress)
        if cells != list(range(self._spec.cells.count)) or len({p.first for p in progress}) > 1:
            raise MillstreamError(f"a trigger brought rows of the cells {cells} that do not belong together")

    def _start(self, rows: SentRows) -> None:
        part, deltas = rows.part, Deltas(rows.columns, rows.tick, rows.tick * 0, rows.weight)
        self._run.start_arrived(part, deltas, self._core.before - 1)
        if isinstance(self._run.only.reporter, CloseReporter) or waits_for_streams(self._spec.plan):
            # As in a cell that runs the whole plan: there is nothing to tell before the first element.
            self._run.report_initial()

    def at_start(self, blobs: list[bytes]) -> bytes:
        """What becomes of what all cells found in parts that are evaluated ahead."""
        progress, rows = read_sent(blobs, self._width, self._core.dictionary)
        self._check(progress)
        self._start(rows)
        run = self._run
        assert isinstance(run, SendingRun)
        run.report_initial()
        (blob,) = Outbox(self._spec, 0, run).write(self.passed, None, self._core.dictionary, ended=False)
        return blob

    def _process(self, rows: SentRows, first: tuple[int, int, int, int] | None) -> None:
        if first is not None:
            at_tick, name = tick(first[0], ELEMENT), np.array(first[1:], np.int64)
            if isinstance(self._run.only.reporter, CloseReporter):
                self._run.only.reporter.first_element(first[0])
            if self._run.has_first_change_ahead:
                # The first change is reported together with what was there before, also where it brings no row.
                is_first = (rows.tick == at_tick) & (rows.names == name).all(axis=1)
                self._arrived(rows.pick(is_first), at_tick)
                rows = rows.pick(~is_first)
        if len(rows):
            self._arrived(rows, int(rows.tick[-1]))

    def _arrived(self, rows: SentRows, last: int) -> None:
        self._run.arrived(rows.part, Deltas(rows.columns, rows.tick, _changes(rows), rows.weight), last)
        self._core.pass_time(last)

    # State ------------------------------------------------------------------------------------------------------------

    @property
    def passed(self) -> int:
        """The tick up to which everything has happened."""
        return self._core.before - 1

    def mark(self) -> dict[str, Any]:
        """What a slice needs to know of the time before it: nothing, since no slice is ever left out."""
        return {}

    def go_on_from(self, mark: dict[str, Any]) -> None:
        pass

    def dump(self) -> dict[str, Any]:
        """All of it, in plain values and arrays."""
        return {"core": self._core.dump(), "started": self._started}

    @classmethod
    def load(cls, spec: JobSpec, state: dict[str, Any]) -> Bucket:
        """One that goes on where another was dumped."""
        bucket = cls.__new__(cls)
        bucket._prepare(spec)
        bucket._core.load(state["core"])
        (bucket._query,), (bucket._run,) = bucket._core.registry.queries, bucket._core.runs
        bucket._started = state["started"]
        return bucket


def _changes(rows: SentRows) -> Column:
    """A number for each change of a tick; see `number_of` for those that time brings."""
    new = np.ones(len(rows), np.bool_)
    new[1:] = (np.diff(rows.tick) != 0) | (np.diff(rows.names, axis=0) != 0).any(axis=1)
    return np.where((rows.tick & 3) == ELEMENT, np.cumsum(new), -1)
