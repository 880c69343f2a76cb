"""Total orders of terms, against the operator `<` and the reference's term order."""

from itertools import product

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse

from millstream.operators.expressions import comparison
from millstream.operators.expressions.ordering import term_key, value_key
from millstream.operators.expressions.values import XSD, ExpressionError, read_term
from tests.reference import term_key as reference_key

NUMBERS = ["1", "01", "-1", "0", "9", "10", "9007199254740993", "9007199254740992"]
TERMS = [f'"{n}"^^<{XSD}integer>' for n in NUMBERS]
TERMS += [f'"{n}"^^<{XSD}decimal>' for n in ("1.0", "1", "0.1", "-0.5", "9007199254740992.5")]
TERMS += [f'"{n}"^^<{XSD}{t}>' for n in ("1", "0.1", "1e0", "-0.0", "INF", "-INF", "1E30") for t in ("float", "double")]
TERMS += ["<http://x/a>", "<http://x/b>", "_:b", '"a"', '"b"', '"\\u00e9"', '"a"@en', '"a"@fr', '"x"^^<http://x/t>']
TERMS += [f'"{b}"^^<{XSD}boolean>' for b in ("true", "false", "1", "0")]
TERMS += [f'"2020-01-0{day}{zone}"^^<{XSD}date>' for day in (1, 2) for zone in ("", "Z", "+14:00", "-14:00")]
TERMS += [f'"2020-01-01T{hour}:00:00{zone}"^^<{XSD}dateTime>' for hour in ("00", "13", "23") for zone in ("", "Z", "+05:00")]
TERMS += [f'"{d}"^^<{XSD}duration>' for d in ("P1D", "PT24H", "PT5H", "P1M", "P30D", "P31D", "P1Y", "P365D", "-P1D", "P27D")]
TERMS += [f'"x"^^<{XSD}integer>', f'"2020"^^<{XSD}gYear>', f'"10:00:00Z"^^<{XSD}time>']


@pytest.mark.parametrize("key", [term_key, value_key])
def test_different_terms_have_different_places(key):
    keys = [key(read_term(term)) for term in TERMS]
    assert all((keys[i] < keys[j]) != (keys[j] < keys[i]) for i in range(len(keys)) for j in range(i))


@pytest.mark.parametrize("key", [term_key, value_key])
def test_an_order_is_transitive(key):
    ordered = sorted(key(read_term(term)) for term in TERMS)
    assert all(ordered[i] < ordered[j] for j in range(len(ordered)) for i in range(j))


def test_value_order_says_what_less_than_says():
    for left, right in product(map(read_term, TERMS), repeat=2):
        try:
            order = comparison.order(left, right)
        except ExpressionError:
            continue
        if order is not None and order:
            assert (value_key(left) < value_key(right)) == (order < 0), (left, right)


def test_nan_is_the_greatest_number():
    nan = read_term(f'"NaN"^^<{XSD}double>')
    for term in map(read_term, TERMS):
        assert (value_key(term) < value_key(nan)) == (term_key(term) < term_key(nan))
        if term.is_numeric:
            assert value_key(term) < value_key(nan)


def term_of(text: str) -> NamedNode | BlankNode | Literal:
    if text[0] == "_":
        return BlankNode(text[2:])
    (quad,) = parse(f"<s:> <p:> {text} .", RdfFormat.N_TRIPLES)
    return quad.object


def test_term_order_is_that_of_the_reference():
    assert sorted(TERMS, key=lambda t: term_key(read_term(t))) == sorted(TERMS, key=lambda t: reference_key(term_of(t)))
