"""BNODE, UUID, STRUUID and RAND: each call gets what makes its value its own, the query, the call and the solution.

So a value is a function of the solution it stands in: an answer that goes is the one that came. What BIND and SELECT add
to a solution is left out, it follows from the rest: BNODE of one label is the same node in all expressions of a solution.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import count

from pyoxigraph import Literal, Variable

from millstream.language import algebra as a
from millstream.language.scope import in_scope, rewrite

FRESH = {name: f"{name}_OF" for name in ("BNODE", "UUID", "STRUUID", "RAND")}
"""The functions, and what they are called with a seed, a label and the variables of a solution as arguments."""


def with_solutions(query: a.Query) -> a.Query:
    """The query with the arguments that fresh values depend on."""
    written = query.text.upper()
    if not any(name in written for name in FRESH):
        return query
    return replace(query, pattern=_Patterns(query.text).changed(query.pattern))


class _Patterns:
    def __init__(self, text: str) -> None:
        import hashlib  # With OpenSSL, which most queries do without.

        self._seed = hashlib.sha256(text.encode()).hexdigest()[:16]
        self._calls = count(1)

    def changed(self, pattern: a.Pattern) -> a.Pattern:
        match pattern:
            case a.BGP() | a.Path() | a.Values():
                return pattern
            case a.Join(left, right) | a.Union(left, right) | a.Minus(left, right):
                return replace(pattern, left=self.changed(left), right=self.changed(right))
            case a.LeftJoin(left, right, expression):
                variables = (*in_scope(left), *in_scope(right))
                made = None if expression is None else self._expression(expression, variables)
                return replace(pattern, left=self.changed(left), right=self.changed(right), expression=made)
            case a.Filter(expression, inner) | a.Extend(inner, _, expression):
                made = self._expression(expression, _solution(inner))
                return replace(pattern, pattern=self.changed(inner), expression=made)
            case a.Group(inner, keys, aggregates):
                variables = _solution(inner)
                return replace(
                    pattern,
                    pattern=self.changed(inner),
                    keys=tuple((v, self._expression(e, variables)) for v, e in keys),
                    aggregates=tuple((v, self._aggregate(g, variables)) for v, g in aggregates),
                )
            case a.OrderBy(inner, conditions):
                ordered = tuple(replace(c, expression=self._expression(c.expression, _solution(inner))) for c in conditions)
                return replace(pattern, pattern=self.changed(inner), conditions=ordered)
            case _:
                return replace(pattern, pattern=self.changed(pattern.pattern))

    def _aggregate(self, aggregate: a.Aggregate, variables: Iterable[Variable]) -> a.Aggregate:
        operand = aggregate.operand
        return aggregate if operand is None else replace(aggregate, operand=self._expression(operand, variables))

    def _expression(self, expression: a.Expression, variables: Iterable[Variable]) -> a.Expression:
        solution = tuple(dict.fromkeys(variables))

        def change(part: a.Expression) -> a.Expression | None:
            match part:
                case a.Exists(pattern):
                    return replace(part, pattern=self.changed(pattern))
                case a.FunctionCall(str() as name, arguments) if name in FRESH:
                    # Calls with a label share its node, all others have a value each.
                    call = "label" if arguments else str(next(self._calls))
                    label = self._expression(arguments[0], solution) if arguments else Literal("")
                    seed = Literal(f"{self._seed} {call}")
                    return replace(part, function=FRESH[name], arguments=(seed, label, *solution))
            return None

        return rewrite(expression, change)


def _solution(pattern: a.Pattern) -> tuple[Variable, ...]:
    """The variables of a pattern's solutions, without those that BIND or SELECT add last."""
    while isinstance(pattern, a.Extend | a.Filter):
        pattern = pattern.pattern
    return in_scope(pattern)
