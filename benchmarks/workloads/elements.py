"""What all workloads are: elements of streams, graphs at rest, and queries over both.

An element is text, because that is the form in which millstream and its peers take it. Its generators draw random numbers
in blocks and write whole elements at once, about a million triples a second; the same seed gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

import pyarrow as pa

Graph = Iterable[str]
"""Pieces of N-Triples, each of whole lines."""


class Element(NamedTuple):
    """One stream element: which stream, when, and its triples, a line each."""

    stream: str
    at_ms: int
    text: str

    @property
    def triples(self) -> int:
        return self.text.count("\n")


@dataclass(frozen=True, slots=True)
class Workload:
    """A kind of data with its queries.

    `elements(n)` gives the first elements that make up n triples or just more; `background(n)` the graphs at rest by name
    (None: the default graph), of about n triples where they can have any size.
    """

    name: str
    queries: Mapping[str, str]
    elements: Callable[[int], Iterator[Element]]
    background: Callable[[int], Mapping[str | None, Graph]] = field(default=lambda _: {})


def up_to(elements: Iterator[Element], triples: int) -> Iterator[Element]:
    """As many elements as it takes for so many triples."""
    while triples > 0:
        element = next(elements, None)
        if element is None:
            return
        triples -= element.triples
        yield element


def one_by_one(elements: Iterable[Element]) -> Iterator[Element]:
    """The same triples, each an element by itself at the time it had."""
    for stream, at_ms, text in elements:
        for line in text.splitlines(keepends=True):
            yield Element(stream, at_ms, line)


def grouped(elements: Iterable[Element], count: int) -> Iterator[Element]:
    """So many elements of one stream as one, at the time of the last."""
    rest = iter(elements)
    while some := list(islice(rest, count)):
        yield Element(some[-1].stream, some[-1].at_ms, "".join(element.text for element in some))


def joined(elements: Iterable[Element]) -> bytes:
    """All triples as N-Triples, their times and boundaries forgotten."""
    return "".join(element.text for element in elements).encode()


def as_table(elements: Iterable[Element]) -> pa.Table:
    """Elements of one stream as `Engine.push_table` takes them."""
    rows = [
        (*line.removesuffix(" .").split(" ", 2), at_ms, number)
        for number, (_, at_ms, text) in enumerate(elements)
        for line in text.splitlines()
    ]
    s, p, o, at, element = zip(*rows, strict=True)
    numbers = {"at_ms": pa.array(at, pa.int64()), "element": pa.array(element, pa.int64())}
    return pa.table({"s": list(s), "p": list(p), "o": list(o), **numbers})
