"""Which patterns of a source a triple matches: by constants, by equal places, by filters on one variable.

Patterns with a constant predicate and one or two variables are found by the scan kernel; the rest are compared one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from pyoxigraph import BlankNode, Variable

from millstream.kernels.dictionary import Dictionary
from millstream.kernels.scan import Scan
from millstream.operators.component import first_positions, repeated_positions
from millstream.operators.rows import Column
from millstream.plan.conjunction import SourcedPattern

Test = Callable[[Column], npt.NDArray[np.bool_]]
"""A filter on one variable: which ids pass."""

Constants = tuple[bytes | None, bytes | None, bytes | None]
"""What a triple must have at its places, in N-Triples syntax; None for anything."""


class Matcher:
    """Finds the patterns that triples match; their constants stay in the dictionary while it lives."""

    def __init__(
        self,
        numbers: Sequence[int],
        patterns: Sequence[SourcedPattern],
        dictionary: Dictionary,
        tests: Mapping[Variable, Test],
        *,
        first: int = 0,
    ) -> None:
        """`numbers` are places in `patterns`; outside, patterns are numbered from `first` on."""
        self._dictionary = dictionary
        self.numbers = np.array(numbers, np.int64) + first
        self.constants: list[Constants] = []
        self._held: list[int] = []
        self._tests: list[tuple[int, int, Test]] = []
        self._compared: list[tuple[int, list[tuple[int, int]], list[tuple[int, int]]]] = []
        self.asked: list[tuple[int, tuple[int, int, int], bool]] = []
        """Of patterns found by their predicate: number, constants (-1: a variable), whether both ends are one variable."""
        scanned: list[tuple[int, int, int]] = []
        same: list[bool] = []
        self._scanned: list[int] = []
        for place in numbers:
            pattern, number = patterns[place], place + first
            ids = self._ids(pattern)
            equal = repeated_positions(pattern)
            for variable, position in zip(pattern.variables, first_positions(pattern), strict=True):
                if isinstance(variable, Variable) and variable in tests:
                    self._tests.append((number, position, tests[variable]))
            if ids[1] >= 0 and equal in ([], [(0, 2)]):
                self.asked.append((number, ids, bool(equal)))
            if ids[1] >= 0 and len(pattern.variables) > 0 and equal in ([], [(0, 2)]):
                scanned.append(ids)
                same.append(bool(equal))
                self._scanned.append(number)
            else:
                self._compared.append((number, [(i, x) for i, x in enumerate(ids) if x >= 0], equal))
        self._scan = Scan(scanned, same) if scanned else None
        self._number_of = np.array(self._scanned, np.int64)

    def _ids(self, pattern: SourcedPattern) -> tuple[int, int, int]:
        terms = (pattern.triple.subject, pattern.triple.predicate, pattern.triple.object)
        ids = [-1, -1, -1]
        texts: list[bytes | None] = [None, None, None]
        for i, term in enumerate(terms):
            if not isinstance(term, Variable | BlankNode):
                texts[i] = str(term).encode()
                ids[i] = self._dictionary.encode_one(texts[i] or b"")
                self._dictionary.hold(np.array([ids[i]], np.int64))
                self._held.append(ids[i])
        self.constants.append((texts[0], texts[1], texts[2]))
        return ids[0], ids[1], ids[2]

    def tests_of(self, number: int) -> list[tuple[int, Test]]:
        """The filters that keep triples out of a pattern, and the position each looks at."""
        return [(position, test) for tested, position, test in self._tests if tested == number]

    @property
    def compares(self) -> bool:
        """Whether some pattern is not found by its predicate."""
        return len(self.asked) < len(self.numbers)

    def release(self, at: int) -> None:
        """Lets go of the constants."""
        self._dictionary.release(np.array(self._held, np.int64), at)
        self._held = []

    def match(self, triples: npt.NDArray[np.int64]) -> tuple[Column, Column]:
        """Which triple matches which pattern: places of triples and numbers of patterns, in order of triples."""
        if self._scan is None:
            row = pattern = np.empty(0, np.int64)
        else:
            s, p, o = (np.ascontiguousarray(triples[:, i]) for i in range(3))
            row, view, _, _ = self._scan.match(s, p, o)
            pattern = self._number_of[view]
        if self._compared:
            row, pattern = self._compare(triples, row, pattern)
        for number, position, test in self._tests:
            ours = np.flatnonzero(pattern == number)
            if len(ours):
                passed = test(np.ascontiguousarray(triples[row[ours], position]))
                if not passed.all():
                    keep = np.ones(len(row), np.bool_)
                    keep[ours[~passed]] = False
                    row, pattern = row[keep], pattern[keep]
        return row, pattern

    def _compare(self, triples: npt.NDArray[np.int64], row: Column, pattern: Column) -> tuple[Column, Column]:
        rows, patterns = [row], [pattern]
        for number, constants, equal in self._compared:
            found = np.ones(len(triples), np.bool_)
            for position, value in constants:
                found &= triples[:, position] == value
            for first, second in equal:
                found &= triples[:, first] == triples[:, second]
            at = np.flatnonzero(found)
            rows.append(at)
            patterns.append(np.full(len(at), number, np.int64))
        row, pattern = np.concatenate(rows), np.concatenate(patterns)
        order = np.lexsort((pattern, row))
        return row[order], pattern[order]
