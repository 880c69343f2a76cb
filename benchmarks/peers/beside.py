"""One question put to the engine and to incremental engines beside it: the same stream, all answers compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from benchmarks.curves import Curves
from benchmarks.peers.adapter import Appeared
from benchmarks.peers.leading import Place, lead_all
from benchmarks.report import Cell, Part

OURS = "millstream"
HANDED = [
    "millstream is given terms and gives terms; the others are handed numbers, of the triples that match, and spell nothing",
    "windows are worked out for the others: their time is that of the dataflow and of feeding it",
    "differential-dataflow runs once for 10,000 elements and tells what each of them brought",
    "dbsp runs once for 10,000 milliseconds and tells what these brought together: its answers are compared at their ends",
]


class Beside:
    """Costs of all engines at several places, all of them of so many triples or edits."""

    def __init__(self, engines: Mapping[str, Sequence[str]], part: Part) -> None:
        self._engines, self._part = engines, part
        self.costs = Curves()

    def ask(
        self,
        x: str,
        count: int,
        variables: Sequence[str],
        written: Callable[[], Sequence[str]],
        ours: Sequence[float],
        expected: Callable[[], Appeared],
        in_batches: Callable[[int], Appeared],
    ) -> None:
        """Microseconds each of so many cost, of ours from its seconds."""
        self.costs.add(OURS, x, [seconds / count * 1e6 for seconds in ours])
        if self._engines:
            place = Place(x, x, lambda seconds: seconds / count * 1e6)
            lead_all(variables, written(), expected(), place, self.costs, self._part, self._engines, in_batches)

    def row(self, x: str) -> list[Cell]:
        """The costs, and how often the best of the others goes into ours."""
        others = [cost for name in self._engines if (cost := self.costs.at(name, x)) is not None]
        mine = self.costs.at(OURS, x)
        return [*self.costs.row(x), mine / min(others) if others and mine is not None else None]

    @property
    def columns(self) -> tuple[str, ...]:
        return (*(f"{name}, us" for name in self.costs.names), "ours / best")
