"""A source as parts: one for each file, document or table, with its format, its place names and its blank nodes.

Blank-node labels are scoped to a part, or to the documents and messages inside it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from pyoxigraph import Quad, RdfFormat

from millstream.errors import DataError, OptionError
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf.blanks import BlankScope
from millstream.rdf.documents import read_json_ld, read_json_lines
from millstream.rdf.element import Deferred, OnRejected, Rejections
from millstream.rdf.formats import Format, FormatChoice, format_of_path, named_format
from millstream.rdf.inputs import ByteStream, Readable, files_of, is_readable, memory, name_of, open_file
from millstream.rdf.lines import read_lines
from millstream.rdf.rdf_xml import read_rdf_xml
from millstream.rdf.statements import Event, Mark
from millstream.rdf.tables import TABLE_TYPES, Row, batches_of, open_table, read_rows
from millstream.rdf.turtle import read_turtle

_LINES = (Format.N_TRIPLES, Format.N_QUADS, Format.JSON_LINES)


@dataclass(frozen=True, slots=True)
class Part:
    """One file, document or table; it can be read once."""

    choice: FormatChoice
    rejections: Rejections
    scope: BlankScope
    base: str | None
    open: Callable[[], AbstractContextManager[Readable]] | None = None
    table: Any = None
    path: Path | None = None
    # One of several documents, which makes it an element by itself.
    is_document: bool = False
    limits: Limits = DEFAULT_LIMITS

    @property
    def format(self) -> Format:
        """Its format."""
        return self.choice.format

    def events(self) -> Iterator[Event]:
        """Its statements, if it is no table."""
        assert self.open is not None
        with self.open() as raw:
            stream = ByteStream(raw, self.rejections)
            scope, rejections, messages = self.scope, self.rejections, self.choice.messages
            base, limits = self.base, self.limits
            match self.format:
                case Format.N_TRIPLES:
                    yield from read_lines(stream, RdfFormat.N_TRIPLES, scope, rejections, messages=messages, limits=limits)
                case Format.N_QUADS:
                    yield from read_lines(stream, RdfFormat.N_QUADS, scope, rejections, messages=messages, limits=limits)
                case Format.TURTLE | Format.TRIG as format:
                    graphs = format is Format.TRIG
                    yield from read_turtle(
                        stream, scope, rejections, graphs=graphs, base=base, messages=messages, limits=limits
                    )
                case Format.RDF_XML:
                    yield from read_rdf_xml(stream, scope, rejections, base=base, limits=limits)
                case Format.JSON_LD:
                    yield from read_json_ld(stream, scope, rejections, base=base, limits=limits)
                case Format.JSON_LINES:
                    yield from read_json_lines(stream, scope, rejections, base=base, limits=limits)
                case _:
                    raise AssertionError("a table has rows")

    def rows(self, *, timed: bool) -> Iterator[Row]:
        """Its rows, if it is a table."""
        if self.open is None:
            batches = batches_of(self.table, self.rejections)
            yield from read_rows(batches, self.scope, self.rejections, timed=timed, limits=self.limits)
            return
        with self.open() as raw:
            # Arrow reads on threads of its own.
            deferred = Deferred(self.rejections)
            stream = ByteStream(raw, deferred.rejections)
            path = None if stream.is_compressed else self.path
            skipped: set[int] = set()
            opened = open_table(self.format, stream, deferred.rejections, self.limits, path=path, skipped=skipped)
            batches = deferred.handed_on(opened)
            yield from read_rows(
                batches,
                self.scope,
                self.rejections,
                timed=timed,
                first_line=2 if self.format is Format.CSV else 1,
                skipped=skipped,
                limits=self.limits,
            )

    def quads(self) -> Iterator[Quad]:
        """All its quads."""
        if self.format.is_table:
            yield from (row.quad for row in self.rows(timed=False))
        else:
            for event in self.events():
                if not isinstance(event, Mark):
                    yield from event.quads


def parts_of(
    source: object,
    *,
    format: str | Format | None,
    base: str | None,
    receiver: OnRejected | None,
    blank_prefix: str | None,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Part]:
    """The parts of a source, one after another; what the source is and its format are checked at once."""
    parts = _parts_of(source, format=format, base=base, receiver=receiver, blank_prefix=blank_prefix)
    return (replace(part, limits=limits) for part in parts)


def _parts_of(
    source: object,
    *,
    format: str | Format | None,
    base: str | None,
    receiver: OnRejected | None,
    blank_prefix: str | None,
) -> Iterator[Part]:
    choice = None if format is None else named_format(format)
    scope = BlankScope(_checked_prefix(blank_prefix))
    if isinstance(source, str | os.PathLike):
        return _file_parts(source, choice, base, receiver, scope)
    name = name_of(source)
    rejections = Rejections(name, receiver)
    if isinstance(source, TABLE_TYPES):
        return iter((Part(FormatChoice(Format.ARROW), rejections, scope, base, table=source),))
    if isinstance(source, bytes | bytearray | memoryview):
        chosen = choice or _unknown(name)
        return iter((Part(chosen, rejections, scope, base, open=lambda: memory(source)),))
    if is_readable(source):
        found = format_of_path(name)
        chosen = choice or (FormatChoice(found) if found else _unknown(name))
        # The caller opened it, so the caller closes it.
        return iter((Part(chosen, rejections, scope, base, open=lambda: nullcontext(source)),))  # type: ignore[arg-type]
    if isinstance(source, Iterable):
        return _item_parts(source, choice or _unknown(name), base, name, receiver, scope)
    raise OptionError(f"cannot read elements from a {type(source).__name__}")


def _file_parts(
    source: str | os.PathLike[str],
    choice: FormatChoice | None,
    base: str | None,
    receiver: OnRejected | None,
    scope: BlankScope,
) -> Iterator[Part]:
    for file in files_of(source, any_ending=choice is not None, receiver=receiver):
        found = format_of_path(file.path)
        chosen = choice or (FormatChoice(found) if found else _unknown(file.name))
        path = file.path
        rejections = Rejections(file.name, receiver)
        yield Part(chosen, rejections, scope.next_document(), base, open=partial(open_file, path), path=path)


def _item_parts(
    items: Iterable[object],
    choice: FormatChoice,
    base: str | None,
    name: str,
    receiver: OnRejected | None,
    scope: BlankScope,
) -> Iterator[Part]:
    """Lines as one part, documents each as its own."""
    if choice.format.is_table:
        raise OptionError(f"format {choice.format.value} is not read from an iterable")
    if choice.format in _LINES:
        # What is all there can be joined; what comes by and by is handed on as it comes.
        lines = _Lines(iter(items), name, together=1 << 16 if isinstance(items, Sequence) else 1)
        yield Part(choice, Rejections(name, receiver), scope, base, open=lambda: nullcontext(lines))
        return
    for position, item in enumerate(items):
        data = _item_bytes(item, f"{name}[{position}]")
        rejections = Rejections(f"{name}[{position}]", receiver)
        yield Part(
            choice,
            rejections,
            scope.next_document(),
            base,
            open=partial(memory, data),
            is_document=True,
        )


class _Lines:
    """An iterable of lines as a file object."""

    def __init__(self, items: Iterator[object], name: str, *, together: int) -> None:
        self._items = items
        self._name = name
        self._together = together
        self._position = 0

    def read(self, size: int, /) -> bytes:
        pieces: list[bytes] = []
        length = 0
        for item in self._items:
            line = _item_bytes(item, f"{self._name}[{self._position}]")
            self._position += 1
            pieces.append(line if line.endswith(b"\n") else line + b"\n")
            length += len(pieces[-1])
            if length >= self._together:
                break
        return b"".join(pieces)


def _item_bytes(item: object, name: str) -> bytes:
    if isinstance(item, str):
        return item.encode("utf-8", "surrogatepass")
    if isinstance(item, bytes | bytearray | memoryview):
        return bytes(item)
    raise DataError(f"must be text or bytes, got {type(item).__name__}", source=name)


def _checked_prefix(prefix: str | None) -> str | None:
    if prefix is not None and not (prefix.isascii() and prefix.isalnum()):
        raise OptionError(f"blank_prefix must be letters and digits, got {prefix!r}")
    return prefix


def _unknown(name: str) -> FormatChoice:
    raise OptionError(
        f"{name}: its name does not tell the format; give the option format, "
        f"one of {', '.join(format.value for format in Format)}"
    )
