"""What people write in a timeline: times, names and triples in Turtle syntax, as plain values.

Everything here raises a DataError whose line and column are those of the text that it was given.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple

from millstream.errors import DataError
from millstream.rdf import BlankScope
from millstream.rdf.readers.parsing import quads_of
from millstream.rdf.times import date_time_ms
from millstream.windows.durations import format_duration, parse_duration

Term = NamedNode | BlankNode | Literal

_SUBJECT, _PREDICATE = NamedNode("x:s"), NamedNode("x:p")
_DATE = re.compile(r"-?\d{4,}-\d\d-\d\dT.*")
# From here on (March 1973) a number of milliseconds is a date, below a time since the start.
_DATES_FROM_MS = 100_000_000_000


def time_ms(time: str | int) -> int:
    """A point in time: a duration since 0 as queries write them, perhaps below it, a date and time, or milliseconds.

    >>> time_ms("1m30s"), time_ms("-5"), time_ms("1970-01-01T00:00:01Z"), time_ms(7)
    (90000, -5, 1000, 7)
    """
    if isinstance(time, int):
        return time
    if _DATE.fullmatch(time):
        return date_time_ms(time)
    try:
        return -parse_duration(time[1:]).ms if time.startswith("-") else parse_duration(time).ms
    except ValueError as error:
        raise DataError(f"{time or 'nothing'}: {error}; write a time such as 0s, 1m30s or 2026-01-05T09:00:00Z") from None


def shown_time(at_ms: int) -> str:
    """A time as `time_ms` reads it.

    >>> shown_time(90000), shown_time(-5), shown_time(0)
    ('1m30s', '-5ms', '0s')
    """
    if at_ms >= _DATES_FROM_MS:
        from millstream.output.table import shown_time as shown_date

        return f"{shown_date(at_ms).replace(' ', 'T')}Z"
    return "0s" if at_ms == 0 else f"{'-' if at_ms < 0 else ''}{format_duration(abs(at_ms))}"


def is_file(source: object) -> bool:
    """Whether a source is a file: a path, or a string of one word, which is neither a query nor triples."""
    return isinstance(source, os.PathLike) or (isinstance(source, str) and re.fullmatch(r"\S+", source) is not None)


def given_text(source: str | os.PathLike[str]) -> tuple[str, Path | None]:
    """A text, or what a file holds, with its path."""
    if isinstance(source, str) and not is_file(source):
        return source, None
    path = Path(source)
    try:
        return path.read_text("utf-8"), path
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or ("not UTF-8 text" if isinstance(error, UnicodeError) else str(error))
        raise DataError(f"cannot be read: {reason[:1].lower()}{reason[1:]}", source=str(path)) from None


def triples_of(text: str, prefixes: Mapping[str, str]) -> tuple[Triple, ...]:
    """The triples of Turtle text, blank nodes new ones."""
    return _parsed(text.rstrip(), prefixes, "")


def term_of(text: str, prefixes: Mapping[str, str]) -> Term:
    """The one term of Turtle text: `:lab`, `35`, `"text"@en`."""
    found = _parsed(f"{text} .", prefixes, f"{_SUBJECT} {_PREDICATE}") if text.strip() else ()
    if len(found) != 1 or found[0].subject != _SUBJECT or found[0].predicate != _PREDICATE:
        raise DataError(f'{text.strip() or "nothing"}: not one term; write one such as :lab, 35 or "text"')
    return cast("Term", found[0].object)


def iri_of(text: str, prefixes: Mapping[str, str]) -> str:
    """The IRI that `<iri>`, a prefixed name or an IRI as it is means."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text):
        text = f"<{text}>"
    found = term_of(text, prefixes)
    if not isinstance(found, NamedNode):
        raise DataError(f"{text}: not an IRI; write one such as :readings or <http://example.org/rooms>")
    return found.value


def _parsed(text: str, prefixes: Mapping[str, str], before: str) -> tuple[Triple, ...]:
    # On a line of its own, so that columns are those of the text.
    head = "".join(f"@prefix {name}: <{iri}> . " for name, iri in prefixes.items())
    whole = f"{head}{before}\n{text}".encode("utf-8", "surrogatepass")
    try:
        quads = BlankScope().rename(quads_of(whole, RdfFormat.TURTLE), whole)
    except DataError as error:
        line = 1 if error.line is None else error.line - 1
        reason = f"{error.reason}; triples end with a dot" if error.reason == "Unexpected end" else error.reason
        raise DataError(reason, line=max(line, 1), column=error.column if line else 1) from None
    return tuple(dict.fromkeys(quad.triple for quad in quads))
