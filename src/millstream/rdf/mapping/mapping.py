"""Rows of CSV or JSON lines as stream elements in N-Quads, by a template.

Each row is an element: a named graph, its prov:generatedAtTime stated behind it in the default graph, which is what the
option `time=prov` reads. A row that cannot be mapped is set aside with its line and the reason; the rest goes on.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from millstream.errors import OptionError
from millstream.rdf.element import Rejections
from millstream.rdf.inputs import ByteStream
from millstream.rdf.mapping.cells import date_time
from millstream.rdf.mapping.templates import ROW, Pattern, Slot, Template

_GENERATED = "<http://www.w3.org/ns/prov#generatedAtTime>"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_LONGEST_CELL = 1 << 24
_SURROGATES = range(0xD800, 0xE000)


@dataclass(slots=True)
class Mapped:
    """Counts of a mapping."""

    rows: int = 0
    triples: int = 0


Row = tuple[int, Sequence[str | None]]
"""The line it begins on, and its cells in the order of the columns asked for."""


def map_rows(
    template: Template, source: ByteStream, rejections: Rejections, counts: Mapped, *, lines: bool, graphs: bool
) -> Iterator[str]:
    """The text of each element; `lines` reads JSON lines instead of CSV, without `graphs` only triples are written."""
    if graphs and template.time is None:
        raise OptionError(f"{template.name}: element.time is missing: say which column has the time, or write ntriples")
    names = sorted(template.used)
    rows = _json_rows(source, names, rejections) if lines else _csv_rows(template, source, names, rejections)
    writer = _RowWriter(template, names, graphs)
    for line, cells in rows:
        try:
            text, triples = writer.write(cells, counts.rows + 1)
        except ValueError as error:
            rejections.reject(str(error), line=line, text=", ".join(cell or "" for cell in cells))
            continue
        counts.rows += 1
        counts.triples += triples
        yield text


class _RowWriter:
    """A template bound to columns: all cells are encoded once, then put into one format where none is empty."""

    def __init__(self, template: Template, names: list[str], graphs: bool) -> None:
        self._names = names
        self._template = template
        self._slots: list[Slot] = []
        self._graphs = graphs
        end = f" {template.graph.format} .\n" if graphs else " .\n"
        more = template.graph.slots if graphs else ()
        self._lines = [self._bound(Pattern(triple.format + end, (*triple.slots, *more))) for triple in template.triples]
        self._whole = "".join(format for format, _ in self._lines)
        self._whole_places = [place for _, places in self._lines for place in places]
        self._graph, self._graph_places = self._bound(template.graph)
        self._columns = [-1 if slot.column == ROW else names.index(slot.column) for slot in self._slots]
        self._time = names.index(template.time) if template.time is not None else -1
        self._required = [names.index(name) for name in template.required]

    def _bound(self, pattern: Pattern) -> tuple[str, list[int]]:
        """Numbers the slots, equal ones alike, so that each cell is encoded once."""
        places = []
        for slot in pattern.slots:
            if slot not in self._slots:
                self._slots.append(slot)
            places.append(self._slots.index(slot))
        return pattern.format, places

    def write(self, cells: Sequence[str | None], number: int) -> tuple[str, int]:
        for place in self._required:
            if not cells[place]:
                raise ValueError(f"column {self._names[place]}: is empty, and required")
        stated = self._stated(cells) if self._graphs else ""
        values: list[str | None] = []
        complete = True
        for slot, column in zip(self._slots, self._columns, strict=True):
            cell = str(number) if column < 0 else cells[column]
            if cell:
                try:
                    values.append(slot.encode(cell))
                except ValueError as error:
                    raise ValueError(f"column {slot.column}: {error}") from None
            else:
                values.append(None)
                complete = False
        if complete:
            text, triples = self._whole % tuple([values[place] for place in self._whole_places]), len(self._lines)
        else:
            text, triples = self._parts(values)
        if not self._graphs:
            return text, triples
        graph = [values[place] for place in self._graph_places]
        if None in graph:
            raise ValueError("the element's graph cannot be named: a column in element.graph is empty")
        return f"{text}{self._graph % tuple(graph)} {_GENERATED} {stated} .\n" if triples else "", triples

    def _parts(self, values: list[str | None]) -> tuple[str, int]:
        found = []
        for format, places in self._lines:
            some = [values[place] for place in places]
            if None not in some:
                found.append(format % tuple(some))
        return "".join(found), len(found)

    def _stated(self, cells: Sequence[str | None]) -> str:
        cell = cells[self._time]
        if not cell:
            raise ValueError(f"column {self._names[self._time]}: is empty, and the element's time")
        try:
            at_ms = self._template.read_time(cell)
        except ValueError as error:
            raise ValueError(f"column {self._names[self._time]}: {error}") from None
        try:
            return f'"{date_time(at_ms)}"^^<{_XSD}dateTime>'
        except ValueError:  # years that Python's calendar does not reach
            return f'"{at_ms}"^^<{_XSD}integer>'


def _csv_rows(template: Template, source: ByteStream, names: list[str], rejections: Rejections) -> Iterator[Row]:
    # What is not UTF-8 makes one row malformed, not the file.
    text = io.TextIOWrapper(io.BufferedReader(source), "utf-8", errors="surrogateescape", newline="")
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(text, delimiter=template.delimiter)
    header = list(template.columns) if template.columns is not None else next(reader, None)
    if header is None:
        return
    places = [_place(name, header, template, rejections.source) for name in names]
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            rejections.reject(f"not CSV: {error}", line=line)
            continue
        if not row:
            continue
        if len(row) != len(header):
            reason = f"the row has {len(row)} cells, there are {len(header)} columns"
        elif not all(map(_is_text, row)):
            reason = "not UTF-8 text"
        else:
            yield line, [row[place] for place in places]
            continue
        rejections.reject(reason, line=line, text=template.delimiter.join(row))


def _place(name: str, header: list[str], template: Template, source: str) -> int:
    if name not in header:
        reason = f"{template.name}: there is no column {name!r} in {source}, only {', '.join(header)[:300]}"
        other = next((d for d in ";\t|" if len(header) == 1 and d in header[0]), None)
        raise OptionError(f"{reason}; its cells seem to be separated by {other!r}: set delimiter" if other else reason)
    return header.index(name)


def _is_text(cell: str) -> bool:
    return cell.isascii() or not any(ord(c) in _SURROGATES for c in cell)


def _json_rows(source: ByteStream, names: list[str], rejections: Rejections) -> Iterator[Row]:
    paths = [name.split(".") for name in names]
    for line, data in enumerate(io.BufferedReader(source, 1 << 16), 1):
        if not data.strip():
            continue
        try:
            # Numbers stay as they are spelt.
            found = json.loads(data, parse_float=str, parse_int=str)
            if not isinstance(found, dict):
                raise ValueError("not an object")
            yield line, [_value(found, name, path) for name, path in zip(names, paths, strict=True)]
        except (ValueError, RecursionError) as error:
            rejections.reject(f"not a row: {error}", line=line, text=data)


def _value(found: dict[str, Any], name: str, path: list[str]) -> str | None:
    value: Any = found.get(name)
    if value is None and len(path) > 1:
        value = found
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    raise ValueError(f"column {name} holds {'an object' if isinstance(value, dict) else 'a list'}, not a value")
