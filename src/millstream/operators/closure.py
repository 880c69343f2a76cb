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
held in the dictionary but constants, by the references given.

Paths are followed from the end that is known: from a constant or what is asked for, against the edges if that is their
end. Only where neither is known are all nodes starts; then as much is kept as there are answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.flow.deltas import Deltas
from millstream.kernels.paths.closure import PathClosure

Demand: TypeAlias = Literal["starts", "ends"]


def closure(
    inputs: Sequence[Deltas],
    width: int,
    starts: int | None = None,
    ends: int | None = None,
    *,
    zero_length: bool,
    demand: Demand | None = None,
    references: TermReferences | None = None,
) -> PathClosure:
    """Paths of one or more edges (`+`), with `zero_length` of any number of edges (`*`); `references` has the constants."""
    if demand is not None and not (starts is None and ends is None):
        raise ValueError(f"a path with a constant end is not asked for by its {demand}")
    reverse = demand == "ends" or (starts is None and ends is not None)
    return PathClosure(
        inputs,
        width,
        source=ends if reverse else starts,
        target=None if reverse else ends,
        zero_length=zero_length,
        demanded=demand is not None,
        reversed=reverse,
        references=references,
    )
