"""Keeps the terms that operators make in the dictionary as long as some row has them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from millstream.kernels.dictionary import Dictionary
from millstream.operators.rows import Column


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
