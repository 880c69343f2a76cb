"""A dataset that comes in random order, with parts that go and come back, and is whole in the end."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from millstream import Engine


def fill(engine: Engine, triples: Sequence[Any], *, seed: int, graph: str | None = None) -> int:
    """Inserts all triples; gives how many inserts and deletes it took."""
    chance = random.Random(seed)
    waiting = list(triples)
    chance.shuffle(waiting)
    there: list[Any] = []
    at_ms = changes = 0
    while waiting:
        size = chance.choice([1, 7, 400, 3000])
        some, waiting = waiting[:size], waiting[size:]
        at_ms += chance.choice([0, 1, 5])
        engine.insert(_passed(some), at_ms=at_ms, graph=graph)
        there += some
        changes += len(some)
        if chance.random() < 0.3:
            # Some of them go, and wait to come back; what was never there is deleted in vain.
            gone = []
            for _ in range(min(len(there), chance.choice([1, 20, 1500]))):
                place = chance.randrange(len(there))
                there[place], there[-1] = there[-1], there[place]
                gone.append(there.pop())
            engine.delete(_passed(gone + waiting[:3]), at_ms=at_ms, graph=graph)
            changes += len(gone)
            waiting = gone + waiting if chance.random() < 0.5 else waiting + gone
    return changes


def _passed(some: list[Any]) -> Any:
    return "\n".join(some) if some and isinstance(some[0], str) else some
