"""Keeps the terms that operators make in the dictionary as long as some row has them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from millstream.kernels.dictionary import Dictionary
from millstream.kernels.dictionary_kinds import Kind
from millstream.kernels.relation import RowCounter
from millstream.operators.rows import Column

_FIRST_INLINED = np.uint64((Kind.TYPED + 1) << 59)
"""Ids from here on have their value in them; -1, as a number without sign, is beyond all."""


class Keeper:
    """Holds and releases terms, except while operators are built anew over terms that the dictionary holds already."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._rebuilding = False

    def hold(self, ids: Column) -> None:
        if not self._rebuilding:
            self._dictionary.hold(ids)

    def release(self, ids: Column, at_tick: int) -> None:
        if not self._rebuilding:
            self._dictionary.release(ids, at_tick)

    @contextmanager
    def rebuilding(self, really: bool = True) -> Iterator[None]:
        """Within, nothing is held or released: the dictionary remembers the holds of what is built anew."""
        before, self._rebuilding = self._rebuilding, really
        try:
            yield
        finally:
            self._rebuilding = before


class Kept:
    """Counts the rows that have a computed term, which stays in the dictionary while there is one."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._counts = RowCounter(1)

    def count(self, ids: Column, weight: Column, tick: Column) -> None:
        """Takes rows that come and go; values that are in their ids need no keeping."""
        outside = (ids.view(np.uint64) < _FIRST_INLINED).nonzero()[0]
        if not len(outside):
            return
        if len(outside) < len(ids):
            ids, weight, tick = ids[outside], weight[outside], tick[outside]
        places, sign = self._counts.apply(ids.reshape(-1, 1), weight)
        came = places[sign > 0]
        if len(came):
            self._keeper.hold(ids[came])
        if len(came) < len(places):
            last = places[sign < 0]
            self._keeper.release(ids[last], int(tick[last].max()))

    def close(self, at_tick: int) -> None:
        self._keeper.release(self._counts.counted()[0][:, 0], at_tick)
