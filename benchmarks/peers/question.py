"""A conjunctive query as every peer can be asked it: triple patterns, and comparisons of single variables with numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Triple = tuple[str, str, str]
_COMPARISONS = {">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le}


def variables_of(pattern: Triple) -> list[str]:
    return [term[1:] for term in pattern if term.startswith("?")]


def names_of(patterns: Iterable[Triple]) -> list[str]:
    """The variables in the order in which they are first met."""
    return list(dict.fromkeys(v for pattern in patterns for v in variables_of(pattern)))


def connected(patterns: Sequence[Triple]) -> list[tuple[int, Triple]]:
    """Patterns with their numbers, in an order in which each shares a variable with those before."""
    left, found, known = list(enumerate(patterns)), [], set[str]()
    while left:
        number, pattern = next((n, p) for n, p in left if not known or known & set(variables_of(p)))
        left.remove((number, pattern))
        found.append((number, pattern))
        known |= set(variables_of(pattern))
    return found


@dataclass(frozen=True, slots=True)
class Comparison:
    """A variable, which stands as the object of one pattern, beside a number."""

    variable: str
    sign: str
    number: float

    def holds(self, term: str) -> bool:
        """Of a numeric literal in N-Triples syntax."""
        return bool(_COMPARISONS[self.sign](float(term.split('"')[1]), self.number))


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, in the terms of N-Triples."""

    patterns: Sequence[Triple]
    comparisons: Sequence[Comparison] = ()

    @property
    def variables(self) -> list[str]:
        return names_of(self.patterns)

    def body(self) -> str:
        """The group pattern as SPARQL writes it."""
        filters = [f"FILTER (?{c.variable} {c.sign} {c.number:g})" for c in self.comparisons]
        return " ".join([*(f"{s} {p} {o} ." for s, p, o in self.patterns), *filters])

    def plain(self) -> str:
        """Over a store that holds what the window holds."""
        return f"SELECT {' '.join('?' + v for v in self.variables)} WHERE {{ {self.body()} }}"

    def over(self, stream: str, window: str) -> str:
        """Over a window of a stream."""
        names = " ".join("?" + v for v in self.variables)
        return f"SELECT {names} WHERE {{ STREAM <{stream}> [{window}] {{ {self.body()} }} }}"

    def keeps(self, triple: Triple) -> bool:
        """Whether a triple can take part: it matches a pattern, and what the query compares its object with lets it."""
        return self.summary()(triple)

    def summary(self) -> Callable[[Triple], bool]:
        """The same for many triples: most are told apart by their predicate alone."""
        by_predicate: dict[str, list[Triple]] = {}
        for pattern in self.patterns:
            by_predicate.setdefault(pattern[1], []).append(pattern)
        anything = [
            pattern for predicate in by_predicate for pattern in by_predicate[predicate] if predicate.startswith("?")
        ]

        def keeps(triple: Triple) -> bool:
            candidates = by_predicate.get(triple[1])
            if candidates is None:
                return any(self._admits(pattern, triple) for pattern in anything)
            return any(self._admits(pattern, triple) for pattern in (*candidates, *anything))

        return keeps

    def _admits(self, pattern: Triple, triple: Triple) -> bool:
        if not all(x[0] == "?" or x == y for x, y in zip(pattern, triple, strict=True)):
            return False
        return all(c.holds(triple[2]) for c in self.comparisons if pattern[2] == f"?{c.variable}")
