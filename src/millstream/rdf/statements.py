"""What format readers hand on: statements with their quads and line, and the marks between them.

A reader gives, for one source, `Statement`s in order. `Mark.MESSAGES` comes first if the source is an RDF Message Log;
`Mark.END` ends a message or document, within which blank-node labels have their scope.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import NamedTuple

from pyoxigraph import Quad


class Statement(NamedTuple):
    """The quads of one statement (one line, one Turtle sentence, one JSON-LD document) and the line it begins on."""

    quads: list[Quad]
    line: int | None


class Mark(enum.Enum):
    """What stands between statements."""

    MESSAGES = "messages"
    END = "end"


Event = Statement | Mark
Events = Iterator[Event]
