"""Messages that somebody else's thread hands over, as a source: for servers that push and keep nothing.

They wait in a queue that is bounded: whoever pushes then waits as well, which is all that can be done about it.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from millstream.ingest.chunk import Chunk, Want, known
from millstream.ingest.lanes import Reader
from millstream.ingest.messages import Headers, Lane, Messages

_MOST_WAITING = 100_000
_TOGETHER = 10_000
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Pushed:
    """A message as it was pushed."""

    value: bytes
    at_ms: int
    offset: int
    """A number that no other message of this source has, whenever it runs: it names blank nodes."""
    position: bytes = b""
    """Where to go on from behind it, if that is possible at all."""
    headers: Headers = ()


@dataclass(slots=True)
class Inbox:
    """Where messages wait; `fail` and `end` say that there will be no more."""

    waiting: queue.Queue[Pushed | BaseException | None] = field(default_factory=lambda: queue.Queue(_MOST_WAITING))
    closed: bool = False

    def put(self, message: Pushed) -> None:
        """Waits while too many wait already."""
        while not self.closed:
            try:
                self.waiting.put(message, timeout=0.2)
                return
            except queue.Full:
                continue

    def fail(self, error: BaseException) -> None:
        self.waiting.put(error)

    def end(self) -> None:
        self.waiting.put(None)


def chunks_of_inbox(name: str, inbox: Inbox, reader: Reader, want: Want, close: Callable[[], None]) -> Iterator[Chunk]:
    """What comes into an inbox, as it comes."""
    lane = Lane(name, 0, want.blank_prefix or "")
    position = b""
    try:
        while True:
            found, is_over, error = _drained(inbox)
            if found:
                position = found[-1].position or position
                yield _chunk_of(lane, found, reader, want, position)
            if error is not None:
                raise error
            if is_over:
                return
            if not found:
                yield known(position, is_idle=True)
    finally:
        inbox.closed = True
        close()


def _drained(inbox: Inbox) -> tuple[list[Pushed], bool, BaseException | None]:
    found: list[Pushed] = []
    while len(found) < _TOGETHER:
        try:
            each = inbox.waiting.get_nowait() if found else inbox.waiting.get(timeout=_POLL_S)
        except queue.Empty:
            break
        if each is None:
            return found, True, None
        if isinstance(each, BaseException):
            return found, True, each
        found.append(each)
    return found, False, None


def _chunk_of(lane: Lane, found: list[Pushed], reader: Reader, want: Want, position: bytes) -> Chunk:
    messages = Messages(
        [lane],
        np.zeros(len(found), np.int64),
        np.array([message.offset for message in found], np.int64),
        [message.value for message in found],
        np.array([message.at_ms for message in found], np.int64),
        lambda place: None,
        lambda place: found[place].headers,
    )
    return Chunk(lambda dictionary, summary: reader.encode(messages, dictionary, summary, want.on_rejected)[0], position)
