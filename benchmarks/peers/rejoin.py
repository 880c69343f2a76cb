"""S-Rev, as the SPECTRA paper calls it: the engine's own join, but cleared, filled with the window and matched each time.

It shows what keeping the join between elements is worth, everything else being equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from benchmarks.peers.question import Question, Triple, names_of
from benchmarks.peers.store import Solutions
from millstream.kernels.joins.join import FOREVER, IntervalJoin
from millstream.kernels.matching.pattern_index import PatternIndex

Key = tuple[int, int, int]


class Rejoin:
    """The window's triples as rows of the patterns they match, and nothing joined in between."""

    def __init__(self, question: Question) -> None:
        names = names_of(question.patterns)
        self._ids: dict[str, int] = {}
        self._variables = len(names)
        scanned, self._joined = [], []
        for pattern in question.patterns:
            ends = [names.index(term[1:]) for term in (pattern[0], pattern[2]) if term.startswith("?")]
            self._joined.append(ends + [-1] * (2 - len(ends)))
            scanned.append([-1 if term.startswith("?") else self._id(term) for term in pattern])
        predicates = sorted({p for _, p, _ in question.patterns})
        self._relations = [predicates.index(p) for _, p, _ in question.patterns]
        self._scan = PatternIndex(scanned)
        self._rows = np.empty((3, 1024), np.int64)
        """View and both ends of each row, the first `_owners` of them in use."""
        self._owners: list[Key] = []
        self._places: dict[Key, set[int]] = {}

    def _id(self, term: str) -> int:
        return self._ids.setdefault(term, len(self._ids))

    def prepare(self, triples: Sequence[Triple]) -> list[Key]:
        return [(self._id(s), self._id(p), self._id(o)) for s, p, o in triples]

    def insert(self, prepared: list[Key]) -> None:
        s, p, o = (np.array([key[i] for key in prepared], np.int64) for i in range(3))
        triple, *columns = self._scan.match(s, p, o)
        first, last = len(self._owners), len(self._owners) + len(triple)
        while last > self._rows.shape[1]:
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)], axis=1)
        self._rows[:, first:last] = columns
        for place, number in enumerate(triple.tolist(), first):
            self._owners.append(prepared[number])
            self._places.setdefault(prepared[number], set()).add(place)

    def delete(self, prepared: list[Key]) -> None:
        for key in prepared:
            places = self._places.pop(key, set())
            for place in sorted(places, reverse=True):
                # The last row takes the place of the one that goes.
                last, owner = len(self._owners) - 1, self._owners.pop()
                if place != last:
                    self._rows[:, place] = self._rows[:, last]
                    self._owners[place] = owner
                    self._places[owner].remove(last)
                    self._places[owner].add(place)

    def _matched(self) -> npt.NDArray[np.int64]:
        join = IntervalJoin(self._joined, [0] * len(self._joined), self._variables, relations=self._relations)
        size = len(self._owners)
        view, a, b = (np.ascontiguousarray(column[:size]) for column in self._rows)
        now = np.zeros(size, np.int64)
        join.feed(view, a, b, now, np.full(size, FOREVER), np.ones(size, np.int64), now)
        return join.take()[0]

    def count(self) -> int:
        return len(self._matched())

    def solutions(self) -> Solutions:
        terms = list(self._ids)
        return Counter(tuple(terms[number] for number in row) for row in self._matched().tolist())
