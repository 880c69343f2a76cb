"""What a window holds after each element, as changes of a set of triples: what a store that is asked again must be told.

Elements are numbered; a window is a function from an element's number to the number of the first element still visible
after it, which never falls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.peers.question import Question, Triple

First = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Element:
    """What of an element a question can use, and when it came."""

    at_ms: int
    triples: Sequence[Triple]


def summarised(elements: Sequence[Element], question: Question) -> list[Element]:
    """Elements without what no pattern matches; those of which nothing is left are left out.

    This is what the papers give all systems. A store so is never asked where nothing can have changed.
    """
    keeps = question.summary()
    found = (Element(e.at_ms, [t for t in e.triples if keeps(t)]) for e in elements)
    return [element for element in found if element.triples]


def tumbling(elements: Sequence[Element], length_ms: int) -> First:
    """What came after the last instant of the grid: windows (0, r], (r, 2r], ... that are asked after every element."""
    return _monotone([(element.at_ms - 1) // length_ms for element in elements], 0)


def sliding(elements: Sequence[Element], range_ms: int) -> First:
    """What came within the last milliseconds."""
    times = [element.at_ms for element in elements]
    found, first = [], 0
    for at_ms in times:
        while times[first] <= at_ms - range_ms:
            first += 1
        found.append(first)
    return found.__getitem__


def _monotone(windows: Sequence[int], first: int) -> First:
    found = []
    for number, window in enumerate(windows):
        if windows[first] != window:
            first = number
        found.append(first)
    return found.__getitem__


@dataclass(frozen=True, slots=True)
class Change:
    """What enters and leaves a window's content with one element."""

    number: int
    inserted: Sequence[Triple]
    deleted: Sequence[Triple]


def content(elements: Sequence[Element], first: First, number: int) -> list[Triple]:
    """The set of triples visible after an element, in order of arrival."""
    return list(dict.fromkeys(t for e in elements[first(number) : number + 1] for t in e.triples))


def changes(elements: Sequence[Element], first: First, after: int, last: int) -> Iterator[Change]:
    """The changes that the elements after one bring, up to another."""
    seen = Counter(t for e in elements[first(after) : after + 1] for t in e.triples)
    oldest = first(after)
    for number in range(after + 1, last + 1):
        before: dict[Triple, bool] = {}
        for triple in elements[number].triples:
            before.setdefault(triple, seen[triple] > 0)
            seen[triple] += 1
        for element in elements[oldest : first(number)]:
            for triple in element.triples:
                before.setdefault(triple, True)
                seen[triple] -= 1
        oldest = first(number)
        inserted = [triple for triple, was in before.items() if not was and seen[triple] > 0]
        deleted = [triple for triple, was in before.items() if was and seen[triple] == 0]
        yield Change(number, inserted, deleted)
