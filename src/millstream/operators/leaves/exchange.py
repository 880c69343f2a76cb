"""The exchange's leaf: rows of a part of the plan that runs elsewhere, put together by change and kept consolidated."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.relations.relation import RowCounter
from millstream.operators import stored
from millstream.operators.deltas import consolidated, empty
from millstream.operators.ticks import Column, Deltas


class ExchangeLeaf:
    """A leaf that is handed deltas; the dictionary keeps the terms of the rows that are there."""

    def __init__(self, part: int, width: int, dictionary: Dictionary) -> None:
        self.part = part
        self._width = width
        self._dictionary = dictionary
        self._rows = RowCounter(width)
        self._waiting = empty(width)

    def feed(self, rows: Deltas) -> None:
        """Changes in order, those of one change perhaps from several places; once between two drains."""
        assert not len(self._waiting)
        columns = np.ascontiguousarray(rows.columns[:, : self._width])
        deltas = consolidated(Deltas(columns, rows.tick, rows.change, rows.weight))
        places, sign = self._rows.apply(deltas.columns, deltas.weight)
        came, went = places[sign > 0], places[sign < 0]
        self._dictionary.hold(deltas.columns[came].ravel())
        if len(went):
            self._dictionary.release(deltas.columns[went].ravel(), int(deltas.tick[went].max()))
        self._waiting = deltas

    def drain(self) -> Deltas:
        """What came since the last call."""
        found, self._waiting = self._waiting, empty(self._width)
        return found

    def current(self) -> tuple[npt.NDArray[np.int64], Column]:
        """The rows that are there, each with how often."""
        return self._rows.counted()

    def dump(self) -> Any:
        return self.current()

    def load(self, state: Any) -> None:
        columns, weight = stored.counted(state, self._width, self._dictionary)
        self._rows.apply(columns, weight)
        self._dictionary.hold(columns.ravel())

    def close(self, at_tick: int) -> None:
        """Lets go of all terms."""
        self._dictionary.release(self._rows.counted()[0].ravel(), at_tick)
