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

from millstream.errors import DataError, OptionError
from millstream.ingest.parts import chosen_format
from millstream.rdf import Format, parse_time_option
from millstream.rdf.element import Rejections
from millstream.rdf.formats import FormatChoice
from millstream.rdf.inputs import ByteStream, files_of
from millstream.rdf.lines import is_message_log
from millstream.rdf.timing import CHOICES

_STEP = 1 << 16
_GZIP = b"\x1f\x8b"
_LINES = (Format.N_TRIPLES, Format.N_QUADS)
_WITHOUT_TIMES = (Format.N_TRIPLES, Format.TURTLE, Format.RDF_XML)


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


def is_by_line(choice: FormatChoice, time: str | None, element: str | None) -> bool:
    """Whether an element is one statement of N-Triples or N-Quads, as long as the file is no message log."""
    if choice.messages or choice.format not in _LINES:
        return False
    if element is not None:
        return element == "line"
    # By default a graph of N-Quads is an element, and a subject where the data states the times.
    return choice.format is Format.N_TRIPLES and time is not None and not parse_time_option(time).is_stated


def cuts_of(file: Found, *, format: str | None, time: str | None, element: str | None, split_bytes: int) -> list[int]:
    """Where pieces of a file begin and end: two places if it must be read whole.

    Raises OptionError where the option time is missing: here, before any task is started.
    """
    choice = chosen_format(file.path, format)
    if time is None and choice.format in _WITHOUT_TIMES and not choice.messages and not is_message_log(_head(file.path)):
        raise OptionError(
            f"{file.path}: {choice.format.value} does not say when things happened; give the option time, one of {CHOICES}"
        )
    if file.size <= split_bytes or not _is_divisible(file.path, choice, time, element):
        return [0, file.size]
    pieces = -(-file.size // split_bytes)
    return [file.size * number // pieces for number in range(pieces + 1)]


def _is_divisible(path: str, choice: FormatChoice, time: str | None, element: str | None) -> bool:
    # A JSON-LD document is a line, and neither it nor a graph in it goes on in the next.
    documents = choice.format is Format.JSON_LINES and element in (None, "line", "graph")
    if not documents and not is_by_line(choice, time, element):
        return False
    with open_piece(path, 0, _STEP, whole=True) as file:
        head = file.read(_STEP)
    return not head.startswith(_GZIP) and not is_message_log(head)


def _head(path: str) -> bytes:
    with open_piece(path, 0, 1 << 20, whole=True) as file:
        return ByteStream(file, Rejections(path, lambda _: None)).read(_STEP)


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
