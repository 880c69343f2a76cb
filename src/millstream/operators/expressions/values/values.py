"""RDF terms as values: which value space a term is in and its value there.

A `Value` keeps the term it was read from, so that STR, DATATYPE and sameTerm see the spelling while operators see the
value; a computed value is spelled canonically, and only when somebody asks. Literals whose spelling is not allowed by
their datatype are ILL_TYPED, those of datatypes unknown here UNKNOWN: both only ever equal themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import partial
from typing import Any

from millstream.kernels.emission.terms import unescaped
from millstream.operators.expressions.values import dates, durations, numbers

XSD = "http://www.w3.org/2001/XMLSchema#"
LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
LANGUAGE_TYPES = frozenset({LANG_STRING, LANG_STRING.replace("langString", "dirLangString")})


class ExpressionError(Exception):
    """What the recommendation calls a type error: the expression has no value for this solution."""


class Space(IntEnum):
    """Value spaces. The order INTEGER < DECIMAL < FLOAT < DOUBLE is that of numeric type promotion."""

    IRI = 0
    BLANK = 1
    STRING = 2
    LANGUAGE = 3
    BOOLEAN = 4
    INTEGER = 5
    DECIMAL = 6
    FLOAT = 7
    DOUBLE = 8
    DATE_TIME = 9
    DATE = 10
    TIME = 11
    G_YEAR = 12
    G_YEAR_MONTH = 13
    G_MONTH = 14
    G_MONTH_DAY = 15
    G_DAY = 16
    DURATION = 17
    ILL_TYPED = 18
    UNKNOWN = 19


IRI, BLANK, STRING, LANGUAGE, BOOLEAN = Space.IRI, Space.BLANK, Space.STRING, Space.LANGUAGE, Space.BOOLEAN
INTEGER, DECIMAL, FLOAT, DOUBLE = Space.INTEGER, Space.DECIMAL, Space.FLOAT, Space.DOUBLE
DATE_TIME, DATE, TIME, DURATION = Space.DATE_TIME, Space.DATE, Space.TIME, Space.DURATION
ILL_TYPED, UNKNOWN = Space.ILL_TYPED, Space.UNKNOWN


class Value:
    """A term with its value; not to be changed.

    `value` is a str for IRIs, blank nodes and strings, a bool, an int, a Decimal or a float for the numbers, a Moment,
    a Duration, and the lexical form for the rest.
    """

    __slots__ = ("_lexical", "datatype", "language", "space", "value")

    def __init__(self, space: Space, value: Any, datatype: str = "", lexical: str | None = None, language: str = ""):
        self.space = space
        self.value = value
        self.datatype = datatype
        self.language = language
        self._lexical = lexical

    @property
    def lexical(self) -> str:
        """The lexical form of a literal, the IRI, or the label."""
        if self._lexical is None:
            self._lexical = _SPELLING[self.space](self.value)
        return self._lexical

    @property
    def is_literal(self) -> bool:
        return self.space >= STRING

    @property
    def is_numeric(self) -> bool:
        return INTEGER <= self.space <= DOUBLE

    @property
    def is_string(self) -> bool:
        """Whether it is what section 17.4.3 calls a string literal."""
        return self.space == STRING or self.space == LANGUAGE

    def same_term(self, other: Value) -> bool:
        return (
            self.datatype == other.datatype
            and self.language == other.language
            and self.lexical == other.lexical
            and (self.space == other.space or self.is_literal)
        )

    def text(self) -> str:
        """The term in N-Triples syntax."""
        if self.space == IRI:
            return f"<{self.value}>"
        if self.space == BLANK:
            return f"_:{self.value}"
        quoted = f'"{self.lexical.translate(_ESCAPES)}"'
        if self.space == STRING:
            return quoted
        return f"{quoted}@{self.language}" if self.space == LANGUAGE else f"{quoted}^^<{self.datatype}>"

    def __repr__(self) -> str:
        return f"Value({self.space.name}, {self.text()})"


def _same(value: str) -> str:
    return value


def _boolean(value: bool) -> str:
    return "true" if value else "false"


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})

_MOMENTS = {
    "dateTime": DATE_TIME,
    "date": DATE,
    "time": TIME,
    "gYear": Space.G_YEAR,
    "gYearMonth": Space.G_YEAR_MONTH,
    "gMonth": Space.G_MONTH,
    "gMonthDay": Space.G_MONTH_DAY,
    "gDay": Space.G_DAY,
}
"""Dates and times by the names of their types."""

_SPELLING: dict[Space, Callable[[Any], str]] = {
    **dict.fromkeys(Space, _same),
    BOOLEAN: _boolean,
    INTEGER: numbers.spell_integer,
    DECIMAL: numbers.spell_decimal,
    FLOAT: numbers.spell_float,
    DOUBLE: numbers.spell_double,
    **{space: partial(dates.spell, form) for form, space in _MOMENTS.items()},
    DURATION: durations.spell,
}


def _read_boolean(lexical: str) -> bool | None:
    return {"true": True, "1": True, "false": False, "0": False}.get(lexical)


READERS: dict[str, tuple[Space, Callable[[str], Any]]] = {
    XSD + "boolean": (BOOLEAN, _read_boolean),
    XSD + "integer": (INTEGER, numbers.read_integer),
    XSD + "decimal": (DECIMAL, numbers.read_decimal),
    XSD + "float": (FLOAT, numbers.read_float),
    XSD + "double": (DOUBLE, numbers.read_double),
    **{XSD + form: (space, partial(dates.read, form)) for form, space in _MOMENTS.items()},
    XSD + "duration": (DURATION, durations.read),
    XSD + "yearMonthDuration": (DURATION, durations.read_year_month),
    XSD + "dayTimeDuration": (DURATION, durations.read_day_time),
    **{XSD + name: (INTEGER, numbers.reader_between(*limits)) for name, limits in numbers.DERIVED_INTEGERS.items()},
}
"""Datatype -> its value space and what reads a lexical form, giving None for one that is not allowed."""

NUMERIC_TYPES = frozenset(XSD + name for name in ("integer", "decimal", "float", "double", *numbers.DERIVED_INTEGERS))


def literal(lexical: str, datatype: str) -> Value:
    """The literal of a datatype other than rdf:langString."""
    if datatype == XSD + "string":
        return Value(STRING, lexical, datatype, lexical)
    found = READERS.get(datatype)
    if found is None:
        return Value(UNKNOWN, lexical, datatype, lexical)
    value = found[1](lexical) if len(lexical) <= numbers.LONGEST else None
    if value is None:
        return Value(ILL_TYPED, lexical, datatype, lexical)
    return Value(found[0], value, datatype, lexical)


def read_term(text: str) -> Value:
    """The value of a term in the N-Triples syntax that a dictionary gives."""
    if text[0] == "<":
        return Value(IRI, text[1:-1], "", text[1:-1])
    if text[0] == "_":
        return Value(BLANK, text[2:], "", text[2:])
    end = len(text) - 1 if text[-1] == '"' else text.rindex('"')
    lexical = text[1:end] if "\\" not in text else unescaped(text[1:end])
    if end == len(text) - 1:
        return Value(STRING, lexical, XSD + "string", lexical)
    if text[end + 1] == "@":
        return Value(LANGUAGE, lexical, LANG_STRING, lexical, text[end + 2 :])
    return literal(lexical, text[end + 4 : -1])


# What functions give back.

TRUE = Value(BOOLEAN, True, XSD + "boolean", "true")
FALSE = Value(BOOLEAN, False, XSD + "boolean", "false")

_COMPUTED = {
    INTEGER: XSD + "integer",
    DECIMAL: XSD + "decimal",
    FLOAT: XSD + "float",
    DOUBLE: XSD + "double",
    DATE_TIME: XSD + "dateTime",
    DATE: XSD + "date",
    TIME: XSD + "time",
}


def computed(space: Space, value: Any) -> Value:
    """A number, date or time that was computed."""
    return Value(space, value, _COMPUTED[space])


def integer(value: int) -> Value:
    return Value(INTEGER, value, XSD + "integer")


def string(value: str, language: str = "") -> Value:
    if language:
        return Value(LANGUAGE, value, LANG_STRING, value, language)
    return Value(STRING, value, XSD + "string", value)


def boolean(value: bool) -> Value:
    return TRUE if value else FALSE


def iri(value: str) -> Value:
    return Value(IRI, value, "", value)
