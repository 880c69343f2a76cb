"""Which patterns of a source a triple matches: by constants, by equal places, by filters on one variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from pyoxigraph import BlankNode, Variable

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.flow.deltas import ALL_ALIKE
from millstream.kernels.matching.patterns import Patterns
from millstream.kernels.rows.row_program import RowProgram
from millstream.operators.leaves.component import first_positions, repeated_positions
from millstream.plan.conjunction import SourcedPattern

Constants = tuple[bytes | None, bytes | None, bytes | None]
"""What a triple must have at its places, in N-Triples syntax; None for anything."""


class Matcher:
    """Finds the patterns that triples match; their constants stay in the dictionary while it lives."""

    def __init__(
        self,
        numbers: Sequence[int],
        patterns: Sequence[SourcedPattern],
        dictionary: Dictionary,
        tests: Mapping[Variable, RowProgram],
        *,
        first: int = 0,
        alike: Mapping[int, int] | None = None,
    ) -> None:
        """`numbers` are places in `patterns`; outside, patterns are numbered from `first` on.

        `alike`: of patterns that take the same triples and go to one join together, the first of each.
        """
        self._dictionary = dictionary
        self.numbers = np.array(numbers, np.int64) + first
        self.constants: list[Constants] = []
        self.ids: list[tuple[int, int, int]] = []
        """The constants of each pattern as ids, -1 for variables."""
        asked = [
            (place + first, position, tests[variable])
            for place in numbers
            for variable, position in zip(patterns[place].variables, first_positions(patterns[place]), strict=True)
            if isinstance(variable, Variable) and variable in tests
        ]
        told = {n: (n + first, self._ids(patterns[n]), repeated_positions(patterns[n])) for n in numbers}
        self.patterns = Patterns(list(told.values()), asked)
        self.together = self.patterns
        """The same, patterns that are alike being found together."""
        if alike:
            firsts = [(n, one) for n, one in told.items() if alike.get(n, n) == n]
            self.together = Patterns([(one[0] + ALL_ALIKE * (n in alike), *one[1:]) for n, one in firsts], asked)
        self.match = self.patterns.match

    def _ids(self, pattern: SourcedPattern) -> tuple[int, int, int]:
        terms = (pattern.triple.subject, pattern.triple.predicate, pattern.triple.object)
        s, p, o = (None if isinstance(term, Variable | BlankNode) else str(term).encode() for term in terms)
        self.constants.append((s, p, o))
        ids = tuple(-1 if text is None else self._dictionary.encode_one(text) for text in (s, p, o))
        self._dictionary.hold(np.array(ids, np.int64))
        self.ids.append((ids[0], ids[1], ids[2]))
        return self.ids[-1]

    @property
    def predicates(self) -> list[int] | None:
        """Those that its patterns ask for, None if one of them takes any.

        First what only qualifies nodes, so that a join can tell at once which pairs it needs.
        """
        if any(p < 0 for _, p, _ in self.ids):
            return None
        variables: dict[int, int] = {}
        for s, p, o in self.ids:
            variables[p] = max(variables.get(p, 0), (s < 0) + (o < 0))
        return sorted(variables, key=variables.__getitem__)

    def release(self, at: int) -> None:
        """Lets go of the constants."""
        self._dictionary.release(np.array(self.ids, np.int64).ravel(), at)
        self.ids = []
