"""What a window is asked: how it is written, what ends it, on which grid it reports, how long it keeps what it has seen.

A kind of window is one class below one of four, by what ends what it shows: time (`TimeWindow`), counts (`CountWindow`), the
stream's next element (`ElementWindow`), silence (`SilenceWindow`). Times are milliseconds; a grid is t0 + k * length for
whole k.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias, TypeVar

from millstream.windows.durations import format_duration

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Time = TypeVar("Time", int, "npt.NDArray[np.int64]")
"""One time, or a column of them."""

FOREVER_MS = 1 << 60
"""What ends here or later never ends: times beyond cannot be told."""


class Takes(Enum):
    """What stands behind the word of a window, and what its fields are."""

    NOTHING = "nothing"
    COUNT = "a number of at least 1"
    LENGTH = "a duration, and one more behind the word of a grid"


class Clause(NamedTuple):
    """How a kind is written: `[RANGE 10s STEP 5s]` has the word RANGE, takes lengths and has the grid STEP."""

    word: str
    takes: Takes
    grid: str | None = None


class Window(ABC):
    """Which stretch of a stream a pattern sees. Kinds are frozen dataclasses of what their clause takes, in that order."""

    clause: ClassVar[Clause]
    """How it is written."""

    @property
    def kept_ms(self) -> int | None:
        """How long after its time a triple may still be seen; None if time does not tell."""
        return None

    @property
    @abstractmethod
    def one_order(self) -> str | None:
        """Why whoever shows it must see all of the stream in order, if so: on Spark that is one cell."""

    @property
    def step_ms(self) -> int | None:
        """The grid at whose instants alone its content changes; None if it does at any time."""
        return None

    @property
    def counts_triples(self) -> bool:
        """Whether triples that no pattern asks for must be counted."""
        return False

    def __str__(self) -> str:
        word, takes, grid = self.clause
        given = [getattr(self, field.name) for field in fields(self)]  # type: ignore[arg-type]
        shown = [format_duration(length) for length in given] if takes is Takes.LENGTH else [str(n) for n in given]
        if grid is not None:
            shown.insert(1, grid)
        return " ".join([word, *shown])


@dataclass(frozen=True, slots=True)
class Moment:
    """A time told from another: so much later, from there on to the first instant of a grid, and so much later again."""

    after_ms: int = 0
    grid_ms: int | None = None
    then_ms: int = 0

    def of(self, at_ms: Time, t0_ms: int) -> Time:
        """That time. `millstream.kernels.windows.window` has the same for single times in C."""
        moved = at_ms + self.after_ms
        return (moved if self.grid_ms is None else instant(moved, self.grid_ms, t0_ms)) + self.then_ms


class TimeWindow(Window):
    """What it shows ends at a time that is known when it comes."""

    @property
    def begins(self) -> Moment:
        """From when on what comes at a time is seen: at once, or with a `step_ms` at an instant of its grid."""
        return Moment()

    @property
    @abstractmethod
    def ends(self) -> Moment | None:
        """Until when, exclusive; None if for ever. What ends before it begins is never seen."""

    def interval(self, at_ms: Time, t0_ms: int) -> tuple[Time, Time]:
        """From when until when what comes at a time, or at each of several, is seen."""
        end = at_ms * 0 + FOREVER_MS if self.ends is None else self.ends.of(at_ms, t0_ms)
        return self.begins.of(at_ms, t0_ms), end

    @property
    @abstractmethod
    def kept_ms(self) -> int | None: ...

    @property
    def one_order(self) -> None:
        return None


@dataclass(frozen=True)
class CountWindow(Window):
    """What it shows ends when so many triples or elements of its stream have followed."""

    count: int

    @property
    def one_order(self) -> str:
        return f"[{self}] counts the stream in order"


class ElementWindow(Window):
    """What it shows ends just before the next element of its stream."""

    @property
    def one_order(self) -> str:
        return f"[{self}] is emptied by the stream's next element"


@dataclass(frozen=True)
class SilenceWindow(Window):
    """All that it shows ends at once, when no element of its stream has come for so long."""

    gap_ms: int

    @property
    def one_order(self) -> str:
        return f"[{self}] ends when no element of the stream, asked for or not, has come for {format_duration(self.gap_ms)}"


WindowKind: TypeAlias = TimeWindow | CountWindow | ElementWindow | SilenceWindow


def instant(at_ms: Time, length_ms: int, t0_ms: int) -> Time:
    """The first instant of a grid at or after a time."""
    return t0_ms - (t0_ms - at_ms) // length_ms * length_ms
