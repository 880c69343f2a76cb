"""Cells of rows as parts of N-Triples text: percent-encoded, escaped, checked, or read as times.

An encoder takes the text of a cell, which is not empty, and gives what stands in its place, or raises ValueError with the
reason.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from urllib.parse import quote

from millstream.errors import DataError
from millstream.rdf.times import MAX_MS, MIN_MS, OUT_OF_RANGE, date_time_ms

Encoder = Callable[[str], str]

_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]*")
_NOT_IN_AN_IRI = re.compile(r"[\x00-\x20<>\"{}|^`\\]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NOT_IN_A_LABEL = re.compile(r"[^A-Za-z0-9]")
_ESCAPED = re.compile(r'[\\"\n\r\t\x00-\x1f\x7f]')
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_LEXICAL = {
    "integer": re.compile(r"[+-]?[0-9]+"),
    "long": re.compile(r"[+-]?[0-9]+"),
    "int": re.compile(r"[+-]?[0-9]+"),
    "nonNegativeInteger": re.compile(r"\+?[0-9]+|-0+"),
    "decimal": re.compile(_NUMBER),
    "double": re.compile(rf"{_NUMBER}(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN"),
    "float": re.compile(rf"{_NUMBER}(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN"),
    "boolean": re.compile(r"true|false|0|1"),
}
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MS = datetime.timedelta(milliseconds=1)


def _percent_encoded(text: str) -> str:
    return text if _UNRESERVED.fullmatch(text) else quote(text, safe="")


def _raw(text: str) -> str:
    if _NOT_IN_AN_IRI.search(text):
        raise ValueError(f"{text!r} cannot stand in an IRI")
    return text


def _whole(text: str) -> str:
    if not _SCHEME.match(text):
        raise ValueError(f"{text!r} is no IRI: it has no scheme, such as http:")
    return _raw(text)


def _label(text: str) -> str:
    """Letters and digits stay; anything else becomes its number, so that different cells stay different."""
    return _NOT_IN_A_LABEL.sub(lambda match: f"_{ord(match[0]):x}_", text)


def _literal(text: str) -> str:
    if not _ESCAPED.search(text):
        return text
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04X}", text)


ENCODERS: dict[str, Encoder] = {"iri": _percent_encoded, "raw": _raw, "whole": _whole, "label": _label, "literal": _literal}


def datatype_encoder(name: str, time_format: str | None) -> Encoder:
    """Checks the values of an XSD datatype; dates and times in a format of their own become xsd:dateTime."""
    if time_format is not None and name in ("dateTime", "dateTimeStamp"):
        read = time_reader(time_format)
        return lambda text: date_time(read(text))
    if name in ("dateTime", "dateTimeStamp"):
        read_iso = time_reader("iso")

        def checked_time(text: str) -> str:
            read_iso(text)
            return _literal(text.strip())

        return checked_time
    lexical = _LEXICAL.get(name)
    if lexical is None:
        return _literal

    def checked(text: str) -> str:
        value = text.strip()
        if not lexical.fullmatch(value):
            raise ValueError(f"{value!r} is no xsd:{name}")
        return value

    return checked


def time_reader(format: str) -> Callable[[str], int]:
    """Reads times as milliseconds: `ms`, `s`, `iso`, or a pattern of strptime; without a zone they are in UTC."""
    match format:
        case "ms":
            return lambda text: _counted(text, 1)
        case "s":
            return lambda text: _counted(text, 1000)
        case "iso":
            return lru_cache(4096)(_iso)
    if "%" not in format:
        raise ValueError(f"{format!r} is no format of times; it is ms, s, iso or a pattern such as %Y-%m-%d %H:%M:%S")

    @lru_cache(4096)  # many rows have the same time
    def read(text: str) -> int:
        try:
            found = datetime.datetime.strptime(text.strip(), format)
        except ValueError:
            raise ValueError(f"{text!r} is no time like {format!r}") from None
        return ((found if found.tzinfo else found.replace(tzinfo=datetime.UTC)) - _EPOCH) // _MS

    return read


def _counted(text: str, unit_ms: int) -> int:
    value = text.strip()
    if not _LEXICAL["decimal"].fullmatch(value) or len(value) > 40:
        raise ValueError(f"{text!r} is no number of {'seconds' if unit_ms == 1000 else 'milliseconds'}")
    # Down to the millisecond before, as for times in RDF.
    found = math.floor(Decimal(value) * unit_ms)
    if not MIN_MS <= found <= MAX_MS:
        raise ValueError(f"{text!r} is no time: {OUT_OF_RANGE}")
    return found


def _iso(text: str) -> int:
    value = text.strip().replace(" ", "T", 1)
    try:
        return date_time_ms(value)
    except DataError as error:
        if error.reason.startswith("not an xsd:dateTime"):
            raise ValueError(
                f"{text.strip()[:60]!r} is no time of ISO 8601; a column with another format has it in [times], "
                'such as "%d.%m.%Y %H:%M"'
            ) from None
        raise ValueError(error.reason) from None


def date_time(at_ms: int) -> str:
    """A time as canonical xsd:dateTime, within the years that Python's calendar reaches.

    >>> date_time(1500)
    '1970-01-01T00:00:01.5Z'
    """
    seconds, ms = divmod(at_ms, 1000)
    try:
        found = _EPOCH + datetime.timedelta(seconds=seconds)
    except OverflowError:
        raise ValueError(f"{at_ms} ms is outside of the years 1 to 9999") from None
    part = f".{ms:03d}".rstrip("0") if ms else ""
    return f"{found.year:04d}-{found:%m-%dT%H:%M:%S}{part}Z"
