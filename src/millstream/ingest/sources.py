"""Files, bytes, tables and iterables as sources: their parts in order, each chunk with the position behind it.

A position says which parts are done, and how many elements of the one being read were taken: whoever goes on reads that
part again and leaves them out. A followed folder gives an empty chunk whenever there is nothing new.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from millstream.errors import DataError, OptionError
from millstream.ingest.chunk import Chunk, Encode, Source, Want
from millstream.ingest.columns import NOTHING, Columns, first_at, time_at
from millstream.ingest.parts import Part, chosen_format, parts_of
from millstream.ingest.readers.dispatch import Timings, read_changes, read_part, read_quads
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.summary import Summary
from millstream.rdf import BlankScope, Rejected, Rejections
from millstream.rdf.element import OnRejected
from millstream.rdf.formats import FormatChoice, format_of_path
from millstream.rdf.inputs import FileInput, files_of, is_all_there, is_readable, is_table, memory, name_of, open_file
from millstream.rdf.times import MAX_MS, OUT_OF_RANGE

if TYPE_CHECKING:
    import pyarrow as pa

LISTED_EVERY_S = 0.5


@dataclass(slots=True)
class Position:
    """How far a source was read: parts that are done, and what was taken of and set aside in the one being read."""

    prefix: str = field(default_factory=lambda: BlankScope().prefix)
    """What names blank nodes, so that a part that is read again has the same."""
    done: list[str] = field(default_factory=list)
    current: str | None = None
    taken: int = 0
    set_aside: int = 0
    before: int = 0
    """How many elements the parts that are done had: rates count through all of them."""

    @classmethod
    def of(cls, data: bytes | None, prefix: str | None) -> Position:
        """What a chunk told; the beginning without it."""
        if not data:
            return cls() if prefix is None else cls(prefix)
        try:
            found = cls(**json.loads(data))
            if not isinstance(found.done, list) or min(found.taken, found.set_aside, found.before) < 0:
                raise ValueError
            # It becomes part of labels.
            if not isinstance(found.prefix, str) or not (found.prefix.isascii() and found.prefix.isalnum()):
                raise ValueError
        except (ValueError, TypeError):
            raise OptionError(f"since: {data[:60]!r} is no position in files") from None
        return found


def chunks_of(source: object, want: Want, since: bytes | None = None) -> Iterator[Chunk]:
    """What any source gives, behind a position."""
    if hasattr(source, "chunks"):
        # Asking whether it is a `Source` looks through all of its names.
        return cast(Source, source).chunks(want, since)
    if isinstance(source, str | os.PathLike):
        return Files(source).chunks(want, since)
    reading = Reading(want, Position.of(since, want.blank_prefix))
    return (chunk for part in parts_in(source, want, reading) for chunk in reading.chunks(part))


def chunks_of_table(table: object, want: Want) -> Iterator[Chunk]:
    """What a table gives of which nobody asks where it ends."""
    timings = Timings(want)
    parts = _wanted_parts(table, want, want.on_rejected, want.blank_prefix)
    return (chunk for part in parts for chunk in read_part(part, want, timings))


def largest_time(table: pa.Table | pa.RecordBatch) -> int | None:
    """The largest time of a table, if it has times."""
    from pyarrow import compute, types

    names = [i for i, name in enumerate(table.schema.names) if name == "at_ms"]
    if len(names) != 1 or not types.is_integer(table.schema.field(names[0]).type):
        return None
    largest: int | None = compute.max(table.column(names[0])).as_py()
    return largest


def quads_of(source: object, want: Want) -> Iterator[Chunk]:
    """All quads of a source, whatever their times."""
    parts = _wanted_parts(source, want, want.on_rejected, want.blank_prefix)
    return (chunk for part in parts for chunk in read_quads(part, want))


def _wanted_parts(source: object, want: Want, receiver: OnRejected | None, prefix: str | None) -> Iterator[Part]:
    format = None if want.changes else want.format
    return parts_of(source, format=format, base=want.base, receiver=receiver, blank_prefix=prefix, limits=want.limits)


def parts_in(source: object, want: Want, reading: Reading) -> Iterator[Part]:
    """The parts of anything but files."""
    prefix, receiver = reading.position.prefix, reading.receiver
    if not want.changes or is_table(source):
        return _wanted_parts(source, want, receiver, prefix)
    raw = memory(source) if isinstance(source, bytes | bytearray | memoryview) else source
    if not is_readable(raw):
        raise OptionError(f"cannot read changes from a {type(source).__name__}")
    rejections, scope = Rejections(name_of(source), receiver), BlankScope(prefix)
    opened: AbstractContextManager[Any] = nullcontext(raw)
    part = Part(None, rejections, scope, want.base, open=lambda: opened, limits=want.limits)
    return iter((replace(part, is_all_there=is_all_there(source)),))


def files(path: str | os.PathLike[str], *, follow: bool = False) -> Files:
    """A file, or the files of a folder or glob, as a source; with `follow` also those that come later, without an end."""
    return Files(path, follow)


@dataclass(frozen=True, slots=True)
class Files:
    """A file, the files of a folder or of a glob, in the order of their names; with `follow`, those that come later too."""

    path: str | os.PathLike[str]
    follow: bool = False

    def chunks(self, want: Want, since: bytes | None = None) -> Iterator[Chunk]:
        """All that the files have; if they are followed, there is no end."""
        position = Position.of(since, want.blank_prefix)
        reading = Reading(want, position)
        follow = self.follow and not os.path.isfile(self.path)
        told: set[str] = set()
        list_at = 0.0
        while True:
            if time.monotonic() >= list_at:
                for file in self._new_files(want, reading, told, follow):
                    yield from reading.chunks(self._part(file, want, reading))
                list_at = time.monotonic() + LISTED_EVERY_S
            if not follow:
                return
            yield reading.nothing(is_idle=True)

    def _new_files(self, want: Want, reading: Reading, told: set[str], follow: bool) -> list[FileInput]:
        def tell(rejected: Rejected) -> None:
            # A file that tells no format is told once, however often the folder is listed.
            if rejected.source not in told:
                told.add(rejected.source)
                Rejections(rejected.source, want.on_rejected).reject(rejected.reason)

        try:
            found = list(files_of(self.path, any_ending=want.format is not None or want.changes, receiver=tell))
        except DataError:
            if follow:
                return []
            raise
        done = set(reading.position.done)
        return [file for file in found if file.name not in done]

    def _part(self, file: FileInput, want: Want, reading: Reading) -> Part:
        scope = BlankScope(f"{reading.position.prefix}d{len(reading.position.done) + 1}")
        rejections = Rejections(file.name, reading.receiver)
        choice = _table_of_changes(file.name, want) if want.changes else chosen_format(file.name, want.format)
        return Part(
            choice,
            rejections,
            scope,
            want.base,
            open=partial(open_file, file.path),
            path=file.path,
            is_all_there=is_all_there(file.path),
            limits=want.limits,
        )


def _table_of_changes(name: str, want: Want) -> FormatChoice | None:
    """The format of a file of changes, if it is a table."""
    found = format_of_path(name) if want.format is None else None
    return FormatChoice(found) if found is not None and found.is_table else None


def _within_time(columns: Columns, rejections: Rejections) -> Columns:
    """Elements without those that a rate gives no time which could be counted; they are the last."""
    rate, end = columns.rate, columns.first + columns.elements
    assert rate is not None
    if time_at(end - 1, rate) <= MAX_MS:
        return columns
    count = max(0, first_at(MAX_MS + 1, rate) - columns.first)
    for _ in range(columns.elements - count):
        rejections.reject(f"at this rate its time is too large: {OUT_OF_RANGE}")
    return columns.slice(0, count)


class _Place:
    """Where a source was."""

    def __init__(self, position: Position) -> None:
        self._of = position
        self.note()

    def note(self) -> None:
        """Notes where the source is now. The parts that are done only become more."""
        place = self._of
        self._noted = (len(place.done), place.current, place.taken, place.set_aside, place.before)

    def spelled(self) -> bytes:
        done, current, taken, set_aside, before = self._noted
        place = Position(self._of.prefix, self._of.done[:done], current, taken, set_aside, before)
        return json.dumps(asdict(place)).encode()


class _Placed(Chunk):
    """A chunk of a part, behind which is a place in its source, noted when it is encoded.

    Encoding knows the place, not the chunk: a cycle of references would keep what was read until garbage is collected.
    """

    def __init__(self, encode: Encode, place: _Place, *, is_single: bool = False, is_idle: bool = False) -> None:
        super().__init__(encode, is_single=is_single, is_idle=is_idle)
        self._place = place
        self.is_placed = True

    @property
    def position(self) -> bytes:
        return self._place.spelled()


class Reading:
    """The parts of one source as they are read, counting."""

    def __init__(self, want: Want, position: Position) -> None:
        self.position = position
        self._want = want
        self._timings = Timings(want)
        # What was taken and told before is neither taken nor told again.
        self._to_skip, self._to_leave_untold = position.taken, position.set_aside

    @property
    def receiver(self) -> OnRejected | None:
        """Where what is malformed goes, unless the first raises."""
        return None if self._want.on_rejected is None else self._tell

    def _tell(self, rejected: Rejected) -> None:
        assert self._want.on_rejected is not None
        if self._to_leave_untold:
            self._to_leave_untold -= 1
        else:
            self.position.set_aside += 1
            self._want.on_rejected(rejected)

    def nothing(self, *, is_idle: bool = False) -> Chunk:
        """An empty chunk, which tells where the source is."""
        return _Placed(lambda dictionary, summary: NOTHING, _Place(self.position), is_idle=is_idle)

    def chunks(self, part: Part) -> Iterator[Chunk]:
        """A part, without what was taken of it before."""
        place = self.position
        if place.current not in (None, part.name):
            raise OptionError(f"since: the position is inside {place.current}, and {part.name} comes next")
        place.current = part.name
        seen = 0

        def placed(chunk: Chunk) -> Chunk:
            behind = _Place(place)

            def encode(dictionary: Dictionary, summary: Summary | None) -> Columns:
                nonlocal seen
                columns = chunk.encode(dictionary, summary)
                if columns.rate is not None:
                    columns.first = place.before + seen
                    columns = _within_time(columns, part.rejections)
                seen += columns.elements
                if self._to_skip:
                    skipped = min(self._to_skip, columns.elements)
                    self._to_skip -= skipped
                    columns = columns.slice(skipped, columns.elements)
                place.taken += columns.elements
                behind.note()
                return columns

            return _Placed(encode, behind, is_single=chunk.is_single)

        want = self._want
        for chunk in read_changes(part, want) if want.changes else read_part(part, want, self._timings):
            yield placed(chunk)
        if self._to_skip:
            reason = f"has only {seen} elements, of which {place.taken} were taken before: it has changed"
            raise DataError(reason, source=part.name)
        place.done.append(part.name)
        place.before += place.taken
        place.current, place.taken, place.set_aside = None, 0, 0
        # Only now is it certain that nothing more comes of it.
        yield self.nothing()
