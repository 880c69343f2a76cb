"""A plan in two stages: parts that cells run, and the rest, which takes the rows that cells send on.

What is beyond an obstacle runs in the second stage, with all that needs its rows; its inputs that are not beyond it are the
parts. The order of the parts keeps the numbers of triple patterns: both stages together number them as the whole plan does.
"""

from __future__ import annotations

from dataclasses import dataclass

from millstream.plan import nodes as n
from millstream.plan.distribute.partitioning import obstacles_of
from millstream.plan.nodes import Node, in_order, inputs_of, kept, over
from millstream.plan.pruning import pruned


@dataclass(frozen=True, slots=True)
class Stages:
    """A plan that is split."""

    beyond: tuple[int, ...]
    """The places of what runs in the second stage, in the order of `in_order`."""
    cells: n.ExchangeOutput
    """What every cell runs over its share."""
    rest: Node
    """What takes the rows of all cells."""

    @property
    def joins(self) -> bool:
        """Whether cells have something to join, or would hand on about as many rows as they get triples.

        The triples of one subject in one window are no more than a record that comes in pieces: to put it together costs as
        little as to take its row from somebody else.
        """
        return any(_joins(node) for node in in_order(self.cells))


def stages_of(root: Node, *, at_rest: bool = False) -> list[Stages]:
    """The ways to split a plan, each with as much in cells as some cut of what it reads allows.

    `at_rest`: it reads no stream, and what it reads is cut.
    """
    ordered = in_order(root)
    # The order of answers is no operator: whoever reports puts them in order.
    always = frozenset(place for place, node in enumerate(ordered) if isinstance(node, n.Ordered))
    found = dict.fromkeys(tuple(sorted(beyond | always)) for beyond in obstacles_of(root, at_rest=at_rest))
    # Nothing beyond: equal answers of several cells still have to meet, unless somebody adds them up anyway.
    return [split(root, beyond) for beyond in found if beyond or not at_rest]


def split(root: Node, beyond: tuple[int, ...]) -> Stages:
    """The stages of a plan, of which the nodes at some places run in the second one."""
    ordered = in_order(root)
    second = {ordered[place] for place in beyond}
    # A match is told by the places of its columns, so whoever takes matches also chooses the columns.
    matches = [node.matched for node in second if isinstance(node, n.Unmatched | n.Marked)]
    second |= {matched for matched in matches if isinstance(matched, n.Project)}
    reading = reading_nodes(ordered)
    parts: dict[Node, int] = {}
    made: dict[Node, Node] = {}

    def visit(node: Node) -> Node:
        if node in made:
            return made[node]
        if node in second:
            made[node] = over(node, {part: visit(part) for part in inputs_of(node)})
        elif node in reading:
            number = parts.setdefault(node, len(parts))
            made[node] = n.ExchangeInput(number, node.variables, node.certain)
        else:
            made[node] = node
        return made[node]

    rest = pruned(visit(root))
    asked = {node.part: node.variables for node in in_order(rest) if isinstance(node, n.ExchangeInput)}
    return Stages(beyond, n.ExchangeOutput(tuple(kept(part, asked[number]) for part, number in parts.items())), rest)


def reading_nodes(ordered: list[Node]) -> set[Node]:
    """The nodes whose rows depend on triples: constants are wherever they are needed."""
    found: set[Node] = set()
    for node in ordered:
        if isinstance(node, n.Solutions | n.Quads | n.Precomputed) or any(part in found for part in inputs_of(node)):
            found.add(node)
    return found


def _joins(node: Node) -> bool:
    match node:
        case n.Solutions(conjunction):
            return len({(pattern.triple.subject, pattern.source) for pattern in conjunction.patterns}) > 1
        case n.Join() | n.OrderedJoin() | n.Unmatched() | n.Marked() | n.Closure():
            return True
        case _:
            return False
