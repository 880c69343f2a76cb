"""Values of several competitors at several sizes: as measured, then as series of a plot and as cells of a table."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks.report import Series

STOPPED = "time-out"


class Curves:
    """One value of each competitor at each place, with its spread."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._xs: list[float | str] = []
        self._found: dict[tuple[str, float | str], tuple[float | None, float | None, float | None, bool]] = {}

    def add(self, name: str, x: float | str, values: Sequence[float | None], stopped: bool = False) -> None:
        """What repetitions gave; their median is shown, from the least to the most. None of them: not measured."""
        if name not in self._names:
            self._names.append(name)
        if x not in self._xs:
            self._xs.append(x)
        seen = [value for value in values if value is not None]
        spread = (min(seen), max(seen)) if len(seen) > 1 else (None, None)
        self._found[name, x] = (statistics.median(seen) if seen else None, *spread, stopped)

    @property
    def names(self) -> list[str]:
        return list(self._names)

    def at(self, name: str, x: float | str) -> float | None:
        return self._found.get((name, x), (None, None, None, False))[0]

    def row(self, x: float | str) -> list[float | str | None]:
        """The values of all competitors at a place, in the order of their names; who gave none before a limit, says so."""
        unknown = (None, None, None, False)
        found = [self._found.get((name, x), unknown) for name in self._names]
        return [STOPPED if value is None and stopped else value for value, _, _, stopped in found]

    def best(self, x: float | str, without: Sequence[str] = ()) -> float | None:
        """The highest value of all others at a place."""
        return max((self.at(name, x) or 0.0 for name in self._names if name not in without), default=0.0) or None

    def series(self) -> list[Series]:
        unknown = (None, None, None, False)
        made = []
        for name in self._names:
            ys, low, high, stopped = zip(*(self._found.get((name, x), unknown) for x in self._xs), strict=True)
            made.append(Series(name, list(self._xs), ys, low, high, stopped))  # type: ignore[arg-type]
        return made
