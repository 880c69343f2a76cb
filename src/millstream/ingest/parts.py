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
from typing import TYPE_CHECKING, Any

from pyoxigraph import Quad, RdfFormat

from millstream.errors import DataError, OptionError
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf.blanks import BlankScope
from millstream.rdf.element import Deferred, OnRejected, Rejections
from millstream.rdf.formats import Format, FormatChoice, format_of_path, named_format
from millstream.rdf.inputs import (
    ByteStream,
    Readable,
    files_of,
    is_all_there,
    is_readable,
    is_table,
    memory,
    name_of,
    open_file,
)
from millstream.rdf.readers.lines import is_message_log, read_lines
from millstream.rdf.statements import Event, Mark

if TYPE_CHECKING:
    from millstream.rdf.readers.tables import Row

_BY_LINE = (Format.N_TRIPLES, Format.N_QUADS)
_ARROW = FormatChoice(Format.ARROW)
_HEAD = 1 << 16


@dataclass(slots=True)
class Part:
    """One file, document or table; it can be read once."""

    choice: FormatChoice | None
    """Its format; None if it has changes of graphs instead of statements."""
    rejections: Rejections
    scope: BlankScope
    base: str | None = None
    open: Callable[[], AbstractContextManager[Readable]] | None = None
    table: Any = None
    data: memoryview | None = None
    """All its bytes, if they are in memory."""
    path: Path | None = None
    # One of several documents, which makes it an element by itself.
    is_document: bool = False
    # Inside of a file there is nothing to announce.
    is_range: bool = False
    # Whether nobody will be waited for while it is read.
    is_all_there: bool = True
    limits: Limits = DEFAULT_LIMITS

    @property
    def name(self) -> str:
        """What it is called where something is wrong with it."""
        return self.rejections.source

    @property
    def format(self) -> Format:
        """Its format."""
        assert self.choice is not None
        return self.choice.format

    @property
    def messages(self) -> bool:
        """Whether it was announced to be a message log."""
        return self.choice is not None and self.choice.messages

    @property
    def is_by_line(self) -> bool:
        """Whether each line is a statement by itself, if it is no message log."""
        return self.format in _BY_LINE

    def announces_messages(self, stream: ByteStream) -> bool:
        """Whether its messages, not its statements, are elements."""
        return self.messages or (self.is_by_line and not self.is_range and is_message_log(stream.beginning(_HEAD)))

    def events(self, stream: ByteStream) -> Iterator[Event]:
        """Its statements, if it is no table."""
        # What is only pushed, or scanned line by line, does without these.
        from millstream.rdf.readers.documents import read_json_ld, read_json_lines
        from millstream.rdf.readers.rdf_xml import read_rdf_xml
        from millstream.rdf.readers.turtle import read_turtle

        scope, rejections, messages = self.scope, self.rejections, self.messages
        base, limits = self.base, self.limits
        match self.format:
            case Format.N_TRIPLES:
                return read_lines(stream, RdfFormat.N_TRIPLES, scope, rejections, messages=messages, limits=limits)
            case Format.N_QUADS:
                return read_lines(stream, RdfFormat.N_QUADS, scope, rejections, messages=messages, limits=limits)
            case Format.TURTLE | Format.TRIG as format:
                graphs = format is Format.TRIG
                return read_turtle(stream, scope, rejections, graphs=graphs, base=base, messages=messages, limits=limits)
            case Format.RDF_XML:
                return read_rdf_xml(stream, scope, rejections, base=base, limits=limits)
            case Format.JSON_LD:
                return read_json_ld(stream, scope, rejections, base=base, limits=limits)
            case Format.JSON_LINES:
                return read_json_lines(stream, scope, rejections, base=base, limits=limits)
            case _:
                raise AssertionError("a table has rows")

    def rows(self, *, timed: bool | None) -> Iterator[Row]:
        """Its rows, if it is a table; `timed`: see `read_rows`."""
        from millstream.rdf.readers.tables import batches_of, open_table, read_rows

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

    def quads(self, stream: ByteStream | None = None) -> Iterator[Quad]:
        """All its quads; of a stream, if it was opened already."""
        if self.format.is_table:
            yield from (row.quad for row in self.rows(timed=False))
        elif stream is None:
            assert self.open is not None
            with self.open() as raw:
                yield from self.quads(ByteStream(raw, self.rejections))
        else:
            for event in self.events(stream):
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
    if format is not None:
        named_format(format)
    scope = BlankScope(_checked_prefix(blank_prefix))
    if is_table(source):
        rejections, whole = Rejections(name_of(source), receiver), hasattr(source, "num_rows")
        return iter((Part(_ARROW, rejections, scope, base, table=source, is_all_there=whole, limits=limits),))
    parts = _parts_of(source, format, base, receiver, scope)
    return (replace(part, limits=limits, is_all_there=is_all_there(part.path or source)) for part in parts)


def _parts_of(
    source: object, format: str | Format | None, base: str | None, receiver: OnRejected | None, scope: BlankScope
) -> Iterator[Part]:
    if isinstance(source, str | os.PathLike):
        return _file_parts(source, format, base, receiver, scope)
    name = name_of(source)
    rejections = Rejections(name, receiver)
    if isinstance(source, bytes | bytearray | memoryview):
        chosen = chosen_format("<bytes>", format)
        # A view with gaps is no text that a scanner could go along.
        whole = source if memoryview(source).c_contiguous else bytes(source)
        data = memoryview(whole).cast("B")
        return iter((Part(chosen, rejections, scope, base, open=lambda: memory(whole), data=data),))
    if is_readable(source):
        chosen = chosen_format(name, format)
        # The caller opened it, so the caller closes it.
        return iter((Part(chosen, rejections, scope, base, open=lambda: nullcontext(source)),))  # type: ignore[arg-type]
    if isinstance(source, Iterable):
        return _item_parts(source, chosen_format("", format) if format else _unknown(name), base, name, receiver, scope)
    raise OptionError(f"cannot read elements from a {type(source).__name__}")


def chosen_format(name: str, format: str | Format | None) -> FormatChoice:
    """The format that was named, or the one that a file's name tells."""
    if format is not None:
        return named_format(format)
    found = format_of_path(name)
    return FormatChoice(found) if found else _unknown(name)


def _file_parts(
    source: str | os.PathLike[str],
    format: str | Format | None,
    base: str | None,
    receiver: OnRejected | None,
    scope: BlankScope,
) -> Iterator[Part]:
    for file in files_of(source, any_ending=format is not None, receiver=receiver):
        rejections, open_it = Rejections(file.name, receiver), partial(open_file, file.path)
        yield Part(chosen_format(file.name, format), rejections, scope.next_document(), base, open=open_it, path=file.path)


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
    if choice.format in (*_BY_LINE, Format.JSON_LINES):
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
