"""Where a pattern is evaluated: over which graph or window, for which given values, with which names still free."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pyoxigraph import NamedNode, Variable

from millstream.language import algebra as a
from millstream.plan.conjunction import GraphSource, MergedSource, Source, WindowSource
from millstream.plan.nodes import Distinct, Join, Node, Quads, kept


class Names:
    """Makes variables that no part of a query's text can mean."""

    def __init__(self, text: str) -> None:
        self._prefix = "m_"
        while self._prefix in text:
            self._prefix = f"m{self._prefix}"
        self._count = 0

    def fresh(self, about: str) -> Variable:
        self._count += 1
        return Variable(f"{self._prefix}{about}_{self._count}")

    def sole(self, about: str) -> Variable:
        """One of which a plan has no other."""
        return Variable(f"{self._prefix}{about}")

    def of_blank(self, label: str) -> Variable:
        """The variable that a blank node of a pattern is."""
        return Variable(f"{self._prefix}blank_{label}")


@dataclass(frozen=True, slots=True)
class NamedGraphs:
    """Each of the named graphs in turn; its name is a column of everything evaluated there."""

    variable: Variable
    named: tuple[NamedNode, ...] | None


@dataclass(frozen=True, slots=True)
class Scope:
    """What a pattern is evaluated over.

    Where values are given (the graph's name for GRAPH ?g, the solution of an outer pattern for EXISTS), every row carries
    them in columns, and `domain` has all combinations that there are; `graphs` has the names alone.
    """

    names: Names = field(compare=False)
    source: Source | NamedGraphs
    given: tuple[Variable, ...] = ()
    domain: Node | None = None
    graphs: Node | None = None

    def over(self, source: Source | NamedGraphs) -> Scope:
        """Another place, for the same values."""
        if isinstance(source, NamedGraphs):
            s, p, o = (self.names.fresh(place) for place in "spo")
            quads = Quads(a.TriplePattern(s, p, o), source.variable, source.named)
            graphs = Distinct(kept(quads, (source.variable,)))
            domain = graphs if self.domain is None else Join(self.domain, graphs)
            return Scope(self.names, source, (*self.given, source.variable), domain, graphs)
        return replace(self, source=source, graphs=None)

    @property
    def alone(self) -> Scope:
        """The same place without the solution of an outer pattern."""
        tags = (self.source.variable,) if isinstance(self.source, NamedGraphs) else ()
        return replace(self, given=tags, domain=self.graphs)

    def for_each(self, given: tuple[Variable, ...], domain: Node) -> Scope:
        """The same place, once for each combination of further values."""
        return replace(self, given=given, domain=domain)


def default_source(query: a.Query) -> Source:
    """What a pattern outside of GRAPH, STREAM and WINDOW reads."""
    graphs = query.dataset.default
    parts: tuple[GraphSource | WindowSource, ...] = tuple(
        GraphSource(g) for g in ((None,) if graphs is None else graphs)
    ) + tuple(WindowSource(w) for w in query.default_windows)
    return parts[0] if len(parts) == 1 else MergedSource(parts)


def graph_source(query: a.Query, name: NamedNode) -> Source:
    named = query.dataset.named
    # A graph that FROM NAMED does not choose is empty: the union of nothing.
    return GraphSource(name) if named is None or name in named else MergedSource(())
