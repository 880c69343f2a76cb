"""The kinds of windows that queries can have, one class each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from millstream.windows.window import (
    Clause,
    CountWindow,
    ElementWindow,
    Moment,
    SilenceWindow,
    Takes,
    TimeWindow,
    Window,
    WindowKind,
)

if TYPE_CHECKING:
    from pyoxigraph import NamedNode


@dataclass(frozen=True)
class Range(TimeWindow):
    """Seen from its time on, for `range_ms`."""

    clause = Clause("RANGE", Takes.LENGTH)
    range_ms: int

    @property
    def ends(self) -> Moment:
        return Moment(self.range_ms)

    @property
    def kept_ms(self) -> int:
        return self.range_ms


@dataclass(frozen=True)
class Slide(TimeWindow):
    """Seen from its time on, until `range_ms` after the first grid instant at or after it."""

    clause = Clause("RANGE", Takes.LENGTH, "SLIDE")
    range_ms: int
    slide_ms: int

    @property
    def ends(self) -> Moment:
        return Moment(0, self.slide_ms, self.range_ms)

    @property
    def kept_ms(self) -> int:
        return self.range_ms + self.slide_ms


@dataclass(frozen=True)
class Step(TimeWindow):
    """Seen from the first grid instant at or after its time, until the first at or after the end of its range."""

    clause = Clause("RANGE", Takes.LENGTH, "STEP")
    range_ms: int
    every_ms: int

    @property
    def begins(self) -> Moment:
        return Moment(0, self.every_ms)

    @property
    def ends(self) -> Moment:
        return Moment(self.range_ms, self.every_ms)

    @property
    def kept_ms(self) -> int:
        return self.range_ms + self.every_ms

    @property
    def step_ms(self) -> int:
        return self.every_ms


@dataclass(frozen=True)
class Landmark(TimeWindow):
    """All since the last grid instant: seen from its time on, until the first grid instant after it."""

    clause = Clause("LANDMARK", Takes.LENGTH)
    length_ms: int

    @property
    def ends(self) -> Moment:
        return Moment(1, self.length_ms)

    @property
    def kept_ms(self) -> int:
        return self.length_ms


@dataclass(frozen=True)
class Now(TimeWindow):
    """Seen for the millisecond of its time."""

    clause = Clause("NOW", Takes.NOTHING)

    @property
    def ends(self) -> Moment:
        return Moment(1)

    @property
    def kept_ms(self) -> int:
        return 1


@dataclass(frozen=True)
class All(TimeWindow):
    """Seen for ever."""

    clause = Clause("ALL", Takes.NOTHING)

    @property
    def ends(self) -> None:
        return None

    @property
    def kept_ms(self) -> None:
        return None


@dataclass(frozen=True)
class Triples(CountWindow):
    """The last `count` triples of the stream."""

    clause = Clause("TRIPLES", Takes.COUNT)

    @property
    def counts_triples(self) -> bool:
        return True


@dataclass(frozen=True)
class Elements(CountWindow):
    """The last `count` elements of the stream."""

    clause = Clause("ELEMENTS", Takes.COUNT)


@dataclass(frozen=True)
class Event(ElementWindow):
    """One element at a time: gone just before the stream's next."""

    clause = Clause("EVENT", Takes.NOTHING)


@dataclass(frozen=True)
class Session(SilenceWindow):
    """Elements that follow each other closely: gone when none has come for `gap_ms`."""

    clause = Clause("SESSION", Takes.LENGTH)


def _by_clause(*kinds: type[Window]) -> dict[Clause, type[Window]]:
    # As arguments, so that mypy finds a kind that does not answer all that windows are asked.
    return {kind.clause: kind for kind in kinds}


KINDS = _by_clause(Range, Slide, Step, Landmark, Now, All, Triples, Elements, Event, Session)
"""All of them, by how they are written."""


def window_of(clause: Clause, given: tuple[int, ...]) -> WindowKind | None:
    """The window that a clause with these numbers describes, if there is such a kind."""
    kind: Any = KINDS.get(clause)
    return None if kind is None else kind(*given)


def words(takes: Takes) -> list[str]:
    """The words that windows begin with behind which such a thing stands."""
    return sorted({clause.word for clause in KINDS if clause.takes is takes})


@dataclass(frozen=True, slots=True)
class StreamWindow:
    """A window on a stream. Two equal ones always have the same content."""

    stream: NamedNode
    window: WindowKind

    def __str__(self) -> str:
        return f"{self.stream} [{self.window}]"
