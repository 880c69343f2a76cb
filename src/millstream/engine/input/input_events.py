"""Input events of an engine: an element of a stream, a change of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from millstream.engine.options import named_iri
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.intake import Intake
from millstream.operators import stored
from millstream.operators.ticks import MOST_MS

# Not to be changed, but not frozen: one is made for every element, and freezing doubles what that costs.


@dataclass(slots=True)
class Element:
    """One element of a stream."""

    stream: str
    intake: Intake


@dataclass(frozen=True, slots=True)
class GraphChange:
    """Triples that enter or leave a graph."""

    graph: str | None
    triples: Intake
    insert: bool


InputEvent: TypeAlias = Element | GraphChange


def triples_of(what: InputEvent) -> Intake:
    """All triples that come or go."""
    return what.intake if isinstance(what, Element) else what.triples


def stored_event(dictionary: Dictionary, target: str | None, some: Any, *rest: Any) -> InputEvent:
    """Something that was held back when a snapshot was taken."""
    triples = stored.triples(some, dictionary)
    if len(rest) == 1:
        return GraphChange(None if target is None else stored.text(target), Intake(triples), stored.flag(rest[0]))
    place, total = rest
    total = stored.whole(total, len(triples), MOST_MS)
    return Element(named_iri(target, "stream"), Intake(triples, stored.column(place, len(triples), 0, total - 1), total))
