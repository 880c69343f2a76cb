"""Expressions one fact at a time: what section 17 of the recommendation says of every operator and function."""

import numpy as np
import pytest
from pyoxigraph import Variable

from millstream.errors import UnsupportedQueryError
from millstream.kernels.dictionary import Dictionary
from millstream.language import algebra as a
from millstream.language import parse_query
from millstream.operators.expressions import Evaluator

XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = f"PREFIX xsd: <{XSD}> PREFIX : <http://example/> "


def expression(text):
    pattern = parse_query(f"{PREFIXES}SELECT ({text} AS ?result) {{}}").pattern
    while not isinstance(pattern, a.Extend):
        pattern = pattern.pattern
    return pattern.expression


def value(text, base=None, now_ms=0, **bindings):
    """The value of an expression as SPARQL text, None for an error."""
    dictionary = Dictionary()
    evaluator = Evaluator(dictionary, base=base, now_ms=now_ms)
    columns = {Variable(name): dictionary.encode([term]) for name, term in bindings.items()}
    (found,) = evaluator.compute(expression(text), columns, 1).tolist()
    return None if found < 0 else dictionary.decode_one(found).replace(XSD, "xsd:")


def test_integers_divide_into_a_decimal():
    assert value("1 / 2") == '"0.5"^^<xsd:decimal>'


def test_rand_is_refused():
    with pytest.raises(UnsupportedQueryError, match="RAND"):
        Evaluator(Dictionary()).check(expression("1 + RAND()"))


def test_a_filter_keeps_rows_whose_value_is_true():
    dictionary = Dictionary()
    column = np.append(dictionary.encode([f'"{n}"^^<{XSD}integer>' for n in (79, 80, 81)]), -1)
    found = Evaluator(dictionary).test(expression("?v > 80"), {Variable("v"): column}, 4)
    assert found.tolist() == [False, False, True, False]
