"""Files that a run writes: made anew, or continued at a length that a checkpoint recorded.

Invariant: such a file has only whole pieces of what was written to it. A piece for which there is no room, as on a disk that
is full, is cut off again, and nothing is written after it.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from millstream.errors import MillstreamError, OptionError, StorageError

STANDARD = "-"
"""A path that means standard input or output."""
_TOGETHER = 1 << 16
# Paths that were chosen badly; everything else is the disk's.
_CHOSEN = {
    errno.EACCES,
    errno.EPERM,
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.ENAMETOOLONG,
    errno.ELOOP,
    errno.EROFS,
}


def unwritten(what: str | Path, error: OSError) -> MillstreamError:
    """What to raise for a file that could not be written: about its path, or about the disk it is on."""
    message = f"{what}: cannot be written: {error.strerror or error}"
    return OptionError(message) if error.errno in _CHOSEN else StorageError(message)


def is_full(error: OSError) -> bool:
    """Whether it says that there is no room, whoever wrote what."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class OutputFile(io.BufferedIOBase):
    """A file of whole pieces; it keeps some back, to write them together."""

    def __init__(self, path: str | Path, length: int | None = None) -> None:
        """Empty, or cut back to a length; folders on the way are made."""
        self._path = path
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._file = io.FileIO(path, "w+" if length is None else "r+")
        except OSError as error:
            raise unwritten(path, error) from None
        self._length = length or 0
        self._waiting: list[bytes] = []
        self._size = 0
        self._trouble: MillstreamError | None = None
        if length is None:
            return
        if self._file.seek(0, os.SEEK_END) < length:
            self._file.close()
            raise OptionError(f"{path}: is shorter than when the checkpoint was made; it cannot be continued")
        self._file.truncate(length)
        self._file.seek(length)

    def write(self, data: Any, /) -> int:
        """One piece, which is there as a whole or not at all."""
        self._raise_trouble()
        piece = bytes(data)
        self._waiting.append(piece)
        self._size += len(piece)
        if self._size >= _TOGETHER:
            self.flush()
        return len(piece)

    def flush(self) -> None:
        """Hands on what was kept back, or nothing of it."""
        self._raise_trouble()
        waiting, self._waiting, self._size = b"".join(self._waiting), [], 0
        try:
            left = memoryview(waiting)
            while left:
                left = left[self._file.write(left) :]
        except BrokenPipeError:
            raise
        except OSError as error:
            self._trouble = unwritten(self._path, error)
            with suppress(OSError):
                self._file.truncate(self._length)
            raise self._trouble from None
        self._length += len(waiting)

    def sync(self) -> int:
        """Has all of it on disk; gives how long it is."""
        self.flush()
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            # What is no file, such as a terminal, keeps nothing.
            if error.errno != errno.EINVAL:
                self._trouble = unwritten(self._path, error)
                raise self._trouble from None
        return self._length

    def _raise_trouble(self) -> None:
        if self._trouble is not None:
            raise self._trouble

    def tell(self) -> int:
        """How long it is, with what is kept back."""
        return self._length + self._size

    def writable(self) -> bool:
        """Always."""
        return True

    @property
    def closed(self) -> bool:
        """Whether nothing can be written any more."""
        return self._file.closed

    def close(self) -> None:
        """Hands on what was kept back, if anything can be written at all."""
        if self._file.closed:
            return
        try:
            if self._trouble is None:
                self.flush()
        finally:
            self._file.close()


class StandardOutput(io.BufferedIOBase):
    """Standard output, which somebody else closes; a full disk behind it is told like any other."""

    def write(self, data: Any, /) -> int:
        """Buffered as usual."""
        return int(self._tried(lambda: sys.stdout.buffer.write(data)))

    def flush(self) -> None:
        """Whoever reads it can read all of it."""
        self._tried(sys.stdout.buffer.flush)

    def sync(self) -> int:
        """The same: it keeps nothing, so it has no length to go on from."""
        self.flush()
        return 0

    def tell(self) -> int:
        """Nothing that is there can be gone on with."""
        return 0

    def _tried(self, do: Callable[[], Any]) -> Any:
        try:
            return do()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise unwritten("standard output", error) from None

    def writable(self) -> bool:
        """Always."""
        return True

    def close(self) -> None:
        """It stays open."""


def open_output(path: str, position: bytes | None = None) -> OutputFile | StandardOutput:
    """A file, empty or cut back to a position, which is its length then in digits; or standard output."""
    if position is not None and not position.isdigit():
        raise OptionError(f"{path}: {position!r} is no position of an output file")
    return StandardOutput() if path == STANDARD else OutputFile(path, None if position is None else int(position))


def with_digest(magic: bytes, content: bytes) -> bytes:
    """Content behind a line that tells it from what is damaged, which may still read as something."""
    return _digest(magic, content) + b"\n" + content


def without_digest(magic: bytes, data: bytes) -> bytes | None:
    """What such bytes hold; None for anything else."""
    first, _, content = data.partition(b"\n")
    return content if first == _digest(magic, content) else None


def _digest(magic: bytes, content: bytes) -> bytes:
    return magic + hashlib.blake2b(content, digest_size=16).hexdigest().encode()


def replace_file(path: Path, data: bytes) -> None:
    """Writes a file as a whole, or leaves what was there."""
    new = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise unwritten(path, error) from None
