"""Tests of one column's texts against constants: REGEX, CONTAINS, STRSTARTS and STRENDS of `?v` or `STR(?v)`.

They are what filters on strings are mostly made of, and need the text of a term alone, not its value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from pyoxigraph import Literal, Variable

from millstream.kernels.dictionary.kinds import Kind
from millstream.kernels.emission.terms import lexical_of
from millstream.language import algebra as a
from millstream.operators.expressions.batch import ERROR, Batch, Ids, Truths, distinct
from millstream.operators.expressions.bounds import Bounds
from millstream.operators.expressions.comparing import KIND_SHIFT
from millstream.operators.expressions.values.values import XSD, ExpressionError


@dataclass(frozen=True, slots=True)
class TextTest:
    """`passing` is asked of the distinct texts of `variable`; with `through_str` IRIs and all literals have one."""

    variable: Variable
    through_str: bool
    passing: Callable[[list[str]], list[bool | None]]
    """Whether texts pass; None for an error."""

    def truth(self, batch: Batch) -> Truths:
        ids, place = distinct(batch.column(self.variable))
        kinds = ids >> KIND_SHIFT
        with_text = (kinds == Kind.STRING) | (kinds == Kind.LANGUAGE)
        if self.through_str:
            with_text = (ids >= 0) & (kinds != Kind.BLANK)
        truths = np.full(len(ids), ERROR, np.uint8)
        truths[with_text] = self._tested(batch, ids[with_text])
        tested: Truths = truths[place]
        return tested

    def _tested(self, batch: Batch, ids: Ids) -> list[int]:
        texts = [lexical_of(text) for text in batch.dictionary.texts(ids) if text is not None]
        return [ERROR if passes is None else passes for passes in self.passing(texts)]


def text_test(expression: a.Expression, bounds: Bounds) -> TextTest | None:
    """The expression as a test of texts, if it is one."""
    match expression:
        case a.FunctionCall(str() as function, (operand, *constants)) if function in _TESTS:
            texts = [c.value for c in constants if isinstance(c, Literal) and c.datatype.value == XSD + "string"]
            variable = operand.arguments[0] if _is_str(operand) else operand
            if len(texts) != len(constants) or not isinstance(variable, Variable):
                return None
            try:
                return TextTest(variable, _is_str(operand), _TESTS[function](bounds, *texts))
            except ExpressionError:  # a pattern that is none fails for every row
                return None
        case _:
            return None


def _is_str(expression: a.Expression) -> TypeGuard[a.FunctionCall]:
    return isinstance(expression, a.FunctionCall) and expression.function == "STR"


def _regex(bounds: Bounds, pattern: str, flags: str = "") -> Callable[[list[str]], list[bool | None]]:
    from millstream.operators.expressions.regex import regex  # With RE2, which most queries do without.

    matches_of = regex.compiled(pattern, flags).matches_of
    return lambda texts: matches_of(texts, bounds)


_TESTS: dict[str, Callable[..., Callable[[list[str]], list[bool | None]]]] = {
    "REGEX": _regex,
    "CONTAINS": lambda _, part: lambda texts: [part in text for text in texts],
    "STRSTARTS": lambda _, part: lambda texts: [text.startswith(part) for text in texts],
    "STRENDS": lambda _, part: lambda texts: [text.endswith(part) for text in texts],
}
