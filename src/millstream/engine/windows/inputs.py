"""What a query reads: its windows, each with an operator, and its graphs, on their own or as parts of a union."""

from __future__ import annotations

from collections.abc import Iterable

from millstream.engine.windows.merged_graph import MergedGraph
from millstream.engine.windows.window_operators import Operator, operator_for
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.operators.dataflow.dataflow import Leaf
from millstream.operators.leaves.matching import Matcher
from millstream.plan.conjunction import GraphSource, MergedSource, ParameterSource, Source, WindowSource
from millstream.windows.kinds import StreamWindow

PARAMETERS = "the constants of members"
"""The graph of the constants in which queries differ that are run as one; no IRI, so nobody else can name it."""


class Input:
    """A part of what a query reads: a window or a graph, and the union it belongs to, if any."""

    __slots__ = ("graph", "matcher", "operator", "part", "union", "window")

    def __init__(self, source: GraphSource | WindowSource, matcher: Matcher, dictionary: Dictionary, t0_ms: int) -> None:
        self.matcher = matcher
        self.window: StreamWindow | None = None
        self.graph: str | None = None
        self.operator: Operator | None = None
        self.union: MergedGraph | None = None
        self.part = 0
        if isinstance(source, WindowSource):
            self.window = source.window
            self.operator = operator_for(source.window.window, matcher.patterns, dictionary, t0_ms)
        elif isinstance(source, ParameterSource):
            self.graph = PARAMETERS
        else:
            self.graph = None if source.graph is None else source.graph.value


def inputs_of(leaf: Leaf, dictionary: Dictionary, t0_ms: int) -> list[Input]:
    """All that the patterns of a conjunction read."""
    inputs = []
    for source, matcher in leaf.operator.matchers.items():
        parts: tuple[Source, ...] = (source,)
        union = None
        if isinstance(source, MergedSource):
            parts, union = source.parts, MergedGraph(len(source.parts))
        for number, part in enumerate(parts):
            assert not isinstance(part, MergedSource)
            made = Input(part, matcher, dictionary, t0_ms)
            made.union, made.part = union, number
            inputs.append(made)
    return inputs


def unread(windows: Iterable[StreamWindow], dictionary: Dictionary, t0_ms: int) -> list[Input]:
    """Windows that no pattern reads: there is no content to join, but they have elements and ends."""
    nothing = Matcher((), (), dictionary, {})
    return [Input(WindowSource(window), nothing, dictionary, t0_ms) for window in windows]
