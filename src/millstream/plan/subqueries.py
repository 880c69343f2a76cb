"""Which patterns over datasets are joined apart from the rest of their part.

It pays where a stream triple leads to many triples of a dataset, few of which lead on: two or more pairs after another, and
a constant at a variable that only they bind. Only what the sub-query has solutions for is then ever looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from millstream.plan.conjunction import GraphSource, SourcedPattern, connected


def subqueries_of(patterns: Sequence[SourcedPattern], members: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Of a connected part, the groups of patterns to be joined apart: numbers of patterns, each group in order."""
    at_rest = [n for n in members if isinstance(patterns[n].source, GraphSource) and len(patterns[n].variables) < 3]
    return tuple(joined for joined in connected(patterns, at_rest) if _pays(patterns, members, joined))


def _pays(patterns: Sequence[SourcedPattern], members: Sequence[int], joined: Sequence[int]) -> bool:
    rest = {v for n in set(members).difference(joined) for v in patterns[n].variables}
    pairs = sum(len(patterns[n].variables) == 2 for n in joined)
    picks = any(len(patterns[n].variables) == 1 and not rest & set(patterns[n].variables) for n in joined)
    return bool(rest) and pairs > 1 and picks
