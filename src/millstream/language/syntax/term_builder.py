"""Builds terms and expressions of the syntax tree while the parser runs, and what all builders share: places, tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

from pyoxigraph import Literal, NamedNode, Variable

from millstream.errors import Place
from millstream.language.parser.lexer import Token
from millstream.language.syntax import tree as s

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
NOWHERE = Place(0, 0, 1, 1)

_INTEGER, _DECIMAL, _DOUBLE = (NamedNode(XSD + name) for name in ("integer", "decimal", "double"))
_BOOLEAN = NamedNode(XSD + "boolean")
_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}

Children: TypeAlias = list[Any]


def place_of(token: Token, last: Token | Place | None = None) -> Place:
    """The place from a token to the end of another, or of itself."""
    end = token.end_pos if last is None else last.end if isinstance(last, Place) else last.end_pos
    return Place(token.start_pos, end, token.line, token.column)


def unquote(token: Token) -> str:
    quotes = 3 if token.type.startswith("STRING_LITERAL_LONG") else 1
    body = token[quotes:-quotes]
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), body) if "\\" in body else str(body)


def find_keyword(children: Children, *types: str) -> Token | None:
    return next((c for c in children if isinstance(c, Token) and c.type in types), None)


def is_var(child: object) -> bool:
    return isinstance(child, Token) and child.type == "VAR"


def as_variable(child: Any) -> Any:
    return Variable(child[1:]) if is_var(child) else child


def iri_reference(token: Token) -> s.IRIReference:
    return s.IRIReference(str(token[1:-1]), place_of(token))


class TermBuilder:
    """Callbacks for terms and expressions.

    Variables stay tokens until they are used: SELECT and AS need their place, patterns do not.
    """

    # Terms --------------------------------------------------------------------------------------------------------

    def iri(self, children: Children) -> s.IRI:
        (token,) = children
        if token.type == "IRIREF":
            return iri_reference(token)
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

    # Expressions --------------------------------------------------------------------------------------------------

    def conditional_or(self, children: Children) -> s.Operation:
        return _left_to_right("||", children)

    def conditional_and(self, children: Children) -> s.Operation:
        return _left_to_right("&&", children)

    def comparison(self, children: Children) -> s.Operation:
        left, operator, right = children
        return s.Operation(str(operator), (as_variable(left), as_variable(right)))

    def in_(self, children: Children) -> s.Operation:
        operand, *words, choices = children
        return s.Operation(" ".join(words).upper(), (as_variable(operand), *choices))

    def additive(self, children: Children) -> s.Expression:
        result: s.Expression = as_variable(children[0])
        rest = iter(children[1:])
        for child in rest:
            if isinstance(child, _Signed):
                result = s.Operation(child.sign, (result, child.product))
            else:
                result = s.Operation(str(child), (result, as_variable(next(rest))))
        return result

    def signed_product(self, children: Children) -> _Signed:
        """`?a -1*2` reads as ?a - (1*2): the sign belongs to the whole product."""
        literal, *rest = children
        return _Signed(str(literal)[0], _product(_number(literal.type, str(literal)[1:]), rest))

    def multiplicative(self, children: Children) -> s.Expression:
        return _product(as_variable(children[0]), children[1:])

    def not_(self, children: Children) -> s.Operation:
        return s.Operation("!", (as_variable(children[0]),))

    def signed(self, children: Children) -> s.Operation:
        return s.Operation(f"u{children[0]}", (as_variable(children[1]),))

    def built_in_call(self, children: Children) -> s.Call:
        name, arguments = children
        return s.Call(str(name).upper(), tuple(arguments), False, place_of(name))

    def function_call(self, children: Children) -> s.Call:
        iri, (distinct, arguments) = children
        return s.Call(iri, arguments, distinct, iri.place)

    def arg_list(self, children: Children) -> tuple[bool, tuple[s.Expression, ...]]:
        distinct = find_keyword(children, "DISTINCT")
        return distinct is not None, tuple(self.expression_list([c for c in children if c is not distinct]))

    def expression_list(self, children: Children) -> list[s.Expression]:
        return [as_variable(c) for c in children if not (isinstance(c, Token) and c.type == "NIL")]

    def exists(self, children: Children) -> s.ExistsCall:
        *words, group = children
        return s.ExistsCall(group, len(words) == 2, place_of(words[0]))

    def aggregate(self, children: Children) -> s.AggregateCall:
        name, *rest = children
        separator = next((c for c in rest if isinstance(c, _Separator)), None)
        distinct, star = find_keyword(rest, "DISTINCT"), find_keyword(rest, "STAR")
        operands = [c for c in rest if c is not distinct and c is not star and c is not separator]
        return s.AggregateCall(
            str(name).upper(),
            as_variable(operands[0]) if operands else None,
            distinct is not None,
            separator.text if separator else None,
            separator.place if separator else None,
            place_of(name),
        )

    def separator(self, children: Children) -> _Separator:
        return _Separator(unquote(children[-1]), place_of(children[0], children[-1]))


class _Separator(NamedTuple):
    text: str
    place: Place


class _Signed(NamedTuple):
    sign: str
    product: s.Expression


def _number(kind: str, lexical: str) -> Literal:
    datatype = _INTEGER if kind.startswith("INTEGER") else _DECIMAL if kind.startswith("DECIMAL") else _DOUBLE
    return Literal(lexical, datatype=datatype)


def _left_to_right(operator: str, operands: Iterable[Any]) -> s.Operation:
    first, *rest = (as_variable(o) for o in operands)
    for operand in rest:
        first = s.Operation(operator, (first, operand))
    result: s.Operation = first
    return result


def _product(first: s.Expression, rest: Children) -> s.Expression:
    for operator, operand in zip(rest[::2], rest[1::2], strict=True):
        first = s.Operation(str(operator), (first, as_variable(operand)))
    return first
