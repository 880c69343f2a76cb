"""Stream elements as columns: what the engine hands to its queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from millstream.operators.rows import ELEMENT, Column


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

    def __len__(self) -> int:
        return len(self.at_ms)

    @property
    def ticks(self) -> Column:
        return self.at_ms * 4 + ELEMENT

    @property
    def has_triples(self) -> npt.NDArray[np.bool_]:
        """Which elements are not empty, whether or not anybody asks for what they have."""
        return np.diff(self.total_triples, prepend=self.triples_before) > 0

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
        )
