"""Stream elements as columns: what the engine hands to its queries."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from millstream.operators.matching import Matcher
from millstream.operators.rows import ELEMENT, Column

_NONE = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class ElementBatch:
    """Consecutive elements of one stream, in processing order.

    `triples` are those somebody may ask for; the totals count all triples and elements of the stream up to and including
    an element, dropped ones as well, because count windows go by them.
    """

    stream: str
    at_ms: Column
    triples: npt.NDArray[np.int64]
    element: Column
    """For each triple the place of its element in this batch."""
    number: Column
    """For each triple its number in the stream."""
    total_triples: Column
    triples_before: int
    """How many triples the stream had before the batch."""
    first_element: int
    """The number in the stream of the batch's first element."""
    order: Column = field(default_factory=lambda: _NONE)
    """For each element its place among all that happens together; without other streams, its place in the batch."""
    pattern: Column | None = None
    """For each row the one pattern it is meant for; None: triples are for every pattern they match."""
    prolongs: bool = True
    """Whether time goes on until its elements have ended, once input has; see `millstream.engine.aftermath`."""

    def __post_init__(self) -> None:
        if len(self.order) != len(self.at_ms):
            object.__setattr__(self, "order", np.arange(len(self.at_ms)))

    def __len__(self) -> int:
        return len(self.at_ms)

    @property
    def ticks(self) -> Column:
        return self.at_ms * 4 + ELEMENT

    @property
    def prolonging(self) -> npt.NDArray[np.bool_]:
        """Which elements time goes on for: those that are not empty, whether or not anybody asks for what they have."""
        return (np.diff(self.total_triples, prepend=self.triples_before) > 0) & self.prolongs

    def matches(self, matcher: Matcher) -> tuple[Column, Column]:
        """Which rows are for which of a matcher's patterns: places of rows and numbers of patterns."""
        if self.pattern is None:
            return matcher.match(self.triples)
        row = np.flatnonzero(np.isin(self.pattern, matcher.numbers))
        return row, self.pattern[row]

    def slice(self, first: int, last: int) -> ElementBatch:
        """The elements from one place up to another."""
        low, high = np.searchsorted(self.element, (first, last))
        return ElementBatch(
            self.stream,
            self.at_ms[first:last],
            self.triples[low:high],
            self.element[low:high] - first,
            self.number[low:high],
            self.total_triples[first:last],
            int(self.total_triples[first - 1]) if first else self.triples_before,
            self.first_element + first,
            self.order[first:last],
            None if self.pattern is None else self.pattern[low:high],
            self.prolongs,
        )


@dataclass(frozen=True, slots=True)
class GraphRows:
    """Rows that enter (op 1) or leave (-1) a graph, each for one pattern, in processing order."""

    graph: str | None
    triples: npt.NDArray[np.int64]
    pattern: Column
    ticks: Column
    op: Column
    order: Column
    """For each row the place of its change among all that happens together."""
