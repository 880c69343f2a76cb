"""What format readers hand on: statements with their quads and line, the marks between them, and changes of datasets.

A reader gives, for one source, `Statement`s in order. `Mark.MESSAGES` comes first if the source is an RDF Message Log;
`Mark.END` ends a message or document, within which blank-node labels have their scope.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pyoxigraph import BlankNode, NamedNode, Quad, Triple


class Statement(NamedTuple):
    """The quads of one statement (one line, one Turtle sentence, one JSON-LD document) and the line it begins on."""

    quads: list[Quad]
    line: int | None


@dataclass(frozen=True, slots=True)
class Change:
    """Triples that a dataset gains or loses at once in one graph (None: the default graph), and the line it is from.

    A triple may be as N-Triples have it, without the dot.
    """

    insert: bool
    triples: tuple[Triple | str, ...]
    graph: NamedNode | BlankNode | None = None
    at_ms: int | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class PlainChanges:
    """Changes of one triple each, as lines of N-Quads, and for each a signed byte: 1 inserts it, -1 deletes it."""

    lines: bytes
    signs: bytes

    def __len__(self) -> int:
        return len(self.signs)


class Mark(enum.Enum):
    """What stands between statements."""

    MESSAGES = "messages"
    END = "end"


Event = Statement | Mark
Events = Iterator[Event]
