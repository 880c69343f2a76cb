"""Times stores that are kept at a window's content and asked again.

They are not led through the whole stream, which would take hours: at places spread over it a store is filled with the
window, and the elements that follow are timed. Its solutions are compared with ours at every place, in full, before any time
counts; a store that gives others is said to.
"""

from __future__ import annotations

import random
import signal
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from benchmarks.peers.contents import Change, Element, First, changes, content
from benchmarks.peers.question import Question
from benchmarks.peers.store import Solutions, Store, difference, stores

Make = Callable[[Question], Store]


@dataclass(slots=True)
class Asked:
    """CPU seconds a question with its changes, place by place."""

    seconds: list[float] = field(default_factory=list)
    every: int = 1
    """It was asked after so many elements."""
    stopped: bool = False
    """Whether the limit came before half of the places were seen."""
    wrong: str = ""
    """What was wrong with it, if something was: mostly how its solutions differed from ours."""

    @property
    def second(self) -> float | None:
        """CPU seconds an element, the mean over the places: windows cost more when they are full."""
        return statistics.fmean(self.seconds) / self.every if self.seconds and not self.wrong else None


@dataclass(frozen=True, slots=True)
class Plan:
    """Where a store is timed: places in a stream, and how many elements follow each."""

    places: Sequence[int]
    follow: int
    every: int = 1
    """It is asked after so many elements."""

    @property
    def compared(self) -> list[int]:
        """After which elements solutions are compared."""
        return [place + self.follow for place in self.places]


def plan(count: int, places: int, follow: int, warm: int = 0, every: int = 1) -> Plan:
    """Places spread evenly over the elements after the first few, in an order that no limit can spoil.

    Of a short stream fewer elements follow each place, and it is asked at least once there.
    """
    follow = max(1, min(follow, (count - warm - 1) // 2))
    room = count - warm - follow - 1
    assert room >= 0, f"{count} elements are too few to time any after the first {warm}"
    chosen = sorted({warm + room * i // max(1, places - 1) for i in range(places)})
    random.Random(1).shuffle(chosen)
    return Plan(chosen, follow, min(every, follow))


@dataclass(frozen=True, slots=True)
class Thoroughness:
    """How much is done for each store."""

    places: int
    follow: int
    """How often it is asked at a place."""
    limit_s: float
    """CPU seconds after which no further place is tried."""
    warm: int = 0
    """Elements before the first place."""
    patience_s: float = 30.0
    """Seconds of the clock after which what is done at a place is given up."""


def ask(
    make: Make,
    question: Question,
    elements: Sequence[Element],
    first: First,
    where: Plan,
    ours: Mapping[int, Solutions],
    effort: Thoroughness,
) -> Asked:
    """Times a store at the places of a plan until the limit; `ours` are the solutions after the elements to compare at."""
    found, began = Asked(every=where.every), time.process_time()
    for place in where.places:
        store = make(question)
        store.insert(store.prepare(content(elements, first, place)))
        steps = list(changes(elements, first, place, place + where.follow))
        try:
            with interrupted_after(effort.patience_s):
                seconds, asked = follow(store, steps, where.every)
                solutions = store.solutions()
        except TimeLimitError:
            found.stopped = True
            break
        if wrong := difference(solutions, ours[place + where.follow]):
            found.wrong = f"other answers after element {place + where.follow}: {wrong}"
            break
        found.seconds.append(seconds / asked)
        if time.process_time() - began > effort.limit_s:
            # Some places are enough to go by; few are not.
            found.stopped = 2 * len(found.seconds) < len(where.places)
            break
    return found


def follow(store: Store, steps: Sequence[Change], every: int) -> tuple[float, int]:
    """CPU seconds of some elements, and how often the store was asked."""
    prepared = [(store.prepare(step.inserted), store.prepare(step.deleted), step) for step in steps]
    asked = 0
    began = time.process_time()
    for number, (inserted, deleted, step) in enumerate(prepared, 1):
        if step.deleted:
            store.delete(deleted)
        if step.inserted:
            store.insert(inserted)
        if number % every == 0:
            store.count()
            asked += 1
    return time.process_time() - began, asked


@dataclass(frozen=True, slots=True)
class Peer:
    """A store, and after how many elements it is asked."""

    store: str
    every: int = 1


def ask_all(
    peers: Mapping[str, Peer],
    question: Question,
    elements: Sequence[Element],
    first: First,
    effort: Thoroughness,
    solutions_after: Callable[[set[int]], Mapping[int, Solutions]],
) -> dict[str, Asked]:
    """Every peer at the same places, compared with what `solutions_after` gives for times in milliseconds."""
    makes = stores()
    plans = {
        name: plan(len(elements), effort.places, effort.follow * peer.every, effort.warm, peer.every)
        for name, peer in peers.items()
    }
    numbers = {number for where in plans.values() for number in where.compared}
    held = solutions_after({elements[number].at_ms for number in numbers})
    expected = {number: held[elements[number].at_ms] for number in numbers}
    return {
        name: ask(makes[peer.store], question, elements, first, plans[name], expected, effort)
        for name, peer in peers.items()
    }


class TimeLimitError(Exception):
    """A store was asked for too long."""


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Ends what is written in Python and takes too long; what is compiled ends by itself, or says so in its own way."""
    over = False

    def stop(_: int, __: FrameType | None) -> None:
        nonlocal over
        over = True
        raise TimeLimitError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except Exception as error:  # a peer may turn the interruption into an exception of its own
        if over:
            raise TimeLimitError from error
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
