"""When an element happened: the option `time`.

| option            | an element's time                                                                              |
|-------------------|------------------------------------------------------------------------------------------------|
| `prov`            | `prov:generatedAtTime` of its graph; without a graph of its own, the first such value in it    |
| `predicate:<iri>` | the first value of that predicate in the element                                               |
| `column`          | the column `at_ms` of a table                                                                  |
| `arrival`         | the clock passed in, asked when the element is complete                                        |
| `rate:N`          | element k (from 0, over all files of the source) is at floor(1000 k / N)                       |
| `timestamp`       | that of the message of a broker which brought it                                               |
| `header:NAME`     | the value of that header of the message: milliseconds, or a dateTime                           |

An element without a time is set aside. One without triples is passed on as a sign of life where it has a time anyway
(`arrival`, `rate:N`, `column`), else there is nothing in it to lose.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from pyoxigraph import DefaultGraph, NamedNode, Quad

from millstream.errors import DataError, OptionError
from millstream.rdf.element import Rejections
from millstream.rdf.times import MAX_MS, MIN_MS, OUT_OF_RANGE, time_ms

GENERATED_AT_TIME = NamedNode("http://www.w3.org/ns/prov#generatedAtTime")
# Without exponents beyond any use, which would be computed in full.
_RATE = re.compile(r"\+?[0-9]{1,18}(?:\.[0-9]{0,18})?(?:[eE][+-]?[0-9]{1,2})?|[0-9]{1,18}/[0-9]{1,18}")
CHOICES = (
    "prov, predicate:<iri>, column (tables), arrival, rate:N (N elements a second from 0), "
    "and of messages timestamp or header:NAME"
)


class TimeKind(enum.Enum):
    """Where times come from."""

    PROV = "prov"
    PREDICATE = "predicate"
    COLUMN = "column"
    ARRIVAL = "arrival"
    RATE = "rate"
    TIMESTAMP = "timestamp"
    HEADER = "header"

    @property
    def is_of_messages(self) -> bool:
        """Whether only messages of a broker have it."""
        return self in (TimeKind.TIMESTAMP, TimeKind.HEADER)


@dataclass(frozen=True, slots=True)
class TimeOption:
    """The option `time`, read."""

    kind: TimeKind
    predicate: NamedNode | None = None
    rate: Fraction | None = None
    header: str | None = None

    @property
    def is_stated(self) -> bool:
        """Whether the data must say it."""
        return self.kind in (TimeKind.PROV, TimeKind.PREDICATE)


def parse_time_option(text: str) -> TimeOption:
    """The option from its text.

    >>> parse_time_option("rate:2.5").rate
    Fraction(5, 2)
    """
    kind, colon, value = text.strip().partition(":") if isinstance(text, str) else (text, "", "")
    match kind:
        case "header" if value.strip():
            return TimeOption(TimeKind.HEADER, header=value.strip())
        case "prov" | "column" | "arrival" | "timestamp" if not colon:
            return TimeOption(TimeKind(kind), GENERATED_AT_TIME if kind == "prov" else None)
        case "predicate" if value:
            try:
                return TimeOption(TimeKind.PREDICATE, NamedNode(value.strip().removeprefix("<").removesuffix(">")))
            except ValueError as error:
                raise OptionError(f"time {text!r}: not an IRI: {error}") from None
        case "rate" if value:
            try:
                rate = Fraction(value.strip()) if _RATE.fullmatch(value.strip()) else None
            except ZeroDivisionError:
                rate = None
            if not rate:
                raise OptionError(f"time {text!r}: the rate must be a number of elements a second above 0")
            return TimeOption(TimeKind.RATE, rate=rate)
    raise OptionError(f"time {text!r} is not known; it is one of {CHOICES}")


class Group(NamedTuple):
    """What is to become an element: its quads, the line it begins on, and the time a graph or column gave it."""

    quads: list[Quad]
    line: int | None
    at_ms: int | None = None


class Timing:
    """Gives groups the times that they state, or that a clock says; those at a rate follow from their number alone."""

    def __init__(self, option: TimeOption, clock_ms: Callable[[], int] | None = None) -> None:
        if option.kind is TimeKind.ARRIVAL and clock_ms is None:
            raise OptionError("time 'arrival' needs a clock: pass clock_ms")
        self.option = option
        self._clock_ms = clock_ms

    def timed(self, group: Group, rejections: Rejections) -> tuple[list[Quad], int] | None:
        """The quads of the element that a group is, and its time; nothing if it has none."""
        quads = group.quads
        try:
            match self.option.kind:
                case TimeKind.ARRIVAL:
                    assert self._clock_ms is not None
                    at_ms = checked_clock(self._clock_ms)
                case _ if group.at_ms is not None:
                    at_ms = group.at_ms
                case _ if not quads:
                    return None
                case TimeKind.PROV | TimeKind.PREDICATE:
                    at_ms = self._stated(quads)
                case _:
                    raise DataError("the element has no value in the column at_ms")
        except DataError as error:
            text = f"{quads[0]} ." if quads else ""
            rejections.reject(error.reason, line=group.line, column=None, text=text)
            return None
        if self.option.kind is TimeKind.PROV and group.at_ms is None:
            quads = without_graph_times(quads)
        return quads, at_ms

    def _stated(self, quads: list[Quad]) -> int:
        predicate = self.option.predicate
        assert predicate is not None
        fault: DataError | None = None
        for quad in quads:
            if quad.predicate == predicate:
                try:
                    return time_ms(quad.object)
                except DataError as error:
                    fault = fault or error
        if fault is not None:
            raise DataError(f"the element's time cannot be read: {fault.reason}")
        raise DataError(f"the element has no time: nothing in it has {predicate}")


def checked_clock(clock_ms: Callable[[], int]) -> int:
    """What a clock says, if it is a time."""
    at_ms = clock_ms()
    if isinstance(at_ms, int) and not MIN_MS <= at_ms <= MAX_MS:
        raise DataError(f"the clock says {at_ms}: {OUT_OF_RANGE}")
    return at_ms


@dataclass(frozen=True, slots=True)
class FixedClock:
    """A clock that stands still: everything that is read again arrives when it did."""

    at_ms: int

    def __call__(self) -> int:
        return self.at_ms


def readings_of(clock_ms: Callable[[], int], count: int) -> npt.NDArray[np.int64]:
    """What a clock says when so many elements arrive."""
    if isinstance(clock_ms, FixedClock):
        return np.full(count, clock_ms.at_ms, np.int64)
    return np.array([checked_clock(clock_ms) for _ in range(count)], np.int64)


def is_graph_time(quad: Quad) -> bool:
    """Whether a quad says in the default graph when a graph was generated."""
    return isinstance(quad.graph_name, DefaultGraph) and quad.predicate == GENERATED_AT_TIME


def without_graph_times(quads: list[Quad]) -> list[Quad]:
    """The quads but those that say in the default graph when one of their own graphs was generated: metadata."""
    graphs = {quad.graph_name for quad in quads if not isinstance(quad.graph_name, DefaultGraph)}
    if not graphs:
        return quads
    return [quad for quad in quads if not (is_graph_time(quad) and quad.subject in graphs)]
