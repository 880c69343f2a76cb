"""What a query reads: which graphs, through which windows. A change elsewhere does not concern it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyoxigraph import NamedNode, Variable

from millstream.language import algebra as a
from millstream.language.scope import exists_in, expressions_of, sub_patterns


@dataclass(frozen=True, slots=True)
class Sources:
    """The graphs a query reads outside of its windows."""

    dataset: a.Dataset
    default_graph: bool
    named_graphs: tuple[NamedNode, ...]
    any_named_graph: bool
    """Whether GRAPH ?g ranges over all that the dataset has."""

    def has(self, graph: str | None) -> bool:
        """Whether a change of that graph is a change for the query."""
        default, named = self.dataset.default, self.dataset.named
        if graph is None:
            return self.default_graph and default is None
        # By text: a graph that a blank node names has no IRI, and only GRAPH with a variable finds it.
        if self.default_graph and graph in _values(default):
            return True
        if named is not None and graph not in _values(named):
            return False
        return self.any_named_graph or graph in _values(self.named_graphs)


def sources_of(query: a.Query) -> Sources:
    """All graphs that matter to a query's answers."""
    reader = _Reader()
    reader.visit(query.pattern, None)
    return Sources(query.dataset, reader.default_graph, tuple(reader.named), reader.any_named)


def _values(names: Iterable[NamedNode] | None) -> set[str]:
    return {name.value for name in names or ()}


class _Reader:
    def __init__(self) -> None:
        self.default_graph = False
        self.named: dict[NamedNode, None] = {}
        self.any_named = False

    def visit(self, pattern: a.Pattern, graph: NamedNode | Variable | str | None) -> None:
        match pattern:
            case a.BGP(()):
                return
            case a.BGP() | a.Path():
                if graph is None:
                    self.default_graph = True
                return
            case a.Graph(name, _):
                graph = name
                if isinstance(name, Variable):
                    self.any_named = True
                else:
                    self.named.setdefault(name)
            case a.Window():
                graph = "window"
        for expression in expressions_of(pattern):
            for exists in exists_in(expression):
                self.visit(exists.pattern, graph)
        for inner in sub_patterns(pattern):
            self.visit(inner, graph)
