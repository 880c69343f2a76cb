"""Which operators run a plan: one for each node, and one for nodes that look at single rows and follow each other.

What is only made distinct to be joined needs none.

Equal steps are one object, as equal nodes are, so plans that have parts in common show it: what one of them runs already,
another one need not run again. A step is a function of its own plan; what else is running makes no difference to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import Variable

from millstream.operators.rowwise import RowNode
from millstream.operators.ticks import Deltas
from millstream.plan.conjunction import MergedSource, Source, WindowSource
from millstream.plan.hash_consing import HashConsed
from millstream.plan.nodes import Distinct, Join, Node, Ordered, Quads, Solutions, in_order, inputs_of


@dataclass(frozen=True, eq=False)
class Step(HashConsed):
    """What one operator does."""

    node: Node
    chain: tuple[RowNode, ...]
    """The nodes that it runs one after the other, up to `node`; none for an operator that looks at more than a row."""
    inputs: tuple[Step, ...]
    era: int
    """Since when a leaf sees its windows: those that began at different times see different elements."""

    @property
    def reads(self) -> int:
        """How many patterns it matches."""
        match self.node:
            case Solutions(conjunction):
                return len(conjunction.patterns)
            case Quads():
                return 1
            case _:
                return 0


class Root:
    """The end of one plan."""

    __slots__ = ("columns", "era", "order", "place", "plan", "seen", "step", "width")

    def __init__(self, plan: Node, era: int) -> None:
        self.era = era
        self.plan = plan
        self.order: tuple[tuple[int, bool], ...] = ()
        """The order of answers: places of columns, each with whether it descends."""
        self.seen = len(plan.variables)
        """How many columns of an answer are seen; the others are keys of its order."""
        if isinstance(plan, Ordered):
            self.order = tuple((plan.variables.index(v), down) for v, down in plan.conditions)
            self.seen, plan = plan.width, plan.input
        self.width = len(plan.variables)
        self.columns: tuple[int, ...] | None = None
        """Where its columns are among those of its last step; None where they are the same."""
        if isinstance(plan, Solutions):
            plan = self._as_others_have_it(plan)
        self.step = step_of(plan, era)
        self.place = -1

    def _as_others_have_it(self, leaf: Solutions) -> Solutions:
        """A conjunction by itself gives its columns in the order asked for; below other nodes, as they appear in it."""
        asked = leaf.conjunction.projection
        wanted = frozenset(asked)
        usual = tuple(v for v in leaf.conjunction.variables if isinstance(v, Variable) and v in wanted)
        if usual == asked or sorted(usual, key=str) != sorted(asked, key=str):
            return leaf
        place = {v: i for i, v in enumerate(usual)}
        self.columns = tuple(place[v] for v in asked)
        return Solutions(replace(leaf.conjunction, projection=usual))

    def of(self, deltas: Deltas) -> Deltas:
        """What its last step gives, in its own columns."""
        if self.columns is None:
            return deltas
        return Deltas(deltas.columns[:, self.columns], deltas.tick, deltas.change, deltas.weight)


def step_of(root: Node, era: int = 0) -> Step:
    """The last step of a plan; the others are its inputs."""
    nodes = in_order(root)
    chains = _chains_of(nodes)
    inside = {node for chain in chains.values() for node in chain[:-1]}
    steps: dict[Node, Step] = {}
    for node in nodes:
        if node not in inside:
            chain = chains.get(node, ())
            inputs = _inputs_of(chain[0] if chain else node)
            since = era if isinstance(node, Solutions) and has_windows(node) else 0
            steps[node] = Step(node, tuple(chain), tuple(steps[i] for i in inputs), since)
    return steps[root]


def _inputs_of(node: Node) -> list[Node]:
    """What an operator reads: a join counts its rows, and so makes them distinct itself."""
    inputs = inputs_of(node)
    return [i.input if isinstance(node, Join) and isinstance(i, Distinct) else i for i in inputs]


def steps_below(root: Step, known: Container[Step] = ()) -> list[Step]:
    """A step and all it needs, each once, after its inputs; without those that are known and what only they need."""
    found: dict[Step, None] = {}

    def visit(step: Step) -> None:
        if step not in found and step not in known:
            for part in step.inputs:
                visit(part)
            found[step] = None

    visit(root)
    return list(found)


def has_windows(node: Solutions) -> bool:
    """Whether something of what a conjunction matches comes from a stream."""
    return any(map(_is_window, (pattern.source for pattern in node.conjunction.patterns)))


def _is_window(source: Source) -> bool:
    return isinstance(source, WindowSource) or (isinstance(source, MergedSource) and any(map(_is_window, source.parts)))


def _chains_of(nodes: Sequence[Node]) -> dict[Node, list[RowNode]]:
    """The chains among the nodes of a plan, by their last node; only the last may have several readers."""
    readers = Counter(part for node in nodes for part in inputs_of(node))
    chains: dict[Node, list[RowNode]] = {}
    for node in nodes:
        if isinstance(node, RowNode):
            before = chains.pop(node.input) if node.input in chains and readers[node.input] == 1 else []
            chains[node] = [*before, node]
    return chains
