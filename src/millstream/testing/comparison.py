"""Expected answers beside those that came: multisets by time, so that order does not count and multiplicities do.

Terms are compared as terms, numbers by datatype and value; any blank node is equal to any other, for their labels mean
nothing outside of where they were made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pyoxigraph import BlankNode, Literal

from millstream.operators.expressions.values.python_values import python_of
from millstream.testing.notation import Term

if TYPE_CHECKING:
    from millstream.testing.timeline import Timeline

_XSD = "http://www.w3.org/2001/XMLSchema#"
_NUMBERS = frozenset(_XSD + name for name in ("integer", "decimal", "float", "double"))


class Row(NamedTuple):
    """An answer at a time that appears, or (taken back) disappears; equal for all ways to write it."""

    at_ms: int
    appears: bool
    key: tuple[Any, ...]


class Came(NamedTuple):
    """An answer as an engine gave it."""

    at_ms: int
    weight: int
    bindings: Mapping[str, Term]


@dataclass(frozen=True, slots=True)
class Ran:
    """What an engine made of a timeline: its answers, how many inputs were late, and the places of those, where it tells."""

    answers: list[Came]
    late: int
    late_events: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Line:
    """One answer in the comparison: how often it was expected and came, as it is written."""

    row: Row
    bindings: Mapping[str, Term]
    expected: int
    came: int
    elsewhere_ms: tuple[int, ...] = ()
    """When an answer came that was expected now, or was expected that came now."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a timeline went; as text it is drawn."""

    timeline: Timeline
    lines: list[Line]
    late: int
    late_events: frozenset[int]
    complaints: tuple[str, ...] = ()
    """What else went wrong: late input that nobody expected, answers that depend on how input is cut."""

    @property
    def missing(self) -> int:
        """How many expected answers did not come."""
        return sum(max(0, line.expected - line.came) for line in self.lines)

    @property
    def surplus(self) -> int:
        """How many answers came that nobody expected."""
        return sum(max(0, line.came - line.expected) for line in self.lines)

    @property
    def passed(self) -> bool:
        """Whether exactly what was expected came."""
        return not self.missing and not self.surplus and not self.complaints

    def __str__(self) -> str:
        from millstream.testing.drawing import drawn

        return drawn(self).plain


def compare(timeline: Timeline, ran: Ran) -> list[Line]:
    """Each different answer once, by time, those that were expected first and in the order they are written."""
    columns = [variable.value for variable in timeline.checked.columns]
    shown: dict[Row, Mapping[str, Term]] = {}
    expected = _counted(timeline.expected, columns, shown)
    came = _counted(ran.answers, columns, shown)
    order = {row: place for place, row in enumerate(shown)}
    missing, surplus = expected - came, came - expected
    found = []
    for row in sorted(shown, key=lambda row: (row.at_ms, order[row])):
        other = surplus if row in missing else missing if row in surplus else ()
        elsewhere = tuple(sorted(there.at_ms for there in other if there[1:] == row[1:]))
        found.append(Line(row, shown[row], expected[row], came[row], elsewhere))
    return found


def same(timeline: Timeline, one: Ran, other: Ran) -> bool:
    """Whether two runs gave the same answers."""
    columns = [variable.value for variable in timeline.checked.columns]
    return _counted(one.answers, columns, {}) == _counted(other.answers, columns, {}) and one.late == other.late


def _counted(
    answers: Iterable[tuple[int, int, Mapping[str, Term]]], columns: list[str], shown: dict[Row, Mapping[str, Term]]
) -> Counter[Row]:
    found: Counter[Row] = Counter()
    for at_ms, weight, bindings in answers:
        row = Row(at_ms, weight > 0, tuple(_key(bindings.get(column)) for column in columns))
        shown.setdefault(row, bindings)
        found[row] += abs(weight)
    return found


def _key(term: Term | None) -> Any:
    match term:
        case BlankNode():
            return "_:"
        case Literal() if term.datatype.value in _NUMBERS and not isinstance(value := python_of(term), str):
            # NaN is the same as NaN here, and -0.0 another term than 0.0.
            return term.datatype.value, repr(value) if isinstance(value, float) else value
    return term
