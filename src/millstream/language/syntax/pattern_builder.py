"""Builds groups, triples and paths of the syntax tree while the parser runs."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from pyoxigraph import Variable

from millstream.errors import Place
from millstream.language.parser.lexer import Token
from millstream.language.syntax import tree as s
from millstream.language.syntax.term_builder import NOWHERE, RDF, Children, TermBuilder, as_variable, is_var, place_of

Node: TypeAlias = tuple[s.Term, tuple[s.Triple, ...]]
"""A node of a triple with the triples that its brackets or parentheses bring along."""


class PatternBuilder(TermBuilder):
    """Callbacks for everything inside the braces of a pattern but stream clauses."""

    # Group graph patterns -----------------------------------------------------------------------------------------

    def group_graph_pattern(self, children: Children) -> s.GroupGraphPattern:
        opening, *elements, closing = children
        return s.GroupGraphPattern(tuple(elements), place_of(opening, closing))

    def group_or_union(self, children: Children) -> s.UnionPattern:
        return s.UnionPattern(tuple(children))

    def optional(self, children: Children) -> s.OptionalPattern:
        return s.OptionalPattern(children[0])

    def minus(self, children: Children) -> s.MinusPattern:
        return s.MinusPattern(children[0])

    def graph(self, children: Children) -> s.GraphPattern:
        keyword, name, group = children
        return s.GraphPattern(as_variable(name), group, place_of(keyword, group.place))

    def service(self, children: Children) -> s.ServicePattern:
        keyword, *silent, name, group = children
        return s.ServicePattern(as_variable(name), group, bool(silent), place_of(keyword, group.place))

    def filter(self, children: Children) -> s.FilterElement:
        return s.FilterElement(as_variable(children[0]))

    def bind(self, children: Children) -> s.BindElement:
        _bind, expression, _as, variable = children
        return s.BindElement(as_variable(expression), Variable(variable[1:]), place_of(variable))

    def values_clause(self, children: Children) -> s.InlineData | None:
        return self.inline_data(children) if children else None

    def inline_data(self, children: Children) -> s.InlineData:
        keyword, (variables, rows) = children
        return s.InlineData(variables, rows, place_of(keyword))

    def data_one_var(self, children: Children) -> tuple[Any, Any]:
        variable, values = children
        return (Variable(variable[1:]),), tuple((v,) for v in values)

    def data_one_values(self, children: Children) -> tuple[Any, ...]:
        return tuple(None if isinstance(c, Token) else c for c in children)

    def data_no_vars(self, children: Children) -> tuple[Any, Any]:
        _no_variables, *rows = children
        return (), ((),) * len(rows)

    def data_full(self, children: Children) -> tuple[Any, Any]:
        variables = tuple(Variable(c[1:]) for c in children if is_var(c))
        return variables, tuple(c for c in children if isinstance(c, tuple))

    def data_row(self, children: Children) -> tuple[Any, ...]:
        if children and isinstance(children[0], Token) and children[0].type == "NIL":
            return ()
        return tuple(None if isinstance(c, Token) else c for c in children)

    # Triples ------------------------------------------------------------------------------------------------------

    def triples_block(self, children: Children) -> s.TriplesBlock:
        return s.TriplesBlock(tuple(t for _, triples in children for t in triples), children[0][0])

    def triples_same_subject_path(self, children: Children) -> tuple[Place, tuple[s.Triple, ...]]:
        subject, triples = _node(children[0])
        place = _node_place(children[0])
        if len(children) > 1:
            triples += _with_subject(subject, children[1])
        return place, triples

    def property_list_not_empty(self, children: Children) -> list[tuple[Any, list[Node]]]:
        pairs = [c for c in children if not (isinstance(c, Token) and c.type == "SEMICOLON")]
        return [(as_variable(verb), objects) for verb, objects in zip(pairs[::2], pairs[1::2], strict=True)]

    def object_list(self, children: Children) -> list[Node]:
        return [_node(c) for c in children]

    def blank_node_property_list(self, children: Children) -> _Bracketed:
        opening, properties, _closing = children
        place = place_of(opening)
        node = s.BlankNodeLabel(f"[{place.start}", place)
        return _Bracketed(node, _with_subject(node, properties), place)

    def collection(self, children: Children) -> _Bracketed:
        nodes = [_node(c) for c in children]
        place = _node_place(children[0])
        cells = [s.BlankNodeLabel(f"({place.start}.{i}", place) for i in range(len(nodes))]
        triples: tuple[s.Triple, ...] = ()
        first, rest, nil = (s.IRIReference(RDF + name, place) for name in ("first", "rest", "nil"))
        for i, (node, extra) in enumerate(nodes):
            follower: s.Term = cells[i + 1] if i + 1 < len(cells) else nil
            triples += (s.Triple(cells[i], first, node), s.Triple(cells[i], rest, follower), *extra)
        return _Bracketed(cells[0], triples, place)

    # Paths --------------------------------------------------------------------------------------------------------

    def path_alternative(self, children: Children) -> s.Alternative:
        return s.Alternative(tuple(children))

    def path_sequence(self, children: Children) -> s.Sequence:
        return s.Sequence(tuple(children))

    def path_inverse(self, children: Children) -> s.Inverse:
        return s.Inverse(children[0])

    def path_modified(self, children: Children) -> s.Repetition:
        return s.Repetition(children[0], str(children[1]))

    def path_negated(self, children: Children) -> s.NegatedSet:
        steps = [c for c in children if isinstance(c, tuple)]
        return s.NegatedSet(
            tuple(iri for iri, inverse in steps if not inverse), tuple(iri for iri, inverse in steps if inverse)
        )

    def path_one_in_property_set(self, children: Children) -> tuple[s.IRI, bool]:
        return children[0], False

    def path_one_inverse(self, children: Children) -> tuple[s.IRI, bool]:
        return children[0], True

    def a(self, children: Children) -> s.IRI:
        return s.IRIReference(RDF + "type", place_of(children[0]))


class _Bracketed(NamedTuple):
    """`[...]` or `(...)` as a node, with the triples inside."""

    node: s.Term
    triples: tuple[s.Triple, ...]
    place: Place


def _node(child: Any) -> Node:
    return (child.node, child.triples) if isinstance(child, _Bracketed) else (as_variable(child), ())


def _node_place(child: Any) -> Place:
    return place_of(child) if isinstance(child, Token) else getattr(child, "place", NOWHERE)


def _with_subject(subject: s.Term, properties: list[tuple[Any, list[Node]]]) -> tuple[s.Triple, ...]:
    triples: list[s.Triple] = []
    for verb, objects in properties:
        for node, extra in objects:
            triples.append(s.Triple(subject, verb, node))
            triples.extend(extra)
    return tuple(triples)
