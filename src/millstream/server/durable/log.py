r"""The write-ahead log: frames of commands in a file, each written and synced as a whole before anybody is answered.

    header   b"millstream log 1\n", 8 random bytes (the mark)
    frame    the mark, length, checksum, commands

A frame is only begun when the one before it is on disk. So a frame that is damaged while nothing behind it is whole was
never answered: it is cut off. One that has a whole frame behind it was: that is damage, and nobody goes on from there.
The mark is random, so that nothing a client sends looks like a frame.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from millstream.errors import SnapshotError
from millstream.output.files import unwritten

_HEADER = b"millstream log 1\n"
_MARK = 8
_SIZES = struct.Struct("<II")
_BEGIN = len(_HEADER) + _MARK


class LogWriter:
    """A log that is written to, new or behind what was read of it."""

    def __init__(self, path: Path, *, length: int | None = None) -> None:
        """Makes a log, or goes on with one that is cut back to a length."""
        self._path = path
        try:
            if length is None:
                self._mark = os.urandom(_MARK)
                self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
                self.length = 0
                self._write(_HEADER + self._mark)
            else:
                self._file = os.open(path, os.O_RDWR)
                self._mark = os.pread(self._file, _MARK, len(_HEADER))
                os.ftruncate(self._file, length)
                os.lseek(self._file, length, os.SEEK_SET)
                os.fsync(self._file)
                self.length = length
        except OSError as error:
            raise unwritten("the log", error) from None
        sync_folder(path.parent)

    def append(self, payload: bytes) -> None:
        """A frame, on disk when this comes back; StorageError if it could not be written."""
        sizes = _SIZES.pack(len(payload), _checksum(payload))
        try:
            self._write(self._mark + sizes + payload)
        except OSError as error:
            raise unwritten("the log", error) from None

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self._file, left) :]
        os.fdatasync(self._file)
        self.length += len(data)

    def close(self) -> None:
        os.close(self._file)


class LogReader:
    """The frames of a log as it was found."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.length = 0
        """Up to where it is whole, once all frames were read."""
        self.cut = 0
        """How many bytes behind that mean nothing."""

    def frames(self) -> Iterator[bytes]:
        """What was appended; a damaged tail ends it, anything else that is damaged is a SnapshotError."""
        data = self._path.read_bytes()
        if len(data) < _BEGIN or not data.startswith(_HEADER):
            # It was being made: nobody had been answered.
            if _HEADER.startswith(data[: len(_HEADER)]):
                self.cut = len(data)
                return
            raise SnapshotError(f"{self._path.name} is not a log of this version of millstream.")
        mark = data[len(_HEADER) : _BEGIN]
        self.length = _BEGIN
        while self.length < len(data):
            found = _frame_at(data, self.length, mark)
            if found is None:
                behind = self._whole_behind(data, mark)
                if behind is not None:
                    raise SnapshotError(
                        f"{self._path.name} is damaged at byte {self.length}, and goes on at byte {behind}; "
                        "put back a copy of the state folder."
                    )
                self.cut = len(data) - self.length
                return
            yield found
            self.length += _MARK + _SIZES.size + len(found)

    def _whole_behind(self, data: bytes, mark: bytes) -> int | None:
        place = data.find(mark, self.length + 1)
        while place >= 0:
            if _frame_at(data, place, mark) is not None:
                return place
            place = data.find(mark, place + 1)
        return None

    @property
    def is_empty(self) -> bool:
        """Whether not even its header is whole."""
        return self.length == 0


def _frame_at(data: bytes, place: int, mark: bytes) -> bytes | None:
    begin = place + _MARK + _SIZES.size
    if begin > len(data) or data[place : place + _MARK] != mark:
        return None
    length, checksum = _SIZES.unpack_from(data, place + _MARK)
    payload = data[begin : begin + length]
    return payload if len(payload) == length and _checksum(payload) == checksum else None


def _checksum(payload: bytes) -> int:
    return zlib.crc32(payload, zlib.crc32(_SIZES.pack(len(payload), 0)))


def sync_folder(folder: Path) -> None:
    """Has the names in a folder on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
