"""Builds the syntax tree while lark parses: one method a grammar rule, no state, so that parses may run in parallel.

Punctuation and keywords whose terminals begin with an underscore never reach these methods; what does is kept for its
place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from lark import Token, Transformer
from pyoxigraph import Literal, NamedNode, Variable

from millstream.errors import Place
from millstream.language import syntax as s

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

_INTEGER, _DECIMAL, _DOUBLE = (NamedNode(XSD + name) for name in ("integer", "decimal", "double"))
_BOOLEAN = NamedNode(XSD + "boolean")
_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}

Children: TypeAlias = list[Any]
Node: TypeAlias = tuple[s.Term, tuple[s.Triple, ...]]
"""A node of a triple with the triples that its brackets or parentheses bring along."""


def place_of(token: Token, last: Token | Place | None = None) -> Place:
    """The place from a token to the end of another, or of itself."""
    end: int | None
    if last is None:
        end = token.end_pos
    elif isinstance(last, Place):
        end = last.end
    else:
        end = last.end_pos
    assert token.start_pos is not None
    assert token.line is not None
    assert token.column is not None
    assert end is not None
    return Place(token.start_pos, end, token.line, token.column)


def unquote(token: Token) -> str:
    quotes = 3 if token.type.startswith("STRING_LITERAL_LONG") else 1
    body = token[quotes:-quotes]
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), body) if "\\" in body else str(body)


def _keyword(children: Children, *types: str) -> Token | None:
    return next((c for c in children if isinstance(c, Token) and c.type in types), None)


class SyntaxBuilder(Transformer[Token, s.QueryUnit]):
    """Callbacks for the parser; each gets the children of its rule."""

    # Query forms --------------------------------------------------------------------------------------------------

    def query_unit(self, children: Children) -> s.QueryUnit:
        prologue, *register, query, values = children
        return s.QueryUnit(prologue, register[0] if register else None, query, values)

    def prologue(self, children: Children) -> s.Prologue:
        return tuple(children)

    def base_decl(self, children: Children) -> s.BaseDeclaration:
        return s.BaseDeclaration(_iri_reference(children[0]))

    def prefix_decl(self, children: Children) -> s.PrefixDeclaration:
        return s.PrefixDeclaration(children[0][:-1], _iri_reference(children[1]))

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
            distinct=_keyword(children, "DISTINCT") is not None,
            reduced=_keyword(children, "REDUCED") is not None,
            output=output.name if output else None,
            output_place=output.place if output else None,
            place=place_of(children[0]),
        )

    def select_item(self, children: Children) -> s.SelectItem:
        (variable,) = children
        return s.SelectItem(Variable(variable[1:]), None, True, place_of(variable))

    def select_expression(self, children: Children) -> s.SelectItem:
        expression, _as, variable = children
        return s.SelectItem(Variable(variable[1:]), _variable(expression), True, place_of(variable))

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

    def triples_template(self, children: Children) -> s.TriplesBlock:
        block: s.TriplesBlock = children[0]
        return block

    def describe_query(self, children: Children) -> s.DescribeQuery:
        keyword, *rest, modifier = children
        dataset = tuple(c for c in rest if isinstance(c, s.FromClause | s.FromStream))
        where = next((c for c in rest if isinstance(c, s.GroupGraphPattern)), None)
        resources = tuple(_variable(c) for c in rest if _is_var(c) or isinstance(c, s.IRI))
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
        return _Output(children[0])

    def window(self, children: Children) -> s.WindowClause:
        bracket, clause, closing = children
        return s.WindowClause(**clause, place=place_of(bracket, closing))

    def window_range(self, children: Children) -> dict[str, Any]:
        _range, length, *grid = children
        clause = {"kind": "RANGE", "range": length}
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
        grid = _keyword(children, "SLIDE", "STEP")
        nows = sum(isinstance(c, Token) and c.type == "NOW" for c in children)
        return {
            "kind": "PAST",
            "range": durations[0],
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
        return s.StreamGraphPattern(_variable(stream), window, group, place)

    def window_graph_pattern(self, children: Children) -> s.WindowGraphPattern:
        keyword, name, group = children
        return s.WindowGraphPattern(_variable(name), group, _place_up_to(keyword, group))

    # Solution modifiers -------------------------------------------------------------------------------------------

    def where_clause(self, children: Children) -> s.GroupGraphPattern:
        group: s.GroupGraphPattern = children[0]
        return group

    def solution_modifier(self, children: Children) -> s.SolutionModifier:
        merged: dict[str, Any] = {}
        for part in children:
            merged |= part
        return s.SolutionModifier(**merged)

    def group_clause(self, children: Children) -> dict[str, Any]:
        return {"group_by": tuple(children)}

    def group_condition(self, children: Children) -> s.GroupCondition:
        expression, *alias = children
        if alias:
            return s.GroupCondition(_variable(expression), Variable(alias[1][1:]), place_of(alias[1]))
        if _is_var(expression):
            return s.GroupCondition(Variable(expression[1:]), None, place_of(expression))
        return s.GroupCondition(expression, None, getattr(expression, "place", _NOWHERE))

    def having_clause(self, children: Children) -> dict[str, Any]:
        keyword, *constraints = children
        return {"having": tuple(_variable(c) for c in constraints), "having_place": place_of(keyword)}

    def order_clause(self, children: Children) -> dict[str, Any]:
        return {"order_by": tuple(children)}

    def order_directed(self, children: Children) -> s.OrderCondition:
        return s.OrderCondition(_variable(children[1]), children[0].type == "DESC")

    def order_by(self, children: Children) -> s.OrderCondition:
        return s.OrderCondition(_variable(children[0]), descending=False)

    def limit_offset(self, children: Children) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for part in children:
            merged = part | merged
        return merged

    def limit(self, children: Children) -> dict[str, Any]:
        return {"limit": _count(children[1]), "slice_place": place_of(children[0])}

    def offset(self, children: Children) -> dict[str, Any]:
        return {"offset": _count(children[1]), "slice_place": place_of(children[0])}

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
        return s.GraphPattern(_variable(name), group, place_of(keyword, group.place))

    def service(self, children: Children) -> s.ServicePattern:
        keyword, *silent, name, group = children
        return s.ServicePattern(_variable(name), group, bool(silent), place_of(keyword, group.place))

    def filter(self, children: Children) -> s.FilterElement:
        return s.FilterElement(_variable(children[0]))

    def bind(self, children: Children) -> s.BindElement:
        _bind, expression, _as, variable = children
        return s.BindElement(_variable(expression), Variable(variable[1:]), place_of(variable))

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
        variables = tuple(Variable(c[1:]) for c in children if _is_var(c))
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
        return [(_variable(verb), objects) for verb, objects in zip(pairs[::2], pairs[1::2], strict=True)]

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

    # Expressions --------------------------------------------------------------------------------------------------

    def conditional_or(self, children: Children) -> s.Operation:
        return _left_to_right("||", children)

    def conditional_and(self, children: Children) -> s.Operation:
        return _left_to_right("&&", children)

    def comparison(self, children: Children) -> s.Operation:
        left, operator, right = children
        return s.Operation(str(operator), (_variable(left), _variable(right)))

    def in_(self, children: Children) -> s.Operation:
        operand, _in, choices = children
        return s.Operation("IN", (_variable(operand), *choices))

    def not_in(self, children: Children) -> s.Operation:
        operand, _not, _in, choices = children
        return s.Operation("NOT IN", (_variable(operand), *choices))

    def additive(self, children: Children) -> s.Expression:
        result: s.Expression = _variable(children[0])
        rest = iter(children[1:])
        for child in rest:
            if isinstance(child, _Signed):
                result = s.Operation(child.sign, (result, child.product))
            else:
                result = s.Operation(str(child), (result, _variable(next(rest))))
        return result

    def signed_product(self, children: Children) -> _Signed:
        """`?a -1*2` reads as ?a - (1*2): the sign belongs to the whole product."""
        literal, *rest = children
        return _Signed(str(literal)[0], _product(_number(literal.type, str(literal)[1:]), rest))

    def signed_literal(self, children: Children) -> Token:
        token: Token = children[0]
        return token

    def multiplicative(self, children: Children) -> s.Expression:
        return _product(_variable(children[0]), children[1:])

    def not_(self, children: Children) -> s.Operation:
        return s.Operation("!", (_variable(children[0]),))

    def positive(self, children: Children) -> s.Operation:
        return s.Operation("u+", (_variable(children[1]),))

    def negative(self, children: Children) -> s.Operation:
        return s.Operation("u-", (_variable(children[1]),))

    def built_in_call(self, children: Children) -> s.Call:
        name, arguments = children
        return s.Call(str(name).upper(), tuple(arguments), False, place_of(name))

    def function_call(self, children: Children) -> s.Call:
        iri, (distinct, arguments) = children
        return s.Call(iri, arguments, distinct, iri.place)

    def arg_list(self, children: Children) -> tuple[bool, tuple[s.Expression, ...]]:
        distinct = _keyword(children, "DISTINCT") is not None
        return distinct, tuple(self.expression_list([c for c in children if c is not _keyword(children, "DISTINCT")]))

    def expression_list(self, children: Children) -> list[s.Expression]:
        return [_variable(c) for c in children if not (isinstance(c, Token) and c.type == "NIL")]

    def exists(self, children: Children) -> s.ExistsCall:
        return s.ExistsCall(children[1], False, place_of(children[0]))

    def not_exists(self, children: Children) -> s.ExistsCall:
        return s.ExistsCall(children[2], True, place_of(children[0]))

    def aggregate(self, children: Children) -> s.AggregateCall:
        name, *rest = children
        separator = next((c for c in rest if isinstance(c, _Separator)), None)
        operands = [c for c in rest if not isinstance(c, _Separator) and c is not _keyword(rest, "DISTINCT", "STAR")]
        return s.AggregateCall(
            str(name).upper(),
            _variable(operands[0]) if operands else None,
            _keyword(rest, "DISTINCT") is not None,
            separator.text if separator else None,
            separator.place if separator else None,
            place_of(name),
        )

    def separator(self, children: Children) -> _Separator:
        return _Separator(unquote(children[-1]), place_of(children[0], children[-1]))

    # Terms --------------------------------------------------------------------------------------------------------

    def var(self, children: Children) -> Token:
        """Variables stay tokens until used: SELECT and AS need their place, patterns do not."""
        token: Token = children[0]
        return token

    def iri(self, children: Children) -> s.IRI:
        (token,) = children
        if token.type == "IRIREF":
            return _iri_reference(token)
        prefix, _, local = token.partition(":")
        return s.PrefixedName(prefix, re.sub(r"\\(.)", r"\1", local), place_of(token))

    def blank_node(self, children: Children) -> s.BlankNodeLabel:
        (token,) = children
        place = place_of(token)
        return s.BlankNodeLabel(str(token) if token.type == "BLANK_NODE_LABEL" else f"[{place.start}", place)

    def nil(self, children: Children) -> s.IRIReference:
        return s.IRIReference(RDF + "nil", place_of(children[0]))

    def rdf_literal(self, children: Children) -> Literal | s.TypedLiteral | s.TaggedLiteral:
        text, *suffix = children
        value = unquote(text)
        match suffix:
            case []:
                return Literal(value)
            case [Token() as tag]:
                return s.TaggedLiteral(value, str(tag[1:]), place_of(tag))
            case _:
                return s.TypedLiteral(value, suffix[0])

    def numeric_literal(self, children: Children) -> Literal:
        return _number(children[0].type, str(children[0]))

    def boolean_literal(self, children: Children) -> Literal:
        return Literal(children[0].lower(), datatype=_BOOLEAN)


class _Output:
    __slots__ = ("name", "place")

    def __init__(self, token: Token) -> None:
        self.name = token.upper()
        self.place = place_of(token)


class _Separator:
    __slots__ = ("place", "text")

    def __init__(self, text: str, place: Place) -> None:
        self.text = text
        self.place = place


class _Signed:
    __slots__ = ("product", "sign")

    def __init__(self, sign: str, product: s.Expression) -> None:
        self.sign = sign
        self.product = product


class _Bracketed:
    """`[...]` or `(...)` as a node, with the triples inside."""

    __slots__ = ("node", "place", "triples")

    def __init__(self, node: s.Term, triples: tuple[s.Triple, ...], place: Place) -> None:
        self.node = node
        self.triples = triples
        self.place = place


_NOWHERE = Place(0, 0, 1, 1)
_NO_TRIPLES = s.TriplesBlock((), _NOWHERE)


def _is_var(child: object) -> bool:
    return isinstance(child, Token) and child.type == "VAR"


def _variable(child: Any) -> Any:
    return Variable(child[1:]) if _is_var(child) else child


def _without_tokens(children: Children) -> Children:
    return [c for c in children if not isinstance(c, Token)]


def _split_output(children: Children) -> tuple[tuple[str | None, Place | None], Children]:
    if children and isinstance(children[0], _Output):
        return (children[0].name, children[0].place), children[1:]
    return (None, None), children


def _place_up_to(keyword: Token, group: s.GroupGraphPattern) -> Place:
    start = place_of(keyword)
    return Place(start.start, group.place.start, start.line, start.column)


def _iri_reference(token: Token) -> s.IRIReference:
    return s.IRIReference(str(token[1:-1]), place_of(token))


def _count(token: Token) -> int:
    """A count as written; beyond what anything here can reach, they are all the same."""
    digits = token.lstrip("0")
    return int(digits or "0") if len(digits) < 18 else 1 << 60


def _number(kind: str, lexical: str) -> Literal:
    datatype = _INTEGER if kind.startswith("INTEGER") else _DECIMAL if kind.startswith("DECIMAL") else _DOUBLE
    return Literal(lexical, datatype=datatype)


def _left_to_right(operator: str, operands: Iterable[Any]) -> s.Operation:
    first, *rest = (_variable(o) for o in operands)
    for operand in rest:
        first = s.Operation(operator, (first, operand))
    result: s.Operation = first
    return result


def _product(first: s.Expression, rest: Children) -> s.Expression:
    for operator, operand in zip(rest[::2], rest[1::2], strict=True):
        first = s.Operation(str(operator), (first, _variable(operand)))
    return first


def _node(child: Any) -> Node:
    return (child.node, child.triples) if isinstance(child, _Bracketed) else (_variable(child), ())


def _node_place(child: Any) -> Place:
    return place_of(child) if isinstance(child, Token) else getattr(child, "place", _NOWHERE)


def _with_subject(subject: s.Term, properties: list[tuple[Any, list[Node]]]) -> tuple[s.Triple, ...]:
    triples: list[s.Triple] = []
    for verb, objects in properties:
        for node, extra in objects:
            triples.append(s.Triple(subject, verb, node))
            triples.extend(extra)
    return tuple(triples)
