"""Builds the syntax tree while the parser runs: one method a grammar rule, no state, so that parses may run in parallel.

Punctuation and keywords whose terminals begin with an underscore never reach these methods; what does is kept for its
place. Terms, expressions and patterns have builders of their own, which this one completes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pyoxigraph import Variable

from millstream.errors import Place
from millstream.language.parser.lexer import Token
from millstream.language.syntax import tree as s
from millstream.language.syntax.pattern_builder import PatternBuilder
from millstream.language.syntax.term_builder import (
    NOWHERE,
    Children,
    as_variable,
    find_keyword,
    iri_reference,
    is_var,
    place_of,
    unquote,
)


class SyntaxBuilder(PatternBuilder):
    """Callbacks for the parser; each gets the children of its rule."""

    # Query forms --------------------------------------------------------------------------------------------------

    def query_unit(self, children: Children) -> s.QueryUnit:
        prologue, *register, query, values = children
        return s.QueryUnit(prologue, register[0] if register else None, query, values)

    def prologue(self, children: Children) -> s.Prologue:
        return tuple(children)

    def base_decl(self, children: Children) -> s.BaseDeclaration:
        return s.BaseDeclaration(iri_reference(children[0]))

    def prefix_decl(self, children: Children) -> s.PrefixDeclaration:
        return s.PrefixDeclaration(children[0][:-1], iri_reference(children[1]))

    def select_query(self, children: Children) -> s.SelectQuery:
        select, *dataset, where, modifier = children
        return s.SelectQuery(select, tuple(dataset), where, modifier)

    def sub_select(self, children: Children) -> s.SubSelect:
        select, where, modifier, values = children
        return s.SubSelect(s.SelectQuery(select, (), where, modifier, values))

    def select_clause(self, children: Children) -> s.SelectClause:
        items = tuple(c for c in children if isinstance(c, s.SelectItem))
        output = next((c for c in children if isinstance(c, _Output)), None)
        return s.SelectClause(
            items or None,
            distinct=find_keyword(children, "DISTINCT") is not None,
            reduced=find_keyword(children, "REDUCED") is not None,
            output=output.name if output else None,
            output_place=output.place if output else None,
            place=place_of(children[0]),
        )

    def select_item(self, children: Children) -> s.SelectItem:
        (variable,) = children
        return s.SelectItem(Variable(variable[1:]), None, True, place_of(variable))

    def select_expression(self, children: Children) -> s.SelectItem:
        expression, _as, variable = children
        return s.SelectItem(Variable(variable[1:]), as_variable(expression), True, place_of(variable))

    def select_unparenthesised(self, children: Children) -> s.SelectItem:
        expression, _as, variable = children
        return s.SelectItem(Variable(variable[1:]), expression, False, place_of(variable))

    def construct_query(self, children: Children) -> s.ConstructQuery:
        keyword = children[0]
        output, (template, *dataset, where, modifier) = _split_output(children[1:])
        block, closing = template
        return s.ConstructQuery(block, *output, tuple(dataset), where, modifier, place_of(keyword, closing))

    def construct_where(self, children: Children) -> s.ConstructQuery:
        keyword = children[0]
        output, (*rest, modifier) = _split_output(children[1:])
        found = next((c for c in rest if isinstance(c, s.TriplesBlock)), _NO_TRIPLES)
        block = s.TriplesBlock(found.triples, place_of(keyword))
        dataset = tuple(c for c in rest if isinstance(c, s.FromClause | s.FromStream))
        where = s.GroupGraphPattern((block,), block.place)
        place = place_of(keyword, output[1])
        return s.ConstructQuery(block, *output, dataset, where, modifier, place)

    def construct_template(self, children: Children) -> tuple[s.TriplesBlock, Token]:
        opening, *blocks, closing = children
        triples = blocks[0].triples if blocks else ()
        return s.TriplesBlock(triples, place_of(opening, closing)), closing

    def describe_query(self, children: Children) -> s.DescribeQuery:
        keyword, *rest, modifier = children
        dataset = tuple(c for c in rest if isinstance(c, s.FromClause | s.FromStream))
        where = next((c for c in rest if isinstance(c, s.GroupGraphPattern)), None)
        resources = tuple(as_variable(c) for c in rest if is_var(c) or isinstance(c, s.IRI))
        return s.DescribeQuery(resources or None, dataset, where, modifier, place_of(keyword))

    def ask_query(self, children: Children) -> s.AskQuery:
        output, (*dataset, where, modifier) = _split_output(children)
        return s.AskQuery(*output, tuple(dataset), where, modifier)

    # Dataset and streams ------------------------------------------------------------------------------------------

    def from_default(self, children: Children) -> s.FromClause:
        return s.FromClause(children[1], False, place_of(children[0], children[1].place))

    def from_named(self, children: Children) -> s.FromClause:
        return s.FromClause(children[1], True, place_of(children[0], children[1].place))

    def from_stream(self, children: Children) -> s.FromStream:
        stream, window = _without_tokens(children)
        return s.FromStream(stream, window, None, place_of(children[0], window.place))

    def from_named_window(self, children: Children) -> s.FromStream:
        name, stream, window = _without_tokens(children)
        return s.FromStream(stream, window, name, place_of(children[0], window.place))

    def from_window_as(self, children: Children) -> s.FromStream:
        stream, window, name = _without_tokens(children)
        return s.FromStream(stream, window, name, place_of(children[0], name.place))

    def register(self, children: Children) -> s.Register:
        keyword, what, name, *rest, as_, prologue = children
        if isinstance(name, Token):
            name = unquote(name) if name.type.startswith("STRING") else str(name)
        return s.Register(what.upper(), name, rest[0] if rest else None, prologue, place_of(keyword, as_))

    def computed(self, children: Children) -> Place:
        return place_of(children[0], children[2].place)

    def output(self, children: Children) -> _Output:
        return _Output(children[0].upper(), place_of(children[0]))

    def window(self, children: Children) -> s.WindowClause:
        bracket, clause, closing = children
        return s.WindowClause(**clause, place=place_of(bracket, closing))

    def window_length(self, children: Children) -> dict[str, Any]:
        kind, length, *grid = children
        clause = {"kind": kind.upper(), "length": length}
        if grid:
            clause["grid"] = grid[0].upper()
            clause["grid_length"] = grid[1] if len(grid) > 1 else None
        return clause

    def window_count(self, children: Children) -> dict[str, Any]:
        *_, kind, count = children
        return {"kind": kind.upper(), "count": _count(count)}

    def window_keyword(self, children: Children) -> dict[str, Any]:
        return {"kind": children[0].upper()}

    def window_past(self, children: Children) -> dict[str, Any]:
        durations = [c for c in children if isinstance(c, s.DurationText)]
        grid = find_keyword(children, "SLIDE", "STEP")
        nows = sum(isinstance(c, Token) and c.type == "NOW" for c in children)
        return {
            "kind": "PAST",
            "length": durations[0],
            "grid": "STEP" if grid else None,
            "grid_length": durations[-1] if grid else None,
            "until_past": nows > 1 and len(durations) > (2 if grid else 1),
        }

    def duration(self, children: Children) -> s.DurationText:
        return s.DurationText(str(children[0]), place_of(children[0]))

    def stream_graph_pattern(self, children: Children) -> s.StreamGraphPattern:
        keyword, *parts, group = children
        window = next(c for c in parts if isinstance(c, s.WindowClause))
        stream = next(c for c in parts if not isinstance(c, s.WindowClause))
        place = _place_up_to(keyword, group)
        return s.StreamGraphPattern(as_variable(stream), window, group, place)

    def window_graph_pattern(self, children: Children) -> s.WindowGraphPattern:
        keyword, name, group = children
        return s.WindowGraphPattern(as_variable(name), group, _place_up_to(keyword, group))

    # Solution modifiers -------------------------------------------------------------------------------------------

    def solution_modifier(self, children: Children) -> s.SolutionModifier:
        return s.SolutionModifier(**self.limit_offset(children))

    def group_clause(self, children: Children) -> dict[str, Any]:
        return {"group_by": tuple(children)}

    def group_condition(self, children: Children) -> s.GroupCondition:
        expression, *alias = children
        if alias:
            return s.GroupCondition(as_variable(expression), Variable(alias[1][1:]), place_of(alias[1]))
        if is_var(expression):
            return s.GroupCondition(Variable(expression[1:]), None, place_of(expression))
        return s.GroupCondition(expression, None, getattr(expression, "place", NOWHERE))

    def having_clause(self, children: Children) -> dict[str, Any]:
        keyword, *constraints = children
        return {"having": tuple(as_variable(c) for c in constraints), "having_place": place_of(keyword)}

    def order_clause(self, children: Children) -> dict[str, Any]:
        return {"order_by": tuple(children)}

    def order_directed(self, children: Children) -> s.OrderCondition:
        return s.OrderCondition(as_variable(children[1]), children[0].type == "DESC")

    def order_by(self, children: Children) -> s.OrderCondition:
        return s.OrderCondition(as_variable(children[0]), descending=False)

    def limit_offset(self, children: Children) -> dict[str, Any]:
        """The clauses together; the place of the first counts."""
        merged: dict[str, Any] = {}
        for part in children:
            merged = part | merged
        return merged

    def limit(self, children: Children) -> dict[str, Any]:
        return {"limit": _count(children[1]), "slice_place": place_of(children[0])}

    def offset(self, children: Children) -> dict[str, Any]:
        return {"offset": _count(children[1]), "slice_place": place_of(children[0])}


class _Output(NamedTuple):
    name: str
    place: Place


_NO_TRIPLES = s.TriplesBlock((), NOWHERE)


def _count(token: Token) -> int:
    """A count as written; beyond what anything here can reach, they are all the same."""
    digits = token.lstrip("0")
    return int(digits or "0") if len(digits) < 18 else 1 << 60


def _without_tokens(children: Children) -> Children:
    return [c for c in children if not isinstance(c, Token)]


def _split_output(children: Children) -> tuple[tuple[str | None, Place | None], Children]:
    return (children[0], children[1:]) if children and isinstance(children[0], _Output) else ((None, None), children)


def _place_up_to(keyword: Token, group: s.GroupGraphPattern) -> Place:
    start = place_of(keyword)
    return Place(start.start, group.place.start, start.line, start.column)
