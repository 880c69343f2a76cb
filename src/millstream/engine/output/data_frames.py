"""Answers as data frames: columns of N-Triples strings become columns of Python values, typed where all are of one type."""

from __future__ import annotations

import datetime
import importlib
from decimal import Decimal
from types import ModuleType
from typing import Any

import pyarrow as pa

from millstream.errors import OptionError
from millstream.kernels.emission.terms import lexical_of, term_of
from millstream.operators.expressions.values.python_values import python_of

_TYPES: dict[object, Any] = {
    bool: pa.bool_(),
    int: pa.int64(),
    Decimal: None,
    float: pa.float64(),
    datetime.date: pa.date32(),
    datetime.timedelta: pa.duration("us"),
    (datetime.datetime, False): pa.timestamp("us"),
    (datetime.datetime, True): pa.timestamp("us", "UTC"),
    (datetime.time, False): pa.time64("us"),
}
"""What a column of a kind of values is; None: as the values are."""


def installed(name: str) -> ModuleType:
    """A library that frames are of, which millstream does not bring."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise OptionError(f"to_{name}() needs {name}, which is not installed: pip install {name}") from None


def typed(answers: pa.Table) -> pa.Table:
    """The table with typed columns; one of several kinds of values, or of texts, is strings without quotes and brackets."""
    for place, name in enumerate(answers.column_names[2:], 2):
        answers = answers.set_column(place, name, _column(answers.column(place).to_pylist()))
    return answers


def _column(texts: list[str | None]) -> pa.Array[Any]:
    # Most terms come again and again.
    known = {text: python_of(term_of(text)) for text in set(texts) if text is not None}
    kinds = {_kind(value) for value in known.values()}
    if len(kinds) > 1 and kinds <= {int, Decimal, float}:
        # As operators of SPARQL promote them.
        to: Any = float if float in kinds else Decimal
        known, kinds = {text: to(value) for text, value in known.items()}, {to}
    [kind] = kinds if len(kinds) == 1 else [str]
    if kind in _TYPES:
        try:
            found: pa.Array[Any] = pa.array([None if text is None else known[text] for text in texts], _TYPES[kind])
            return found
        except (pa.ArrowInvalid, OverflowError):
            # Numbers of more digits than a column has.
            pass
    return pa.array([None if text is None else lexical_of(text) for text in texts], pa.string())


def _kind(value: Any) -> object:
    """What can be in a column together; times with and without a zone cannot."""
    kind = type(value)
    return (kind, value.tzinfo is not None) if kind in (datetime.datetime, datetime.time) else kind
