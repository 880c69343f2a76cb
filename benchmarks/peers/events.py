"""Event graphs, each matched by itself: what a store does for one is to be filled with it and asked once.

Filling and asking are timed apart. The store is made outside the clock, and never emptied in it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.peers.asking import Make, TimeLimitError, interrupted_after
from benchmarks.peers.contents import Element
from benchmarks.peers.question import Question
from benchmarks.peers.store import Solutions, difference

PATIENCE_S = 60.0
"""Seconds of the clock after which an event is given up."""
FEW = 10
"""Events that are too few to go by, unless there are no more."""


@dataclass(slots=True)
class Matched:
    """CPU seconds for single events."""

    filling: list[float] = field(default_factory=list)
    asking: list[float] = field(default_factory=list)
    stopped: bool = False
    wrong: str = ""
    """What was wrong with it, if something was."""

    @property
    def second(self) -> float | None:
        """An event, in the mean."""
        done = self.filling and not self.wrong
        return statistics.fmean(self.filling) + statistics.fmean(self.asking) if done else None


def match_events(
    make: Make, question: Question, events: Sequence[Element], ours: Mapping[int, Solutions], limit_s: float
) -> Matched:
    """One event after another until the limit, each compared with ours at its time."""
    found, began = Matched(), time.process_time()
    for event in events:
        store = make(question)
        prepared = store.prepare(list(dict.fromkeys(event.triples)))
        try:
            with interrupted_after(PATIENCE_S):
                start = time.process_time()
                store.insert(prepared)
                filled = time.process_time()
                store.count()
                asked = time.process_time()
                solutions = store.solutions()
        except TimeLimitError:
            found.stopped = True
            break
        if wrong := difference(solutions, ours.get(event.at_ms, Solutions())):
            found.wrong = f"other answers, event at {event.at_ms}: {wrong}"
            break
        found.filling.append(filled - start)
        found.asking.append(asked - filled)
        if time.process_time() - began > limit_s:
            found.stopped = len(found.filling) < min(FEW, len(events))
            break
    return found
