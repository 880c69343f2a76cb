"""Which parts of a plan can be precomputed, before anything happens: those that only read graphs which do not change.

A part is as large as it can be. It is left in place where its rows would be its triples, picked and renamed but not put
together with others: those go to cells as triples, like all others. So do the graphs' patterns of a conjunction that also
reads a stream: the join wants them as views.
"""

from __future__ import annotations

from dataclasses import dataclass

from millstream.plan import nodes as n
from millstream.plan.conjunction import GraphSource, MergedSource, Source
from millstream.plan.distribute.stages import reading_nodes
from millstream.plan.nodes import Node, in_order, inputs_of, leaf_patterns, over


@dataclass(frozen=True, slots=True)
class PrecomputedParts:
    """A plan with the parts that are evaluated first taken out."""

    parts: n.ExchangeOutput
    rest: Node
    """What is left, over leaves (`Precomputed`) with the rows of the parts."""
    numbers: tuple[int, ...]
    """For each triple pattern of the rest its number in the whole plan."""


def precomputed_parts(root: Node) -> PrecomputedParts | None:
    """What of a plan can be evaluated if no graph changes, None if that is nothing, or all of it."""
    ordered = in_order(root)
    at_rest = _at_rest(ordered)
    if (root.input if isinstance(root, n.Ordered) else root) in at_rest:
        return None
    parts = _parts(ordered, at_rest)
    if not parts:
        return None
    numbered = {node: number for number, node in enumerate(parts)}
    made: dict[Node, Node] = {}
    for node in ordered:
        if node in numbered:
            made[node] = n.Precomputed(numbered[node], node.variables, node.certain)
        else:
            made[node] = over(node, made)
    return PrecomputedParts(n.ExchangeOutput(tuple(parts)), made[root], _numbers(ordered, made[root]))


def _at_rest(ordered: list[Node]) -> set[Node]:
    """The nodes whose rows never change; the order of answers is no operator, so it is none of them."""
    found: set[Node] = set()
    for node in ordered:
        match node:
            case n.Solutions(conjunction):
                rests = all(_is_graph(pattern.source) for pattern in conjunction.patterns)
            case n.Quads() | n.Rows():
                rests = True
            case _:
                rests = not isinstance(node, n.Ordered) and all(part in found for part in inputs_of(node))
        if rests:
            found.add(node)
    return found


def _parts(ordered: list[Node], at_rest: set[Node]) -> list[Node]:
    """What is taken out: nodes at rest that others need which are not, if evaluating them is work."""
    reading, works = reading_nodes(ordered), _working(ordered)
    candidates = {node for node in at_rest if node in reading and node in works}
    outside = set(ordered) - at_rest
    while True:
        asked = {part for node in outside for part in inputs_of(node)} & candidates
        # The same rows with fewer columns are no part of their own.
        repeated = {node for node in asked - outside if isinstance(node, n.Project) and node.input in asked}
        if not repeated:
            return [node for node in ordered if node in asked and node not in outside]
        outside |= repeated


def _working(ordered: list[Node]) -> set[Node]:
    """The nodes whose rows are more than triples that were picked."""
    found: set[Node] = set()
    for node in ordered:
        match node:
            case n.Solutions(conjunction):
                works = len(conjunction.patterns) > 1
            case n.Rows():
                works = False
            case n.Extend() | n.EqualityKey() | n.Filter() | n.Project() | n.Union():
                works = any(part in found for part in inputs_of(node))
            case _:
                works = True
        if works:
            found.add(node)
    return found


def _is_graph(source: Source) -> bool:
    parts = source.parts if isinstance(source, MergedSource) else (source,)
    return all(isinstance(part, GraphSource) for part in parts)


def _numbers(ordered: list[Node], rest: Node) -> tuple[int, ...]:
    first: dict[Node, int] = {}
    count = 0
    for node in ordered:
        if isinstance(node, n.Solutions):
            first[node] = count
            count += len(node.conjunction.patterns)
    return tuple(
        first[node] + place
        for node in in_order(rest)
        if isinstance(node, n.Solutions)
        for place in range(len(leaf_patterns(node)))
    )
