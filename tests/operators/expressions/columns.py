"""Single expressions run as programs over columns of ids, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pyoxigraph import Variable

from millstream.language import algebra as a
from millstream.operators.expressions import Evaluator


def _run(evaluator: Evaluator, writer: Any, columns: Mapping[Variable, Any], length: int, *outputs: Variable) -> Any:
    given = np.empty((length, len(columns)), np.int64)
    for i, column in enumerate(columns.values()):
        given[:, i] = column
    return writer.program(outputs).run(given)


def compute(evaluator: Evaluator, expression: a.Expression, columns: Mapping[Variable, Any], length: int) -> Any:
    """The ids of the expression's values, -1 for an error."""
    evaluator.check(expression)
    writer, result = evaluator.writer(list(columns)), Variable("result_of_a_test")
    writer.compute(result, expression)
    found, places = _run(evaluator, writer, columns, length, result)
    assert len(places) == length
    return np.ascontiguousarray(found[:, 0])


def passing(evaluator: Evaluator, expression: a.Expression, columns: Mapping[Variable, Any], length: int) -> Any:
    """For which rows the expression's effective boolean value is true."""
    evaluator.check(expression)
    writer = evaluator.writer(list(columns))
    writer.test(expression)
    _, places = _run(evaluator, writer, columns, length)
    passed = np.zeros(length, np.bool_)
    passed[places] = True
    return passed
