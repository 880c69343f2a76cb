"""Which patterns over datasets are joined apart from the rest of their part.

It pays where a stream triple leads to many triples of a dataset, few of which lead on: two or more pairs after another, and
a constant at a variable that only they bind. Only what the sub-query has solutions for is then ever looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from millstream.plan.conjunction import GraphSource, PatternVariable, SourcedPattern


def subqueries_of(patterns: Sequence[SourcedPattern], members: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Of a connected part, the groups of patterns to be joined apart: numbers of patterns, each group in order."""
    at_rest = [n for n in members if isinstance(patterns[n].source, GraphSource) and len(patterns[n].variables) < 3]
    groups: list[tuple[set[PatternVariable], list[int]]] = []
    for number in at_rest:
        variables, joined = set(patterns[number].variables), [number]
        for group in [g for g in groups if g[0] & variables]:
            variables, joined = variables | group[0], [*group[1], *joined]
            groups.remove(group)
        groups.append((variables, joined))
    return tuple(tuple(sorted(joined)) for _, joined in groups if _pays(patterns, members, joined))


def _pays(patterns: Sequence[SourcedPattern], members: Sequence[int], joined: Sequence[int]) -> bool:
    rest = {v for n in members if n not in joined for v in patterns[n].variables}
    pairs = sum(len(patterns[n].variables) == 2 for n in joined)
    picks = any(len(patterns[n].variables) == 1 and not rest & set(patterns[n].variables) for n in joined)
    return bool(rest) and pairs > 1 and picks
