"""Events of a query: what one change added and removed, in the shape of SEPA's SPARQL 1.1 Subscribe.

The id of an event is the query's registration and how many answers it had emitted by the end of that change. Answers of one
command and one millisecond are one event, and what appears and disappears in it cancels out.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

from millstream.engine import Answer
from millstream.output.terms import term_json


@dataclass(frozen=True, slots=True)
class Event:
    """One change: `position` counts the answers up to its end; `body` is the notification behind its sequence number."""

    position: int
    at_ms: int
    body: bytes


class Horizon:
    """The events of a query that are kept for those who resume: as many as fit, and what comes before them is gone."""

    def __init__(self, most_events: int, most_bytes: int) -> None:
        self._most_events = most_events
        self._most_bytes = most_bytes
        self.events: deque[Event] = deque()
        self._size = 0
        self.begins = 0
        """The position behind which all events are kept."""

    def add(self, event: Event) -> None:
        self.events.append(event)
        self._size += len(event.body)
        while self.events and (len(self.events) > self._most_events or self._size > self._most_bytes):
            gone = self.events.popleft()
            self._size -= len(gone.body)
            self.begins = gone.position

    def after(self, position: int) -> list[Event] | None:
        """The events behind a position; None if they are no longer, or not yet, known."""
        if position < self.begins:
            return None
        return [event for event in self.events if event.position > position]


@lru_cache(maxsize=1 << 16)
def _term_text(term: Any) -> str:
    return json.dumps(term_json(term), ensure_ascii=False)


def row_text(bindings: Any) -> str:
    """A solution as an object of SPARQL's JSON results."""
    return "{" + ", ".join(f"{json.dumps(name)}: {_term_text(term)}" for name, term in bindings.items()) + "}"


def events_of(answers: list[Answer], variables: tuple[str, ...], position: int) -> Iterator[Event]:
    """What answers that one command brought are told as; `position` counts those before them."""
    for at_ms, some in groupby(answers, key=lambda answer: answer.at_ms):
        weights: dict[str, int] = {}
        for answer in some:
            position += 1
            row = row_text(answer.bindings)
            weights[row] = weights.get(row, 0) + answer.weight
        added = [row for row, weight in weights.items() for _ in range(weight)]
        removed = [row for row, weight in weights.items() for _ in range(-weight)]
        if added or removed:
            yield Event(position, at_ms, notification(at_ms, variables, added, removed))


def notification(
    at_ms: int, variables: tuple[str, ...], added: Iterable[str], removed: Iterable[str], *, said: str = ""
) -> bytes:
    """The notification of an event, from `at_ms` on; `said` are members of it that only snapshots have."""
    head = json.dumps({"vars": list(variables)}, ensure_ascii=False)

    def results(rows: Iterable[str]) -> str:
        return f'{{"head": {head}, "results": {{"bindings": [{", ".join(rows)}]}}}}'

    text = f'"at_ms": {at_ms}, {said}"addedResults": {results(added)}, "removedResults": {results(removed)}}}}}'
    return text.encode("utf-8", "replace")


def frame(event: Event, registration: int, sequence: int) -> bytes:
    """An event as Server-Sent Events have it; the text has no line breaks, since JSON escapes them."""
    head = f'id: {registration}.{event.position}\ndata: {{"notification": {{"sequence": {sequence}, '
    return b"%s%s\n\n" % (head.encode(), event.body)


def progress(at_ms: int) -> bytes:
    """The clock, for those who wait for nothing else."""
    return b'event: progress\ndata: {"at_ms": %d}\n\n' % at_ms
