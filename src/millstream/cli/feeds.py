"""Sources as they are read by the embedded runner: items one by one, a place to go on from, new files as they come.

A feed gives the next item, or None: either it has finished, or there is nothing now. Its place counts the items of the
file being read, so that a run that goes on from a checkpoint reads that file again and leaves out what it had taken.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from pyoxigraph import Triple

from millstream.errors import DataError
from millstream.rdf import Rejected
from millstream.rdf.inputs import FileInput, files_of

LISTED_EVERY_S = 0.5
_MOST_QUEUED = 4096


class Item(NamedTuple):
    """A stream element, or (with `insert` set) a change of a graph; without a time it happens at once."""

    at_ms: int | None
    triples: tuple[Triple, ...]
    insert: bool | None = None
    graph: str | None = None


@dataclass(slots=True)
class Position:
    """How far a source was read: files that are done, and what was taken of and set aside in the one being read."""

    done: list[str] = field(default_factory=list)
    current: str | None = None
    taken: int = 0
    set_aside: int = 0
    before: int = 0
    """How many elements the files that are done had: rates count through all of them."""


OnRejected = Callable[[Rejected], None]


class Reader(Protocol):
    """Reads the items of one file (or file object), counting from an element on, with labels of its own."""

    def __call__(self, source: object, first: int, prefix: str, on_rejected: OnRejected, /) -> Iterator[Item]: ...


class Feed(Protocol):
    """One source."""

    position: Position

    @property
    def finished(self) -> bool: ...

    def poll(self) -> Item | None: ...


class FileFeed:
    """A file, the files of a folder or of a glob, in the order of their names; with `follow`, those that come later too."""

    def __init__(
        self,
        path: str,
        read: Reader,
        on_rejected: OnRejected,
        *,
        prefix: str,
        any_ending: bool,
        follow: bool,
        position: Position | None = None,
    ) -> None:
        self.position = position or Position()
        self._path = path
        self._read = read
        self._on_rejected = on_rejected
        self._prefix = prefix
        self._any_ending = any_ending
        self._follow = follow and not Path(path).is_file()
        self._complained: set[str] = set()
        self._items: Iterator[Item] | None = None
        self._waiting: list[FileInput] = []
        self._list_at = 0.0
        self.finished = False
        if self.position.current is not None:
            self._resume(FileInput(Path(self.position.current)))

    def poll(self) -> Item | None:
        while not self.finished:
            if self._items is None and not self._next_file():
                return None
            assert self._items is not None
            item = next(self._items, None)
            if item is not None:
                self.position.taken += 1
                return item
            self._close_file()
        return None

    def _next_file(self) -> bool:
        if not self._waiting:
            if time.monotonic() < self._list_at:
                return False
            self._waiting = self._files()
            self._list_at = time.monotonic() + (LISTED_EVERY_S if self._follow else 0.0)
        if not self._waiting:
            self.finished = not self._follow
            return False
        self._open(self._waiting.pop(0))
        return True

    def _files(self) -> list[FileInput]:
        try:
            found = list(files_of(self._path, any_ending=self._any_ending, receiver=self._complain))
        except DataError:
            if self._follow:
                return []
            raise
        return [file for file in found if file.name not in self.position.done]

    def _complain(self, rejected: Rejected) -> None:
        """A file that tells no format is told once, however often the folder is listed."""
        if rejected.source not in self._complained:
            self._complained.add(rejected.source)
            self._on_rejected(rejected)

    def _open(self, file: FileInput) -> None:
        place = self.position
        place.current = file.name
        prefix = f"{self._prefix}f{len(place.done)}"
        self._items = self._read(str(file.path), place.before, prefix, self._count)

    def _count(self, rejected: Rejected) -> None:
        self.position.set_aside += 1
        self._on_rejected(rejected)

    def _resume(self, file: FileInput) -> None:
        """Leaves out of the file what was taken of it and what was set aside in it."""
        place, told = self.position, self.position.set_aside

        def count(rejected: Rejected) -> None:
            nonlocal told
            if told:
                told -= 1
            else:
                self._count(rejected)

        self._items = self._read(str(file.path), place.before, f"{self._prefix}f{len(place.done)}", count)
        for number in range(place.taken):
            if next(self._items, None) is None:
                raise DataError(
                    f"has only {number} elements, {place.taken} when the checkpoint was made: the file has changed",
                    source=file.name,
                )

    def _close_file(self) -> None:
        place = self.position
        assert place.current is not None
        place.done.append(place.current)
        place.before += place.taken
        place.current, place.taken, place.set_aside, self._items = None, 0, 0, None


class ThreadFeed:
    """A source that may keep one waiting, such as standard input, read in a thread of its own."""

    def __init__(self, items: Callable[[], Iterator[Item]], arrived: threading.Event) -> None:
        self.position = Position()
        self.finished = False
        self._items = items
        self._arrived = arrived
        self._queue: queue.Queue[Item | BaseException | None] = queue.Queue(_MOST_QUEUED)
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            for item in self._items():
                self._queue.put(item)
                self._arrived.set()
            self._queue.put(None)
        except BaseException as error:  # it is raised where the items are taken
            self._queue.put(error)
        self._arrived.set()

    def poll(self) -> Item | None:
        try:
            found = None if self.finished else self._queue.get_nowait()
        except queue.Empty:
            return None
        if isinstance(found, BaseException):
            raise found
        if found is None:
            self.finished = True
            return None
        self.position.taken += 1
        return found
