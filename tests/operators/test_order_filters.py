"""Filters that compare two variables: where ids tell, within the join; elsewhere after it; with the same answers."""

from __future__ import annotations

import pytest

from millstream import Engine
from millstream.language import parse_query
from millstream.plan.conjunction import order_test
from millstream.plan.nodes import Solutions
from millstream.plan.passes import plan_of
from tests.engine.notation import NAMESPACE, S

XSD = "http://www.w3.org/2001/XMLSchema#"
QUERY = f"PREFIX : <{NAMESPACE}> SELECT ?x ?y {{ STREAM <{S}> [ALL] {{ :n :p ?x . :n :q ?y }} FILTER(%s) }}"
CONNECTED = f"PREFIX : <{NAMESPACE}> SELECT ?x ?y {{ STREAM <{S}> [ALL] {{ ?n :p ?x . ?n :q ?y }} FILTER(%s) }}"


def found_in(text: str) -> tuple[str, str, str, int] | None:
    plan = plan_of(parse_query(CONNECTED % text))
    assert isinstance(plan, Solutions)
    (expression,) = plan.conjunction.filters
    found = order_test(expression)
    return None if found is None else (found.left.value, found.operator, found.right.value, found.offset)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("?x < ?y", ("x", "<", "y", 0)),
        ("?x >= ?y + 3", ("x", ">=", "y", 3)),
        ("?x - 2 <= ?y + 3", ("x", "<=", "y", 5)),
        ("?x = ?y", ("x", "=", "y", 0)),
        ("?x < 3", None),
        ("?x < ?x + 1", None),
        ("?x < ?y * 2", None),
        ("?x < ?y + 0.5", None),
        (f"?x < ?y + {1 << 60}", None),
    ],
)
def test_comparisons_of_two_variables_are_found(text: str, found: tuple[str, str, str, int] | None) -> None:
    assert found_in(text) == found


@pytest.mark.parametrize("operator", ["<", "<=", "=", "!=", ">=", ">"])
@pytest.mark.parametrize("offset", ["", " + 1"])
def test_answers_are_those_of_every_pair_compared(operator: str, offset: str) -> None:
    values = [
        *(f'"{v}"^^<{XSD}integer>' for v in ("1", "2", "02", "-3")),
        *(f'"{v}"^^<{XSD}decimal>' for v in ("1.0", "1.5", "+2.0")),
        *(f'"{v}"^^<{XSD}double>' for v in ("1.5E0", "NaN")),
        *(f'"2020-01-0{d}T00:00:00{zone}"^^<{XSD}dateTime>' for d in (1, 2) for zone in ("", "Z", "+02:00")),
        f'"true"^^<{XSD}boolean>',
        '"word"',
        f"<{NAMESPACE}thing>",
    ]
    # Compared after the product of two parts, and within the join of one.
    found = []
    for query in (QUERY, CONNECTED):
        engine = Engine()
        answers = engine.register(query % f"?x {operator} ?y{offset}")
        for at_ms, value in enumerate(values):
            engine.push(S, f"<{NAMESPACE}n> <{NAMESPACE}p> {value} .\n<{NAMESPACE}n> <{NAMESPACE}q> {value} .", at_ms=at_ms)
        found.append(sorted(str(sorted(row.items(), key=str)) for row in answers.solutions()))
    assert found[0] == found[1]
    assert found[0]


def test_explain_says_where_a_comparison_is_made() -> None:
    engine = Engine()
    text = engine.register(CONNECTED % "?x < ?y").explain()
    assert "filter ?x < ?y, as soon as both are bound where their ids tell, else after the join" in text
