"""Expressions, paths and terms as SPARQL text, names shortened by the query's prefixes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from millstream.language import algebra as a

_CODED = "%[0-9A-Fa-f]{2}"
_LOCAL = re.compile(rf"(?:[A-Za-z0-9_]|{_CODED})(?:(?:[A-Za-z0-9_.-]|{_CODED})*(?:[A-Za-z0-9_-]|{_CODED}))?")
_XSD = "http://www.w3.org/2001/XMLSchema#"
_RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_BARE = {_XSD + "integer": r"[+-]?[0-9]+", _XSD + "decimal": r"[+-]?[0-9]*\.[0-9]+", _XSD + "boolean": "true|false"}

# Binding strength, loosest first; parentheses go around an operand that binds more loosely than its operator.
_OR, _AND, _COMPARE, _ADD, _MULTIPLY, _UNARY, _ATOM = range(7)
_ALTERNATIVE, _SEQUENCE, _INVERSE, _REPEATED, _PRIMARY = range(5)


class Printer:
    """Prints parts of a query the way a person would write them."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        # The longest namespace first, so that the most specific prefix is used.
        self._prefixes = sorted(prefixes.items(), key=lambda p: -len(p[1]))

    def term(self, term: a.PatternTerm) -> str:
        match term:
            case Variable():
                return f"?{term.value}"
            case NamedNode():
                return self.iri(term)
            case BlankNode():
                # Labels of the text carry the mark of where they stood.
                return f"_:{term.value.removeprefix('b_').removeprefix('t_')}"
            case Literal():
                return self._literal(term)

    def iri(self, iri: NamedNode) -> str:
        for prefix, namespace in self._prefixes:
            if namespace and iri.value.startswith(namespace) and _LOCAL.fullmatch(iri.value[len(namespace) :]):
                return f"{prefix}:{iri.value[len(namespace) :]}"
        return f"<{iri.value}>"

    def triple(self, triple: a.TriplePattern) -> str:
        predicate = "a" if triple.predicate == _RDF_TYPE else self.term(triple.predicate)
        return f"{self.term(triple.subject)} {predicate} {self.term(triple.object)}"

    def path(self, path: a.PropertyPath) -> str:
        return self._path(path)[0]

    def expression(self, expression: a.Expression) -> str:
        return self._expression(expression)[0]

    def _path(self, path: a.PropertyPath) -> tuple[str, int]:
        match path:
            case a.Link(predicate):
                return "a" if predicate == _RDF_TYPE else self.iri(predicate), _PRIMARY
            case a.Inverse(inner):
                return f"^{self._step(inner, _REPEATED)}", _INVERSE
            case a.Sequence(first, second):
                return f"{self._step(first, _SEQUENCE)}/{self._step(second, _INVERSE)}", _SEQUENCE
            case a.Alternative(left, right):
                return f"{self._step(left, _ALTERNATIVE)}|{self._step(right, _SEQUENCE)}", _ALTERNATIVE
            case a.ZeroOrOne(inner):
                return f"{self._step(inner, _PRIMARY)}?", _REPEATED
            case a.ZeroOrMore(inner):
                return f"{self._step(inner, _PRIMARY)}*", _REPEATED
            case a.OneOrMore(inner):
                return f"{self._step(inner, _PRIMARY)}+", _REPEATED
            case a.NegatedPropertySet(predicates):
                return f"!({'|'.join(sorted(self.iri(p) for p in predicates))})", _PRIMARY

    def _step(self, path: a.PropertyPath, at_least: int) -> str:
        text, strength = self._path(path)
        return text if strength >= at_least else f"({text})"

    def _literal(self, literal: Literal) -> str:
        bare = _BARE.get(literal.datatype.value)
        if bare and re.fullmatch(bare, literal.value):
            return literal.value
        if literal.language or literal.datatype.value == _XSD + "string":
            return str(literal)
        return f"{Literal(literal.value)}^^{self.iri(literal.datatype)}"

    def _expression(self, expression: a.Expression) -> tuple[str, int]:
        match expression:
            case a.Or(left, right):
                return f"{self._operand(left, _OR)} || {self._operand(right, _AND)}", _OR
            case a.And(left, right):
                return f"{self._operand(left, _AND)} && {self._operand(right, _COMPARE)}", _AND
            case a.Comparison(operator, left, right):
                return f"{self._operand(left, _ADD)} {operator} {self._operand(right, _ADD)}", _COMPARE
            case a.In(operand, choices):
                inside = ", ".join(self.expression(c) for c in choices)
                return f"{self._operand(operand, _ADD)} IN ({inside})", _COMPARE
            case a.Arithmetic(operator, left, right):
                strength = _ADD if operator in "+-" else _MULTIPLY
                return f"{self._operand(left, strength)} {operator} {self._operand(right, strength + 1)}", strength
            case a.Not(a.In(operand, choices)):
                inside = ", ".join(self.expression(c) for c in choices)
                return f"{self._operand(operand, _ADD)} NOT IN ({inside})", _COMPARE
            case a.Not(a.Exists()):
                return "NOT EXISTS {...}", _ATOM
            case a.Not(operand):
                return f"!{self._operand(operand, _ATOM)}", _UNARY
            case a.UnaryPlus(operand):
                return f"+{self._signed(operand)}", _UNARY
            case a.UnaryMinus(operand):
                return f"-{self._signed(operand)}", _UNARY
            case a.FunctionCall(function, arguments):
                name = function if isinstance(function, str) else self.iri(function)
                return f"{name}({', '.join(self.expression(x) for x in arguments)})", _ATOM
            case a.Aggregate():
                return self.aggregate(expression), _ATOM
            case a.Exists():
                return "EXISTS {...}", _ATOM
            case Variable() | NamedNode() | Literal():
                return self.term(expression), _ATOM

    def aggregate(self, aggregate: a.Aggregate) -> str:
        name = aggregate.function if isinstance(aggregate.function, str) else self.iri(aggregate.function)
        inside = "*" if aggregate.operand is None else self.expression(aggregate.operand)
        distinct = "DISTINCT " if aggregate.distinct else ""
        separator = "" if aggregate.separator is None else f"; SEPARATOR={Literal(aggregate.separator)}"
        return f"{name}({distinct}{inside}{separator})"

    def _operand(self, expression: a.Expression, at_least: int) -> str:
        text, strength = self._expression(expression)
        return text if strength >= at_least else f"({text})"

    def _signed(self, expression: a.Expression) -> str:
        """The operand of a sign; a number keeps apart from it, or the sign would become its own."""
        text = self._operand(expression, _ATOM)
        return f"({text})" if isinstance(expression, Literal) else text
