"""A template to begin with, made from the first rows of a file: what its columns are called, and what they seem to hold.

It is a guess that people look at, so it says in comments what it took for what, and how to go on.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import PurePath
from typing import Any

from millstream.errors import DataError
from millstream.rdf.inputs import ByteStream
from millstream.rdf.mapping.cells import time_reader
from millstream.windows.durations import format_duration

_ROWS = 500
_DELIMITERS = ",;\t|"
_PATTERNS = (
    "iso", "%Y-%m-%d", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%d.%m.%Y", "%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%d/%m/%Y",
    "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M", "%m/%d/%Y", "%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y %I:%M %p", "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M", "%Y/%m/%d", "%d-%m-%Y %H:%M:%S", "%d-%m-%Y %H:%M", "%d-%m-%Y", "%Y%m%d%H%M%S", "%Y%m%d%H%M",
)  # fmt: skip
# Seconds and milliseconds since 1970 that lie between 2000 and 2100.
_COUNTS = {"s": (946_684_800, 4_102_444_800), "ms": (946_684_800_000, 4_102_444_800_000)}
_TIME_NAME = re.compile(r"time|date|stamp|when|seen|\b(?:ts|at|on)\b", re.IGNORECASE)
_LEXICAL = {
    "integer": re.compile(r"[+-]?[0-9]{1,18}"),
    "decimal": re.compile(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?"),
    "double": re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?[eE][+-]?[0-9]+|[+-]?[0-9]+(?:\.[0-9]+)?"),
    "boolean": re.compile(r"true|false"),
}
_IRI = re.compile(r"https?://[^\s<>\"{}|^`\\]+")
_MOST_NAMES = 50
_LONGEST_NAME = 40
_WINDOWS_MS = tuple(n * 60_000 for n in (1, 5, 15, 60, 360, 1440, 10_080))


@dataclass(frozen=True, slots=True)
class Column:
    """A column, what is written for it in a query, and what its cells seem to be."""

    name: str
    property: str
    kind: str
    """`time`, `integer`, `decimal`, `double`, `boolean`, `iri`, `name` (one of a few things) or `text`."""
    format: str | None = None
    """Of times."""
    others: int = 0
    """How many cells are something else."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A template as text, and the columns that it was made of."""

    text: str
    columns: tuple[Column, ...]
    time: Column | None


def suggest(source: ByteStream, name: str, *, lines: bool) -> Suggestion:
    """A template for the rows of a source; `lines` reads JSON lines instead of CSV."""
    delimiter, header, has_header, rows = _json(source) if lines else _csv(source)
    if not header:
        raise DataError("there is no row to make a template of", source=name)
    columns = _columns(header, rows)
    if not any(_can_be_named(column.name) for column in columns):
        raise DataError("no column has a name that a template can use", source=name)
    times = [column for column in columns if column.kind == "time" and _can_be_named(column.name)]
    # Rather a column whose name says so than the first that could be one.
    time = next((c for c in times if _TIME_NAME.search(c.name)), times[0] if times else None)
    text = _template(name, delimiter, None if has_header else header, columns, time, rows)
    return Suggestion(text, tuple(columns), time)


# Rows ---------------------------------------------------------------------------------------------------------------


def _csv(source: ByteStream) -> tuple[str, list[str], bool, list[list[str]]]:
    text = io.TextIOWrapper(io.BufferedReader(source), "utf-8", errors="replace", newline="")
    first = [line for line in islice(text, _ROWS + 1) if line.strip()]
    delimiter = max(_DELIMITERS, key=lambda d: _fits(first, d))
    try:
        rows = [row for row in csv.reader(first, delimiter=delimiter) if row]
    except csv.Error:
        rows = [line.strip().split(delimiter) for line in first]
    if not rows:
        return delimiter, [], True, []
    # A header has names, and no numbers.
    has_header = all(cell.strip() and _kind([cell])[0] in ("name", "text") for cell in rows[0])
    header = rows[0] if has_header else [f"column{number}" for number in range(1, len(rows[0]) + 1)]
    return delimiter, header, has_header, [row for row in rows[has_header:] if len(row) == len(header)]


def _fits(lines: list[str], delimiter: str) -> int:
    """How many cells there are in as many rows as have that many."""
    try:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
    except csv.Error:
        return 0
    return sum(width == widths[0] for width in widths) * (widths[0] - 1) if widths else 0


def _json(source: ByteStream) -> tuple[str, list[str], bool, list[list[str]]]:
    found: list[dict[str, str]] = []
    for data in islice(io.BufferedReader(source, 1 << 16), _ROWS):
        try:
            row = json.loads(data, parse_float=str, parse_int=str)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            found.append(dict(_cells(row, "")))
    header = list(dict.fromkeys(name for row in found for name in row))
    return ",", header, True, [[row.get(name, "") for name in header] for row in found]


def _cells(row: dict[str, Any], before: str) -> Iterator[tuple[str, str]]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from _cells(value, f"{before}{name}.")
        elif isinstance(value, bool):
            yield before + name, "true" if value else "false"
        elif isinstance(value, str):
            yield before + name, value


# Columns ------------------------------------------------------------------------------------------------------------


def _columns(header: list[str], rows: list[list[str]]) -> list[Column]:
    found: list[Column] = []
    taken: set[str] = set()
    for place, name in enumerate(header):
        cells = [row[place].strip() for row in rows if row[place].strip()]
        kind, format = _kind(cells, name)
        property = base = _property(name)
        number = 2
        while property in taken:
            property, number = f"{base}{number}", number + 1
        taken.add(property)
        others = sum(not _LEXICAL[kind].fullmatch(cell) for cell in cells) if kind in _LEXICAL else 0
        found.append(Column(name, property, kind, format, others))
    return found


def _kind(cells: list[str], name: str = "") -> tuple[str, str | None]:
    if not cells:
        return "text", None
    if (format := _time_format(cells, name)) is not None:
        return "time", format
    for kind, lexical in _LEXICAL.items():
        # A few bad cells do not make text of numbers.
        if sum(map(bool, map(lexical.fullmatch, cells))) * 4 >= len(cells) * 3:
            return kind, None
    if all(map(_IRI.fullmatch, cells)):
        return "iri", None
    few = len(set(cells)) <= min(_MOST_NAMES, max(1, len(cells) // 2))
    return ("name" if few and max(map(len, cells)) <= _LONGEST_NAME else "text"), None


def _time_format(cells: list[str], name: str) -> str | None:
    if all(map(_LEXICAL["integer"].fullmatch, cells)):
        if not _TIME_NAME.search(name):
            return None
        return next((f for f, (low, high) in _COUNTS.items() if all(low <= int(c) <= high for c in cells)), None)
    return next((pattern for pattern in _PATTERNS if _all_read(time_reader(pattern), cells)), None)


def _all_read(read: Callable[[str], int], cells: list[str]) -> bool:
    try:
        for cell in cells:
            read(cell)
    except ValueError:
        return False
    return True


def _property(name: str) -> str:
    """A name as it stands behind a prefix: `Bikes In` is bikesIn."""
    words = re.findall(r"[A-Za-z0-9]+", name) or ["value"]
    joined = words[0][:1].lower() + words[0][1:] + "".join(word[:1].upper() + word[1:] for word in words[1:])
    return joined if joined[0].isalpha() else f"c{joined}"


# The template -------------------------------------------------------------------------------------------------------


def _template(
    name: str, delimiter: str, header: list[str] | None, columns: list[Column], time: Column | None, rows: list[list[str]]
) -> str:
    stem = _property(PurePath(name).name.partition(".")[0]) if name else "row"
    lines = [f"# Made from the first rows of {name}: look through it, and change what is not meant so."]
    if header is not None:
        lines.append(f"columns = [{', '.join(_quoted(column) for column in header)}]   # it has no header line")
    if delimiter != ",":
        lines.append(f"delimiter = {_quoted(delimiter)}")
    lines += ["", "[prefixes]", '"" = "http://example.org/"', ""]
    formats = [c for c in columns if c.format not in (None, "iso")]
    if formats:
        lines.append("[times]")
        lines += [f"{_quoted(c.name)} = {_quoted(c.format or '')}{_doubt(c)}" for c in formats]
        lines.append("")
    lines.append("[element]")
    if time is None:
        lines.append('# time = "..."   # no column looks like a time: write --format ntriples, and run with --time rate:1')
    else:
        lines.append(f"time = {_quoted(time.name)}")
    width = max(len(c.property) for c in columns) + 1
    lines += ["triples = '''"]
    # A line of triples that begins with # is a comment.
    told = _told(columns, time)
    for column in columns:
        if column.others:
            lines.append(f"# {column.others} of the first {len(rows)} rows have no {column.kind} there, and are set aside:")
        if not _can_be_named(column.name):
            lines.append(f"# {column.property} cannot be named")
        elif column in told:
            lines.append(f":{stem}/{{#}}  :{column.property:<{width}} {_object(column)}")
    lines += ["'''", "", *_next_steps(name, stem, columns, time, header, rows)]
    return "".join(f"{line}\n" for line in lines)


def _told(columns: list[Column], time: Column | None) -> list[Column]:
    """The columns that triples are made of: the time only if there is nothing else."""
    named = [column for column in columns if _can_be_named(column.name)]
    return [column for column in named if column is not time] or named


def _can_be_named(column: str) -> bool:
    """Whether a template can have a placeholder for it."""
    return not re.search(r"[{}'\x00-\x1f\x7f\ufffd]", column)


def _doubt(column: Column) -> str:
    return "   # or does the month come first: %m/%d/%Y?" if (column.format or "").startswith("%d/%m") else ""


def _object(column: Column) -> str:
    match column.kind:
        case "name":
            return f":{{{column.name}}}"
        case "iri":
            return f"<{{+{column.name}}}>"
        case "text":
            return f'"{{{column.name}}}"'
        case "time":
            return f'"{{{column.name}}}"^^xsd:dateTime'
    return f'"{{{column.name}}}"^^xsd:{column.kind}'


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _next_steps(
    name: str, stem: str, columns: list[Column], time: Column | None, header: list[str] | None, rows: list[list[str]]
) -> list[str]:
    """How to go on, as comments: a query over what the rows become, and the two commands."""
    known = _told(columns, time)
    group = next((c for c in known if c.kind == "name"), None)
    number = next((c for c in known if c.kind in ("integer", "decimal", "double")), None)
    asked = [c for c in (group, number) if c is not None] or known[:1]
    pattern = " ; ".join(f":{c.property} ?{c.property}" for c in asked)
    if number is not None:
        keys = f"?{group.property} " if group is not None else ""
        head, tail = f"{keys}(AVG(?{number.property}) AS ?mean)", "" if group is None else f" GROUP BY ?{group.property}"
    else:
        head, tail = " ".join(f"?{c.property}" for c in asked), ""
    window, behind = _window(columns, time, rows)
    late = f" --lateness {format_duration(behind)}   # rows are not in the order of time" if behind else ""
    timed = "" if time is not None else " --format ntriples"
    rate = "" if time is not None else " --time rate:1"
    ending = "nq" if time is not None else "nt"
    return [
        f"# Then, with this saved as {stem}.toml, and a query in {stem}.rq:",
        "#",
        "#   PREFIX : <http://example.org/>",
        f"#   SELECT {head} WHERE {{",
        f"#     STREAM :{stem} [RANGE {format_duration(window)} TUMBLING] {{ ?row {pattern} }}",
        f"#   }}{tail}",
        "#",
        f"#   millstream map {name} --template {stem}.toml{timed} --output {stem}.{ending}",
        f"#   millstream run {stem}.rq --engine embedded --stream http://example.org/{stem}={stem}.{ending}{rate}{late}",
    ]


def _window(columns: list[Column], time: Column | None, rows: list[list[str]]) -> tuple[int, int]:
    """A length of window that some rows fall into, and how far rows come behind, in whole minutes."""
    if time is None:
        return _WINDOWS_MS[0], 0
    place, read = columns.index(time), time_reader(time.format or "iso")
    times = [read(row[place]) for row in rows if row[place].strip()]
    span = max(times) - min(times)
    length = next((w for w in _WINDOWS_MS if w * 10 >= span), _WINDOWS_MS[-1])
    behind = max(latest - at_ms for at_ms, latest in zip(times, accumulate(times, max), strict=True))
    return length, -(-behind // 60_000) * 60_000
