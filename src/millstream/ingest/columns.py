"""Elements of a source as columns of ids: what readers make of chunks, and what engines and cells take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from millstream.errors import DataError
from millstream.rdf.times import MAX_MS

Ids = npt.NDArray[np.int64]


@dataclass(slots=True, eq=False)
class Columns:
    """Elements that follow each other, or changes of graphs; triples that a summary leaves out are not there.

    The ids are good until the dictionary is settled: who keeps them longer holds them there.
    """

    triples: Ids
    element: Ids
    """For each triple the place of its element among these, ascending."""
    elements: int
    """How many there are, with triples or without."""
    at_ms: Ids | None = None
    """The time of each element; None if times follow a rate, or nobody knows them."""
    sizes: Ids | None = None
    """How many different triples each element has, those left out included; None: one."""
    graph: Ids | None = None
    """The graph of each triple, -1 for the default graph; None: nothing names graphs."""
    sign: Ids | None = None
    """Whether each element, which is a change of a graph, inserts (1) or deletes (-1)."""
    rate: Fraction | None = None
    """How many elements there are in a second, from 0."""
    first: int = 0
    """How many elements of the source came before these."""
    fault: DataError | None = None
    """What ended the reading: to be raised once these are taken."""

    @property
    def statements(self) -> int:
        """How many triples there were, kept or not."""
        return self.elements if self.sizes is None else int(self.sizes.sum())

    @property
    def terms(self) -> Ids:
        """The ids of all terms, as often as they are there."""
        if self.graph is None:
            return self.triples.ravel()
        return np.concatenate([self.triples.ravel(), self.graph[self.graph >= 0]])

    def times(self, places: Ids | None = None) -> Ids:
        """The times of elements, of all by default; -1 where a rate makes one too large."""
        if self.at_ms is not None:
            return self.at_ms if places is None else self.at_ms[places]
        assert self.rate is not None
        return times_at_rate(self.first + (np.arange(self.elements) if places is None else places), self.rate)

    def time(self, place: int) -> int:
        """The time of one element."""
        if self.at_ms is not None:
            return int(self.at_ms[place])
        assert self.rate is not None
        return time_at(self.first + place, self.rate)

    def slice(self, first: int, last: int) -> Columns:
        """The elements from one place up to another."""
        low, high = np.searchsorted(self.element, (first, last)).tolist()
        return replace(
            self,
            triples=self.triples[low:high],
            element=self.element[low:high] - first,
            elements=last - first,
            at_ms=None if self.at_ms is None else self.at_ms[first:last],
            sizes=None if self.sizes is None else self.sizes[first:last],
            graph=None if self.graph is None else self.graph[low:high],
            sign=None if self.sign is None else self.sign[first:last],
            first=self.first + first,
        )

    def pick(self, places: Ids) -> Columns:
        """Some of the elements, in the order of their places here."""
        new = np.full(self.elements, -1, np.int64)
        new[places] = np.arange(len(places))
        element = new[self.element]
        rows = np.flatnonzero(element >= 0)
        if len(places) > 1 and (np.diff(places) < 0).any():
            rows = rows[np.argsort(element[rows], kind="stable")]
        return Columns(
            self.triples[rows],
            element[rows],
            len(places),
            self.times(places),
            None if self.sizes is None else self.sizes[places],
            None if self.graph is None else self.graph[rows],
            None if self.sign is None else self.sign[places],
            fault=self.fault,
        )


def joined(parts: Sequence[Columns]) -> Columns:
    """Elements of several, one after the other, all with times."""
    if len(parts) == 1:
        return parts[0]
    first = np.cumsum([0, *(part.elements for part in parts[:-1])])
    graphs = [np.full(len(part.triples), -1) if part.graph is None else part.graph for part in parts]
    sizes = [np.ones(part.elements, np.int64) if part.sizes is None else part.sizes for part in parts]
    signs = [part.sign for part in parts if part.sign is not None]
    return Columns(
        np.concatenate([part.triples for part in parts]),
        np.concatenate([part.element + start for part, start in zip(parts, first.tolist(), strict=True)]),
        sum(part.elements for part in parts),
        np.concatenate([part.times() for part in parts]),
        None if all(part.sizes is None for part in parts) else np.concatenate(sizes),
        None if all(part.graph is None for part in parts) else np.concatenate(graphs),
        np.concatenate(signs) if signs else None,
        fault=next((part.fault for part in parts if part.fault is not None), None),
    )


NOTHING = Columns(np.empty((0, 3), np.int64), np.empty(0, np.int64), 0, np.empty(0, np.int64))


def time_at(number: int, rate: Fraction) -> int:
    """The time of the element with a number, from 0."""
    return number * 1000 * rate.denominator // rate.numerator


def times_at_rate(numbers: Ids, rate: Fraction) -> Ids:
    """The times of elements by their numbers; -1 where one would be too large."""
    if not len(numbers):
        return numbers
    apart_ms, last = 1000 / rate, int(numbers.max())
    if max(last * apart_ms.numerator, apart_ms.denominator) >= 1 << 63:
        numbers = numbers.astype(object)
    exact = numbers * apart_ms.numerator
    if apart_ms.denominator > 1:
        exact = exact // apart_ms.denominator
    if time_at(last, rate) > MAX_MS:
        exact = np.where(exact > MAX_MS, -1, exact)
    return exact.astype(np.int64, copy=False)


def first_at(at_ms: int, rate: Fraction) -> int:
    """The number of the first element at or after a time."""
    return max(0, -(-at_ms * rate.numerator // (1000 * rate.denominator)))
