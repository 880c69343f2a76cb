"""Parts of a plan that are equal are one part, however often the plan names them."""

from __future__ import annotations

import pickle

import pytest

from millstream.language import parse_query
from millstream.plan.nodes import in_order
from millstream.plan.passes import plan_of

PARTS = {
    "optional": "OPTIONAL {{ ?a <urn:p{i}> ?x{i} }}",
    "minus": "MINUS {{ ?a <urn:p{i}> ?x{i} }}",
    "not exists": "FILTER NOT EXISTS {{ ?a <urn:p{i}> ?x{i} }}",
    "union": "{{ ?a <urn:p{i}> ?x{i} }} UNION {{ ?x{i} <urn:p{i}> ?a }}",
}


@pytest.mark.parametrize("part", PARTS)
def test_a_plan_grows_with_the_length_of_its_query_only(part: str) -> None:
    # By value, thirty such parts would be compared 3^30 times.
    text = " ".join(PARTS[part].format(i=i) for i in range(30))
    assert len(in_order(plan_of(parse_query(f"SELECT * {{ ?a <urn:p> ?b {text} }}")))) < 30 * 12


def test_the_same_query_has_the_same_plan() -> None:
    one, other = (plan_of(parse_query("SELECT ?a { ?a ?b ?c OPTIONAL { ?c ?d ?e } }")) for _ in range(2))
    assert one is other
    assert pickle.loads(pickle.dumps(one)) is one
