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
from millstream.language.scope import in_scope, rebuilt, rewrite

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
        return rebuilt(pattern, self.changed, lambda expression: self._expression(expression, _read_by(pattern)))

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


def _read_by(pattern: a.Pattern) -> tuple[Variable, ...]:
    """The variables of the solutions that a pattern's own expressions read."""
    if isinstance(pattern, a.LeftJoin):
        return (*in_scope(pattern.left), *in_scope(pattern.right))
    return _solution(pattern.pattern) if isinstance(pattern, a.Around) else ()


def _solution(pattern: a.Pattern) -> tuple[Variable, ...]:
    """The variables of a pattern's solutions, without those that BIND or SELECT add last."""
    while isinstance(pattern, a.Extend | a.Filter):
        pattern = pattern.pattern
    return in_scope(pattern)
