"""Opening what a caller points at: files, folders, globs, bytes and file objects, compressed or not.

Invariant: an opened input only gives bytes or ends; damage to the compression is set aside and ends it, so that what
was read before is kept. Files of a folder come in the order of their names.
"""

from __future__ import annotations

import glob
import io
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from millstream.errors import DataError
from millstream.rdf.element import OnRejected, Rejections
from millstream.rdf.formats import format_of_path

CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
# Up to the end of the first line that says something.
_STATEMENT = re.compile(rb"(?:\s*+(?:#[^\r\n]*+[\r\n])?)*+[^#\s][^\r\n]*+[\r\n]")


class Readable(Protocol):
    """What can be read from: bytes, or text that is then taken as UTF-8."""

    def read(self, size: int, /) -> Any: ...


@dataclass(frozen=True, slots=True)
class FileInput:
    """A file that can be opened, known by the path to show."""

    path: Path

    @property
    def name(self) -> str:
        return str(self.path)


class ByteStream(io.RawIOBase):
    """Bytes of a source, decompressed, without a byte order mark."""

    def __init__(self, raw: Readable, rejections: Rejections) -> None:
        super().__init__()
        # What is there now, not a full chunk, or a pipe would hold back its last lines.
        self._read_some = getattr(raw, "read1", raw.read)
        self._rejections = rejections
        self._pending = b""
        self._ended = False
        head = self._read_raw(CHUNK)
        while head and len(head) < len(BOM) and (more := self._read_raw(CHUNK)):
            head += more
        self._inflate = zlib.decompressobj(wbits=31) if is_compressed(head) else None
        self._compressed = head
        if self._inflate is None:
            self._pending = head.removeprefix(BOM)
        else:
            while len(self._pending) < len(BOM) and not self._ended:
                self._pending += self._next(CHUNK)
            self._pending = self._pending.removeprefix(BOM)

    @property
    def is_compressed(self) -> bool:
        """Whether the bytes had to be decompressed."""
        return self._inflate is not None

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes, none at the end; all that is left without a size."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(CHUNK), b""))
        if size == 0:
            return b""
        if self._pending:
            found, self._pending = self._pending[:size], self._pending[size:]
            return found
        while not self._ended:
            if found := self._next(size):
                return found
        return b""

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As Python's own readers ask."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def beginning(self, most: int) -> bytes:
        """How the text that is still to be read begins: its first line that is no comment is in it, if not too long."""
        while not self._ended and len(self._pending) < most and not _STATEMENT.match(self._pending):
            before, self._pending = self._pending, b""
            found = self._next(CHUNK)
            self._pending = before + found + self._pending
        return self._pending[:most]

    def _next(self, size: int) -> bytes:
        """The next bytes, at most `size`; perhaps none although more come."""
        if self._inflate is None:
            found = self._read_raw(size)
            self._ended = not found
            if len(found) > size:  # text of `size` characters can be more bytes
                found, self._pending = found[:size], found[size:]
            return found
        if not self._compressed:
            self._compressed = self._read_raw(CHUNK)
        if self._inflate.eof:
            # Members follow each other, then perhaps padding.
            rest = self._compressed.lstrip(b"\0")
            self._compressed = rest
            if not rest:
                self._compressed = self._read_raw(CHUNK)
                self._ended = not self._compressed
                return b""
            if not rest.startswith(_GZIP[: len(rest)]):
                return self._damaged("bytes after the end of the gzip data")
            self._inflate = zlib.decompressobj(wbits=31)
        if not self._compressed:
            return self._damaged("the gzip data is cut short")
        try:
            found = self._inflate.decompress(self._compressed, size)
        except zlib.error as error:
            return self._damaged(f"the gzip data is damaged ({error})")
        self._compressed = self._inflate.unconsumed_tail or self._inflate.unused_data
        return found

    def _damaged(self, reason: str) -> bytes:
        self._ended = True
        self._rejections.reject(reason)
        return b""

    def _read_raw(self, size: int) -> bytes:
        try:
            found = self._read_some(size)
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise DataError(f"cannot be read: {error}", source=self._rejections.source) from error
        if isinstance(found, str):
            return found.encode("utf-8", "surrogatepass")
        if found is None:
            return b""
        if not isinstance(found, bytes | bytearray | memoryview):
            raise DataError(f"read() must give bytes or text, got {type(found).__name__}", source=self._rejections.source)
        return bytes(found)


@contextmanager
def open_file(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file as they are on disk."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise DataError(f"cannot be opened: {error.strerror or error}", source=str(path)) from error
    with file:
        yield file


def is_readable(source: object) -> bool:
    """Whether a source is a file object."""
    return callable(getattr(source, "read", None))


def is_all_there(source: object) -> bool:
    """Whether nobody will be waited for while a source is read that is no table."""
    if isinstance(source, str | os.PathLike):
        return os.path.isfile(source) or os.path.isdir(source)
    if is_readable(source):
        seekable = getattr(source, "seekable", None)
        return callable(seekable) and bool(seekable())
    return isinstance(source, bytes | bytearray | memoryview | Sequence)


def is_table(source: object) -> bool:
    """Whether a source is a table of Arrow, a batch of one, or a reader of batches."""
    # Who has one has imported it; all others do without its 26 MB.
    if not type(source).__module__.startswith("pyarrow."):
        return False
    from pyarrow import RecordBatch, RecordBatchReader, Table

    return isinstance(source, Table | RecordBatch | RecordBatchReader)


def name_of(source: object) -> str:
    """What to call a source that is not a file, in places of errors."""
    if isinstance(source, bytes | bytearray | memoryview):
        return "<bytes>"
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else f"<{type(source).__name__}>"


def is_compressed(data: bytes) -> bool:
    """Whether bytes begin as gzip does."""
    return data.startswith(_GZIP)


def memory(source: bytes | bytearray | memoryview) -> io.BytesIO:
    """Bytes as a file object."""
    return io.BytesIO(source)


def files_of(source: str | os.PathLike[str], *, any_ending: bool, receiver: OnRejected | None = None) -> Iterator[FileInput]:
    """The files that a path, folder or glob means, in the order of their names.

    In folders, names that begin with `.` or `_` are left out, as Spark does; files whose ending tells no format are set
    aside unless `any_ending`.
    """
    text = os.fspath(source)
    path = Path(text)
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, ValueError) as error:
        raise DataError("not a path; pass content as bytes, not as text", source=repr(text[:60]), text=text[:60]) from error
    if is_folder:
        yield from _files_in(path, any_ending=any_ending, receiver=receiver)
    elif exists:
        yield FileInput(path)
    elif glob.has_magic(text):
        found = [Path(name) for name in sorted(glob.glob(text, recursive=True))]
        if not found:
            raise DataError("no file matches", source=text)
        for match in found:
            if match.is_dir():
                yield from _files_in(match, any_ending=any_ending, receiver=receiver)
            else:
                yield FileInput(match)
    else:
        hint = "; pass content as bytes, not as text" if any(c in text for c in "\n<{") else ""
        raise DataError(f"no such file{hint}", source=text[:200])


def _files_in(folder: Path, *, any_ending: bool, receiver: OnRejected | None) -> Iterator[FileInput]:
    for path in sorted(folder.rglob("*")):
        below = path.relative_to(folder).parts
        if not path.is_file() or any(part.startswith((".", "_")) for part in below):
            continue
        if any_ending or format_of_path(path) is not None:
            yield FileInput(path)
        else:
            Rejections(str(path), receiver).reject("the file's ending tells no format; say it with the option format")
