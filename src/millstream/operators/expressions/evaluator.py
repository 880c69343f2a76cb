"""Evaluation of SPARQL 1.1 expressions over columns of term ids."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from pyoxigraph import Variable

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.language import algebra as a
from millstream.operators.expressions import refusals
from millstream.operators.expressions.batch import TRUE, Batch, Ids
from millstream.operators.expressions.bounds import Bounds
from millstream.operators.expressions.columns import ColumnCompiler, IdFunction, TruthFunction
from millstream.operators.expressions.functions import clock


class Evaluator:
    """Evaluates expressions over the ids of one dictionary.

    An id of -1, or a variable without a column, is unbound. Expressions are compiled when first met. New terms are
    encoded as any caller would: whoever keeps their ids touches or holds them before the dictionary settles.
    """

    def __init__(
        self, dictionary: Dictionary, *, now_ms: int = 0, base: str | None = None, bounds: Bounds | None = None
    ) -> None:
        self._dictionary = dictionary
        self.bounds = bounds or Bounds()
        self._compiler = ColumnCompiler(dictionary, clock.now(now_ms), base, self.bounds)
        # By identity, the expression kept: hashing a tree costs more than filtering a row.
        self._tests: dict[int, tuple[a.Expression, TruthFunction]] = {}
        self._computations: dict[int, tuple[a.Expression, IdFunction]] = {}

    def check(self, expression: a.Expression) -> None:
        """Raises UnsupportedQueryError for the first part that is not evaluated."""
        refusals.check(expression)

    def test(self, expression: a.Expression, columns: Mapping[Variable, Ids], length: int) -> npt.NDArray[np.bool_]:
        """For which rows the effective boolean value is true; an error is not."""
        known = self._tests.get(id(expression))
        if known is None:
            self.check(expression)
            known = self._tests[id(expression)] = (expression, self._compiler.truth(expression))
        truths = known[1](Batch(self._dictionary, columns, length))
        return np.equal(truths, TRUE)

    def compute(self, expression: a.Expression, columns: Mapping[Variable, Ids], length: int) -> Ids:
        """The ids of the expression's values, -1 where it is an error or unbound; for a variable, its column itself."""
        known = self._computations.get(id(expression))
        if known is None:
            self.check(expression)
            known = self._computations[id(expression)] = (expression, self._compiler.ids(expression))
        return np.ascontiguousarray(known[1](Batch(self._dictionary, columns, length)))
