"""The short way for single elements that nobody can see yet: those of windows that move in steps.

What comes between two instants of all grids of a stream's readers is looked at together, at the second. Until then it only
waits here, and enters as one batch, with the same answers as one by one.
"""

from __future__ import annotations

import numpy as np

from millstream.engine.batch import ElementBatch
from millstream.engine.lane import Row
from millstream.engine.run import QueryRun
from millstream.kernels.scanner import Scanner
from millstream.windows.window import instant


def sees_in_steps(run: QueryRun, stream: str) -> bool:
    """Whether a run sees nothing of a stream, its only one, but at instants of grids."""
    return (
        run.streams == {stream}
        and all(w.window.step_ms is not None for w in run.windows)
        and not run.needs_everything
        and not run.has_first_change_ahead
    )


class Unseen:
    """Elements of one stream that wait for an instant.

    Their ids are good until the dictionary forgets; whoever lets it do so looks at them first.
    """

    def __init__(self, scanner: Scanner, steps_ms: set[int], t0_ms: int) -> None:
        self.scanner = scanner
        self._steps_ms = steps_ms
        self._t0_ms = t0_ms
        self._until_ms: int | None = None
        """The next instant; None while there was no element."""
        self._rows: list[Row] = []
        self._sizes: list[int] = []
        self._at_ms: list[int] = []
        self._totals: list[int] = []

    def __len__(self) -> int:
        return len(self._at_ms)

    def may_wait(self, at_ms: int) -> bool:
        """Whether an element need not be looked at before another comes."""
        return self._until_ms is not None and at_ms <= self._until_ms

    def saw(self, at_ms: int) -> None:
        """Everything up to a time has been looked at."""
        if self._until_ms is None or at_ms > self._until_ms:
            self._until_ms = min(instant(at_ms, step, self._t0_ms) for step in self._steps_ms)

    def add(self, rows: list[Row], at_ms: int, total: int) -> None:
        """An element of so many triples, of which these rows may be asked for."""
        self._rows += rows
        self._sizes.append(len(rows))
        self._at_ms.append(at_ms)
        self._totals.append(total)

    def take(self, stream: str, triples: int, elements: int) -> ElementBatch:
        """All that waits; before it there were so many triples and elements."""
        table = np.array(self._rows, np.int64).reshape(-1, 4)
        element = np.repeat(np.arange(len(self)), self._sizes)
        totals = np.cumsum(self._totals) + triples
        before = np.concatenate([[triples], totals[:-1]])
        at_ms = np.array(self._at_ms, np.int64)
        self._rows, self._sizes, self._at_ms, self._totals = [], [], [], []
        number = before[element] + table[:, 3] + 1
        return ElementBatch(stream, at_ms, table[:, :3], element, number, totals, triples, elements + 1)
