"""What HAVING asks of the keys alone is asked before grouping."""

from __future__ import annotations

from millstream.language import parse_query
from millstream.plan.nodes import Filter, Group, in_order
from millstream.plan.passes import plan_of


def filters_around_the_group(modifiers: str) -> tuple[int, int]:
    """How many filters are below and how many above the group."""
    nodes = in_order(plan_of(parse_query(f"SELECT (COUNT(?x) AS ?n) {{ ?x <urn:p> ?y }} {modifiers}")))
    (place,) = (i for i, node in enumerate(nodes) if isinstance(node, Group))
    filters = [i for i, node in enumerate(nodes) if isinstance(node, Filter)]
    return sum(i < place for i in filters), sum(i > place for i in filters)


def test_a_filter_on_keys_alone_comes_before_the_groups() -> None:
    assert filters_around_the_group("GROUP BY (?y + 1 AS ?k) HAVING (?k > 1 && ?k < 5)") == (2, 0)


def test_a_filter_on_an_aggregate_comes_after_them() -> None:
    assert filters_around_the_group("GROUP BY ?y HAVING (COUNT(?x) > ?y)") == (0, 1)


def test_without_keys_there_is_always_a_group_so_a_filter_comes_after_it() -> None:
    assert filters_around_the_group("HAVING (1 > 2)") == (0, 1)


def test_a_filter_that_reads_nothing_comes_after_the_groups() -> None:
    assert filters_around_the_group("GROUP BY ?y HAVING (1 > 2)") == (0, 1)
