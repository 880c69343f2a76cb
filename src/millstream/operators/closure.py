"""Property paths `*` and `+` over edges that come and go (SPARQL 1.1, sections 9.3 and 18.4).

The inputs of the operator, in order, those that there are:

- `edges`: rows (tags..., from, to). Tags, at most two, part everything: paths stay within theirs.
- `nodes`: rows (tags..., node), the terms that are subject or object in the active graph. Only where paths of length zero
  count and both ends are variables: these go from each such term to itself.
- `tags`: rows (tags...), those that exist. Only where paths of length zero count, one end is a constant and there are
  tags: a constant has a path of length zero to itself in each of them, in the graph or not. Without tags, `begin` gives
  that row.
- `demand`: rows (tags..., node), the nodes from which (`demand="starts"`) or to which (`"ends"`) paths are asked for.
  Paths of length zero are still those of nodes of the graph: a demand asks, it adds nothing.

The output is rows (tags..., from, to) of weight 1. All its terms are those of edges, nodes and constants, so nothing is
held in the dictionary but constants, by the keeper given.

Paths are followed from the end that is known: from a constant or what is asked for, against the edges if that is their
end. Only where neither is known are all nodes starts; then as much is kept as there are answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from millstream.kernels.closure import PathClosure
from millstream.kernels.deltas import PythonOperator
from millstream.operators.keeping import Keeper
from millstream.operators.rows import Deltas

if TYPE_CHECKING:
    from millstream.kernels.closure import ClosureStats, Rows

Demand: TypeAlias = Literal["starts", "ends"]


class Closure(PythonOperator):
    """Paths of one or more edges (`+`), with `zero_length` of any number of edges (`*`)."""

    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        tag_width: int,
        starts: int | None = None,
        ends: int | None = None,
        *,
        zero_length: bool,
        demand: Demand | None = None,
        keeper: Keeper | None = None,
    ) -> None:
        """`keeper` keeps the constants."""
        super().__init__(inputs, width)
        if demand is not None and not (starts is None and ends is None):
            raise ValueError(f"a path with a constant end is not asked for by its {demand}")
        reverse = demand == "ends" or (starts is None and ends is not None)
        zero_length = zero_length and (starts is None or ends is None or starts == ends)
        constant = starts is not None or ends is not None
        self._closure = PathClosure(
            tag_width,
            source=ends if reverse else starts,
            target=None if reverse else ends,
            zero_length=zero_length,
            demanded=demand is not None,
            reversed=reverse,
        )
        self._demanded = demand is not None
        self._takes_nodes = zero_length and (not constant or tag_width > 0)
        nodes = ("tags",) if constant else ("nodes",)
        reads = ("edges", *(nodes if self._takes_nodes else ()), *(("demand",) if self._demanded else ()))
        if len(inputs) != len(reads):
            raise ValueError(f"expected {len(reads)} inputs ({', '.join(reads)}), got {len(inputs)}")
        self._keeper = keeper
        self._constants = np.array([end for end in (starts, ends) if end is not None], np.int64)
        if keeper is not None:
            keeper.hold(self._constants)

    def begin(self, at_tick: int, change: int) -> None:
        """The constant's path to itself, where that does not depend on tags."""
        self.give(Deltas(*self._closure.begin(at_tick, change)))

    def changed(self, *inputs: Deltas) -> Deltas:
        """What changes of the inputs change in the pairs that paths connect."""
        rows: list[Rows] = [(given.columns, given.tick, given.change, given.weight) for given in inputs]
        return Deltas(
            *self._closure.feed(
                rows[0],
                rows[1] if self._takes_nodes else None,
                rows[-1] if self._demanded else None,
            )
        )

    def close(self, at_tick: int) -> None:
        if self._keeper is not None:
            self._keeper.release(self._constants, at_tick)

    @property
    def stats(self) -> ClosureStats:
        return self._closure.stats
