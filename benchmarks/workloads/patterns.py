"""Basic graph patterns as lists of triples, what is made of them, and triples as text and as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

Triple = tuple[str, str, str]
Patterns = list[Triple]

STREAM = "http://example.org/stream"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
XSD = "http://www.w3.org/2001/XMLSchema#"


def lines(triples: Iterator[Triple], count: int | None = None) -> list[str]:
    """Triples as lines of N-Triples, all or so many."""
    return [f"{s} {p} {o} .\n" for s, p, o in islice(triples, count)]


def matches_any(triple: Triple, patterns: Patterns) -> bool:
    """Whether a triple matches one of the patterns."""
    return any(all(x.startswith("?") or x == y for x, y in zip(pattern, triple, strict=True)) for pattern in patterns)


def cqels(patterns: Patterns, range_ms: int) -> str:
    """A continuous query over the last so many milliseconds of STREAM."""
    return windowed(patterns, f"RANGE {range_ms}ms")


def windowed(patterns: Patterns, window: str, stream: str = STREAM, beside: str = "") -> str:
    """A continuous query over any window of any stream, with whatever stands beside the window: filters, graphs."""
    return f"SELECT * WHERE {{ STREAM <{stream}> [{window}] {{ {body(patterns)} }} {beside} }}"


def body(patterns: Patterns) -> str:
    """Patterns as they stand between braces."""
    return " ".join(f"{s} {p} {o} ." for s, p, o in patterns)


def plain(patterns: Patterns) -> str:
    """The same over a store that holds what the window holds."""
    return "SELECT * WHERE {" + body(patterns) + "}"


@dataclass(frozen=True, slots=True)
class Encoded:
    """Triples as text and as numbers, one an event, for kernels that know no text."""

    text: bytes
    columns: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]
    ids: dict[str, int]

    def __len__(self) -> int:
        return len(self.columns[0])


def encoded(triples: Iterator[Triple]) -> Encoded:
    ids: dict[str, int] = {}
    table, text = [], []
    for s, p, o in triples:
        table.append((ids.setdefault(s, len(ids)), ids.setdefault(p, len(ids)), ids.setdefault(o, len(ids))))
        text.append(f"{s} {p} {o} .\n")
    array = np.array(table, np.int64)
    s_column, p_column, o_column = (np.ascontiguousarray(array[:, i]) for i in range(3))
    return Encoded("".join(text).encode(), (s_column, p_column, o_column), ids)
