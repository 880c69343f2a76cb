"""Which files the source has, in which pieces they are read, and the bytes of a piece.

A file is there when its name is: it must be written elsewhere, or under a name that begins with `.` or `_`, and then moved
into place. A file is cut only where each line stands by itself, and a cut moves to the next line feed: the lines that
begin in [start, end) are those of a piece, so that every line is in exactly one.
"""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from millstream.errors import DataError
from millstream.ingest.parts import Part, chosen_format
from millstream.ingest.readers.elements import choice_of
from millstream.rdf import BlankScope, Format, parse_time_option
from millstream.rdf.element import Rejections
from millstream.rdf.inputs import ByteStream, files_of
from millstream.rdf.readers.lines import is_message_log

_STEP = 1 << 16


@dataclass(frozen=True, slots=True)
class Found:
    """A file of a listing."""

    path: str
    size: int


def list_files(
    paths: tuple[str, ...], *, any_ending: bool, outside: str | None = None, awaited: bool = False
) -> list[Found]:
    """The files that paths mean now: path by path as given, within one by name; none below the folder `outside`.

    With `awaited` a glob may match nothing yet.
    """
    found: dict[str, Found] = {}
    excluded = None if outside is None else Path(outside).absolute()
    for text in paths:
        path = Path(text)
        if awaited and glob.has_magic(text) and not path.exists() and not glob.glob(text, recursive=True):
            continue
        for file in files_of(text, any_ending=any_ending, receiver=lambda _: None):
            hidden = file.path != path and file.path.name.startswith((".", "_"))
            if hidden or (excluded is not None and excluded in file.path.absolute().parents):
                continue
            try:
                found.setdefault(file.name, Found(file.name, file.path.stat().st_size))
            except FileNotFoundError:
                continue  # gone since the listing
    return list(found.values())


def cuts_of(file: Found, *, format: str | None, time: str | None, element: str | None, split_bytes: int) -> list[int]:
    """Where pieces of a file begin and end: two places if it must be read whole.

    Raises OptionError for options that its format cannot have: here, before any task is started.
    """
    choice = chosen_format(file.path, format)
    messages, compressed, is_long = choice.messages, False, file.size > split_bytes
    if is_long or time is None:
        with open_piece(file.path, 0, 1 << 20, whole=True) as raw:
            stream = ByteStream(raw, Rejections(file.path, lambda _: None))
            messages, compressed = messages or is_message_log(stream.read(_STEP)), stream.is_compressed
    part = Part(choice, Rejections(file.path), BlankScope())
    found = choice_of(part, element, None if time is None else parse_time_option(time), messages=messages).element
    # A JSON-LD document is a line, and neither it nor a graph in it goes on in the next.
    single = found == "line" if part.is_by_line else choice.format is Format.JSON_LINES and found in ("line", "graph")
    if not is_long or messages or compressed or not single:
        return [0, file.size]
    pieces = -(-file.size // split_bytes)
    return [file.size * number // pieces for number in range(pieces + 1)]


class Piece:
    """The bytes of a part of a file, as a file object."""

    def __init__(self, file: BinaryIO, name: str, start: int, end: int) -> None:
        self.name = name
        self.start = start
        self._file = file
        self._left = end - start
        file.seek(start)

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes, none at the end."""
        wanted = self._left if size is None or size < 0 else min(size, self._left)
        found = self._file.read(wanted) if wanted > 0 else b""
        self._left -= len(found)
        return found

    def lines_before(self) -> int:
        """How many lines of the file come before this piece; reads all of that, so it is asked only for a complaint."""
        with open(self.name, "rb") as file:
            count, left, returned = 0, self.start, False
            while left and (text := file.read(min(1 << 20, left))):
                left -= len(text)
                # A carriage return ends a line too, alone or with a line feed behind it.
                count += text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")
                count -= returned and text.startswith(b"\n")
                returned = text.endswith(b"\r")
            return count

    def __enter__(self) -> Piece:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def open_piece(path: str, start: int, end: int, *, whole: bool = False) -> Piece:
    """The lines of a file that begin in [start, end); with `whole` just its bytes."""
    try:
        file = open(path, "rb")  # noqa: SIM115 - the piece closes it
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", source=path) from error
    if whole:
        return Piece(file, path, start, end)
    if (size := os.fstat(file.fileno()).st_size) < end:
        file.close()
        raise DataError(f"was {end} bytes long when it was found and is {size} now: files must not change", source=path)
    return Piece(file, path, _line_start(file, start), _line_start(file, end))


def _line_start(file: BinaryIO, place: int) -> int:
    """Where the first line at or behind a place begins."""
    if place == 0:
        return 0
    file.seek(place - 1)
    while text := file.readline(_STEP):
        if text.endswith(b"\n"):
            break
    return file.tell()
