"""Expressions as functions of one solution: the definition that row programs must agree with.

A solution is a sequence of values, one for each variable that may be bound (None: unbound). An error is an
ExpressionError, which `&&`, `||`, IN and COALESCE catch as section 17.2 says and everything else lets through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from pyoxigraph import Literal, NamedNode, Variable

from millstream.language import algebra as a
from millstream.operators.expressions import fresh
from millstream.operators.expressions.bounds import Bounds
from millstream.operators.expressions.functions import arithmetic, clock, strings
from millstream.operators.expressions.functions.casts import CASTS
from millstream.operators.expressions.values.comparison import compare, effective_boolean, equal
from millstream.operators.expressions.values.values import (
    BLANK,
    FALSE,
    IRI,
    TRUE,
    ExpressionError,
    Value,
    boolean,
    read_term,
)

Row: TypeAlias = Sequence[Value | None]
RowFunction: TypeAlias = Callable[[Row], Value]

FUNCTIONS: dict[str, Callable[..., Value]] = {
    "CONTAINS": strings.contains,
    "DATATYPE": strings.datatype,
    "DAY": clock.day,
    "HOURS": clock.hours,
    "ISBLANK": lambda v: boolean(v.space == BLANK),
    "ISIRI": lambda v: boolean(v.space == IRI),
    "ISLITERAL": lambda v: boolean(v.is_literal),
    "ISNUMERIC": lambda v: boolean(v.is_numeric),
    "ISURI": lambda v: boolean(v.space == IRI),
    "LANG": strings.lang,
    "LANGMATCHES": strings.lang_matches,
    "MD5": strings.hash_function("MD5"),
    "MINUTES": clock.minutes,
    "MONTH": clock.month,
    "SAMETERM": lambda left, right: boolean(left.same_term(right)),
    "SECONDS": clock.seconds,
    "SHA1": strings.hash_function("SHA1"),
    "SHA256": strings.hash_function("SHA256"),
    "SHA384": strings.hash_function("SHA384"),
    "SHA512": strings.hash_function("SHA512"),
    "STR": strings.str_,
    "STRAFTER": strings.strafter,
    "STRBEFORE": strings.strbefore,
    "STRENDS": strings.strends,
    "STRLEN": strings.strlen,
    "STRSTARTS": strings.strstarts,
    "SUBSTR": strings.substr,
    "TIMEZONE": clock.timezone,
    "TZ": clock.tz,
    "YEAR": clock.year,
}
"""The functions of their arguments alone; those with rules of their own for errors are below."""

BOUNDED: dict[str, Callable[..., Value]] = {
    "ABS": arithmetic.absolute,
    "CEIL": arithmetic.ceil,
    "CONCAT": strings.concat,
    "ENCODE_FOR_URI": strings.encode_for_uri,
    "FLOOR": arithmetic.floor,
    "LCASE": strings.lcase,
    "REGEX": strings.regex_,
    "REPLACE": strings.replace,
    "ROUND": arithmetic.round_half_up,
    "STRDT": strings.strdt,
    "STRLANG": strings.strlang,
    "UCASE": strings.ucase,
}
"""Those that could make much of little. What they may make comes first."""


class RowCompiler:
    """Compiles expressions for solutions that list the given variables' values."""

    def __init__(self, positions: Mapping[Variable, int], now: Value, base: str | None, bounds: Bounds) -> None:
        self._positions = positions
        self._bounds = bounds
        self._now = now
        self._base = base

    def compile(self, expression: a.Expression) -> RowFunction:
        match expression:
            case Variable():
                return self._variable(expression)
            case NamedNode() | Literal():
                return _constant(read_term(str(expression)))
            case a.And(left, right):
                return _conjunction(self.compile(left), self.compile(right), False)
            case a.Or(left, right):
                return _conjunction(self.compile(left), self.compile(right), True)
            case a.Not(operand):
                return _negation(self.compile(operand))
            case a.Comparison(operator, left, right):
                return _comparison(operator, self.compile(left), self.compile(right))
            case a.Arithmetic(operator, left, right):
                return _applied(
                    partial(arithmetic.calculate, self._bounds, operator), [self.compile(left), self.compile(right)]
                )
            case a.In(operand, choices):
                return _membership(self.compile(operand), [self.compile(c) for c in choices])
            case a.UnaryPlus(operand):
                return _applied(arithmetic.plus, [self.compile(operand)])
            case a.UnaryMinus(operand):
                return _applied(arithmetic.minus, [self.compile(operand)])
            case a.FunctionCall(function, arguments):
                return self._call(function, arguments)
            case _:
                raise TypeError(f"{type(expression).__name__} is refused before it is compiled")

    def _variable(self, variable: Variable) -> RowFunction:
        position = self._positions.get(variable)
        if position is None:
            return _error

        def value_of(row: Row) -> Value:
            value = row[position]
            if value is None:
                raise ExpressionError
            return value

        return value_of

    def _call(self, function: str | NamedNode, arguments: tuple[a.Expression, ...]) -> RowFunction:
        if function == "BOUND":
            (variable,) = arguments
            assert isinstance(variable, Variable)
            position = self._positions.get(variable)
            return lambda row: boolean(position is not None and row[position] is not None)
        if function in fresh.FUNCTIONS:
            return self._fresh(str(function), *arguments)
        compiled = [self.compile(x) for x in arguments]
        if isinstance(function, NamedNode):
            return _applied(CASTS[function.value], compiled)
        base = self._base
        match function:
            case "IF":
                return _choice(*compiled)
            case "COALESCE":
                return _first_without_error(compiled)
            case "NOW":
                return _constant(self._now)
            case "IRI" | "URI":
                return _applied(lambda v: strings.make_iri(v, base), compiled)
            case _ if function in BOUNDED:
                return _applied(partial(BOUNDED[function], self._bounds), compiled)
            case _:
                return _applied(FUNCTIONS[function], compiled)

    def _fresh(self, function: str, seed: a.Expression, label: a.Expression, *variables: a.Expression) -> RowFunction:
        """A function of the whole solution, of what is unbound in it as well."""
        make, first, second = fresh.FUNCTIONS[function], self.compile(seed), self.compile(label)
        positions = [self._positions.get(v) for v in variables if isinstance(v, Variable)]
        return lambda row: make(first(row), second(row), [None if p is None else row[p] for p in positions])


def _error(row: Row) -> Value:
    raise ExpressionError


def _constant(value: Value) -> RowFunction:
    return lambda row: value


def _applied(function: Callable[..., Value], arguments: list[RowFunction]) -> RowFunction:
    match arguments:
        case [one]:
            return lambda row: function(one(row))
        case [one, two]:
            return lambda row: function(one(row), two(row))
        case _:
            return lambda row: function(*[argument(row) for argument in arguments])


def _conjunction(left: RowFunction, right: RowFunction, decisive: bool) -> RowFunction:
    """`&&`, decided by a false operand, or `||`, decided by a true one, whatever the other."""
    decided, undecided = boolean(decisive), boolean(not decisive)

    def function(row: Row) -> Value:
        try:
            if effective_boolean(left(row)) is decisive:
                return decided
        except ExpressionError:
            if effective_boolean(right(row)) is decisive:
                return decided
            raise
        return decided if effective_boolean(right(row)) is decisive else undecided

    return function


def _negation(operand: RowFunction) -> RowFunction:
    return lambda row: FALSE if effective_boolean(operand(row)) else TRUE


def _comparison(operator: str, left: RowFunction, right: RowFunction) -> RowFunction:
    return lambda row: boolean(compare(operator, left(row), right(row)))


def _membership(operand: RowFunction, choices: list[RowFunction]) -> RowFunction:
    """IN: true if equal to any, an error if to none but comparing with some is one."""

    def function(row: Row) -> Value:
        value = operand(row)
        failed = False
        for choice in choices:
            try:
                if equal(value, choice(row)):
                    return TRUE
            except ExpressionError:
                failed = True
        if failed:
            raise ExpressionError
        return FALSE

    return function


def _choice(condition: RowFunction, then: RowFunction, otherwise: RowFunction) -> RowFunction:
    return lambda row: then(row) if effective_boolean(condition(row)) else otherwise(row)


def _first_without_error(choices: list[RowFunction]) -> RowFunction:
    def function(row: Row) -> Value:
        for choice in choices:
            try:
                return choice(row)
            except ExpressionError:
                continue
        raise ExpressionError

    return function
