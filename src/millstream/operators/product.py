"""The product of disconnected parts, taken last: solutions of each part are kept, combinations only made as they begin.

Each part's solutions form a set with intervals, extended and ended like the content of a window; a combination holds in the
intersection. Nothing is combined while some part has no solution.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from millstream.operators.rows import Intervals

_SWEPT = 256
_ROWS_AT_ONCE = 1 << 16


class Product:
    """Combines the solutions of parts; the columns of the result are those of the parts in order."""

    def __init__(self, widths: list[int]) -> None:
        self._widths = widths
        self._live: list[dict[tuple[int, ...], int]] = [{} for _ in widths]
        self._room = [_SWEPT] * len(widths)

    def feed(self, parts: list[Intervals]) -> Iterator[Intervals]:
        """What changes of the parts, each in order of change, make of the combinations: many, so some at a time."""
        numbered = np.concatenate([part.change for part in parts])
        origin = np.concatenate([np.full(len(part), i, np.int64) for i, part in enumerate(parts)])
        place = np.concatenate([np.arange(len(part)) for part in parts])
        rows: list[tuple[int, ...]] = []
        listed = [
            (part.columns.tolist(), part.now.tolist(), part.start.tolist(), part.until.tolist(), part.weight.tolist())
            for part in parts
        ]
        for at in np.lexsort((place, origin, numbered)).tolist():
            i, j = int(origin[at]), int(place[at])
            columns, now, start, until, weight = (values[j] for values in listed[i])
            solution = tuple(columns)
            for others, end in self._combinations(i, now):
                last = min(until, end)
                if start < last:
                    rows.append((*others[0], *solution, *others[1], int(numbered[at]), now, start, last, weight))
                    if len(rows) == _ROWS_AT_ONCE:
                        yield self._intervals(rows)
                        rows = []
            self._keep(i, solution, now, until, weight)
        if rows:
            yield self._intervals(rows)

    def _intervals(self, rows: list[tuple[int, ...]]) -> Intervals:
        width = sum(self._widths)
        table = np.array(rows, np.int64).reshape(-1, width + 5)
        change, at_tick, begin, end_tick, weights = (np.ascontiguousarray(table[:, width + k]) for k in range(5))
        return Intervals(table[:, :width], change, at_tick, begin, end_tick, weights)

    def _combinations(self, changed: int, now: int) -> Iterator[tuple[tuple[tuple[int, ...], tuple[int, ...]], int]]:
        """What the other parts offer now: columns before and after those of the changed part, and the common end."""
        others = [list(self._living(i, now).items()) for i in range(len(self._live)) if i != changed]
        if not all(others):
            return
        for combination in product(*others):
            before = tuple(v for solution, _ in combination[:changed] for v in solution)
            after = tuple(v for solution, _ in combination[changed:] for v in solution)
            yield (before, after), min(end for _, end in combination)

    def _living(self, part: int, now: int) -> dict[tuple[int, ...], int]:
        live = self._live[part]
        if any(end <= now for end in live.values()):
            live = self._live[part] = {solution: end for solution, end in live.items() if end > now}
        return live

    def _keep(self, part: int, solution: tuple[int, ...], now: int, until: int, weight: int) -> None:
        if weight < 0:
            self._live[part].pop(solution, None)
        else:
            self._live[part][solution] = until
            # What has ended goes when others look at it; a part that nobody looks at is swept as it grows.
            if len(self._live[part]) > self._room[part]:
                self._room[part] = max(_SWEPT, 2 * len(self._living(part, now)))
