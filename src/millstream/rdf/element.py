"""What the readers give: stream elements, and what had to be set aside on the way.

Invariant: the triples of an element are in the order given, without repeats, and its time is one that `times` gives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from pyoxigraph import Triple

from millstream.errors import DataError

# Long enough to recognise a statement by, short enough for a log line.
MAX_TEXT = 200

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class StreamElement:
    """A set of triples that enter a stream at once, at one time."""

    triples: tuple[Triple, ...]
    at_ms: int


@dataclass(frozen=True, slots=True)
class Rejected:
    """A statement or element that was set aside: where it stood, why, and (the beginning of) its text."""

    source: str
    line: int | None
    column: int | None
    reason: str
    text: str

    def as_error(self) -> DataError:
        """The same as an error, for readers that are strict."""
        return DataError(self.reason, source=self.source, line=self.line, column=self.column, text=self.text)


OnRejected = Callable[[Rejected], None]


@dataclass(frozen=True, slots=True)
class Rejections:
    """Where a reader of one source sends what it sets aside; without a receiver the first one raises DataError."""

    source: str
    receiver: OnRejected | None = None

    def reject(self, reason: str, *, line: int | None = None, column: int | None = None, text: str | bytes = "") -> None:
        """Set one thing aside."""
        rejected = Rejected(self.source, line, column, reason, bounded(text))
        if self.receiver is None:
            raise rejected.as_error()
        self.receiver(rejected)


class Deferred:
    """What a library sets aside on threads of its own, until the thread that reads hands it on.

    A receiver may need a lock that whoever reads holds; so it is only called by the thread that reads.
    """

    def __init__(self, rejections: Rejections) -> None:
        self._receiver = rejections.receiver
        self._waiting: deque[Rejected] = deque()
        self.rejections = Rejections(rejections.source, None if rejections.receiver is None else self._waiting.append)

    def handed_on(self, items: Iterable[_T]) -> Iterator[_T]:
        """Items of the library, what it set aside meanwhile handed on before each of them, and at the end."""
        try:
            for item in items:
                self._hand_on()
                yield item
        finally:
            self._hand_on()

    def _hand_on(self) -> None:
        while self._waiting and self._receiver is not None:
            self._receiver(self._waiting.popleft())


def bounded(text: str | bytes) -> str:
    """The beginning of an offending text, on one line and always printable."""
    if isinstance(text, bytes):
        # Four bytes a character at most, so the cut cannot lose any of the characters kept.
        text = text[: 4 * MAX_TEXT + 8].decode("utf-8", "replace")
    else:
        text = text[: MAX_TEXT + 8].encode("utf-8", "replace").decode("utf-8")
    text = text.strip()
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def without_repeats(triples: Iterable[Triple]) -> tuple[Triple, ...]:
    """The triples in the order given, each once."""
    found = tuple(triples)
    return found if len(found) < 2 else tuple(dict.fromkeys(found))
