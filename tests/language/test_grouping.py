"""GROUP BY, HAVING, aggregates and aliases: sections 11 and 18.2.4 of the recommendation, and what papers write."""

from __future__ import annotations

import pytest

from millstream.errors import QuerySyntaxError
from tests.language.algebra_text import parse, written


def select(text: str) -> str:
    return written(parse(f"SELECT {text}").pattern)


P = "{ ?x :p ?y }"
BGP = "BGP(?x :p ?y)"


# The recommendation ---------------------------------------------------------------------------------------------------


def test_an_aggregate_is_computed_in_the_group_and_named_after_it() -> None:
    assert select(f"?x (SUM(?y) AS ?s) {P} GROUP BY ?x") == (
        f"Project(Extend(Group(?x; ?agg1 = SUM(?y); {BGP}), ?s, ?agg1); ?x ?s)"
    )


def test_an_aggregate_without_group_by_makes_one_group_of_all() -> None:
    assert select(f"(COUNT(*) AS ?n) {P}") == f"Project(Extend(Group(?agg1 = COUNT(*); {BGP}), ?n, ?agg1); ?n)"


def test_equal_aggregates_are_computed_once() -> None:
    assert select(f"?x (SUM(?y) AS ?s) (SUM(?y)/COUNT(?y) AS ?m) {P} GROUP BY ?x HAVING(SUM(?y) > 1)") == (
        f"Project(Extend(Extend(Filter(?agg1 > 1, Group(?x; ?agg1 = SUM(?y), ?agg2 = COUNT(?y); {BGP})), "
        "?s, ?agg1), ?m, ?agg1 / ?agg2); ?x ?s ?m)"
    )


def test_a_distinct_aggregate_is_another_aggregate() -> None:
    assert "?agg1 = COUNT(?y), ?agg2 = COUNT(DISTINCT ?y)" in select(f"(COUNT(?y) AS ?a) (COUNT(DISTINCT ?y) AS ?b) {P}")


def test_whole_solutions_are_counted_distinct() -> None:
    assert "?agg1 = COUNT(DISTINCT *)" in select(f"(COUNT(DISTINCT *) AS ?n) {P}")


@pytest.mark.parametrize("name", ["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT", "MEDIAN"])
def test_every_aggregate_is_known_in_any_case(name: str) -> None:
    assert f"?agg1 = {name}(?y)" in select(f"({name.lower()}(?y) AS ?a) {P}")
    assert f"?agg1 = {name}(DISTINCT ?y)" in select(f"({name.title()}(distinct ?y) AS ?a) {P}")


def test_group_concat_takes_a_separator() -> None:
    assert '?agg1 = GROUP_CONCAT(?y; SEPARATOR=", ")' in select(f'(GROUP_CONCAT(?y ; separator = ", ") AS ?a) {P}')


def test_a_key_may_be_an_expression_with_or_without_a_name() -> None:
    assert select(f"?k (COUNT(*) AS ?n) {P} GROUP BY (?y + 1 AS ?k) STR(?x)") == (
        f"Project(Extend(Group(?k = ?y + 1, ?key1 = STR(?x); ?agg1 = COUNT(*); {BGP}), ?n, ?agg1); ?k ?n)"
    )


def test_having_filters_the_groups() -> None:
    assert select(f"?x {P} GROUP BY ?x HAVING (COUNT(?y) > 1) (?x != :a)") == (
        f"Project(Filter(?agg1 > 1 && ?x != :a, Group(?x; ?agg1 = COUNT(?y); {BGP})); ?x)"
    )


def test_having_with_an_aggregate_makes_one_group_of_all() -> None:
    assert select(f"(1 AS ?one) {P} HAVING (COUNT(*) > 1)") == (
        f"Project(Extend(Filter(?agg1 > 1, Group(?agg1 = COUNT(*); {BGP})), ?one, 1); ?one)"
    )


def test_having_without_groups_is_a_filter() -> None:
    assert select(f"?x {P} HAVING (?y > 1)") == f"Project(Filter(?y > 1, {BGP}); ?x)"


def test_groups_are_ordered_by_aggregates_keys_and_aliases() -> None:
    assert select(f"?x (COUNT(*) AS ?n) {P} GROUP BY ?x ORDER BY DESC(AVG(?y)) ?n ?x") == (
        f"Project(OrderBy(Extend(Group(?x; ?agg1 = COUNT(*), ?agg2 = AVG(?y); {BGP}), ?n, ?agg1); "
        "DESC ?agg2, ?n, ?x); ?x ?n)"
    )


def test_an_aggregate_in_order_by_alone_makes_one_group_of_all() -> None:
    assert select(f"(1 AS ?one) {P} ORDER BY COUNT(?x)") == (
        f"Project(OrderBy(Extend(Group(?agg1 = COUNT(?x); {BGP}), ?one, 1); ?agg1); ?one)"
    )


def test_a_variable_that_is_not_grouped_by_stands_for_any_of_its_values_in_having_and_order_by() -> None:
    assert select(f"?x {P} GROUP BY ?x HAVING (?y > 1) ORDER BY ?y") == (
        f"Project(OrderBy(Filter(?agg1 > 1, Group(?x; ?agg1 = SAMPLE(?y); {BGP})); ?agg1); ?x)"
    )


def test_taking_any_value_is_warned_of() -> None:
    query = parse(f"SELECT ?x {P} GROUP BY ?x HAVING (?y > 1)")
    (warning,) = query.warnings
    assert str(warning) == (
        "line 2, column 36: ?y is neither in GROUP BY nor inside an aggregate; any one of its values is taken. "
        "Write: SAMPLE(?y)"
    )


def test_later_expressions_may_use_earlier_aliases() -> None:
    assert select(f"(COUNT(*) AS ?n) (?n * 2 AS ?m) {P}") == (
        f"Project(Extend(Extend(Group(?agg1 = COUNT(*); {BGP}), ?n, ?agg1), ?m, ?n * 2); ?n ?m)"
    )


def test_a_sub_select_groups_for_itself() -> None:
    assert select("(MAX(?n) AS ?m) { { SELECT ?x (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x } }") == (
        f"Project(Extend(Group(?agg2 = MAX(?n); Project(Extend(Group(?x; ?agg1 = COUNT(*); {BGP}), "
        "?n, ?agg1); ?x ?n)), ?m, ?agg2); ?m)"
    )


@pytest.mark.parametrize("form", ["CONSTRUCT { ?x :n ?k }", "ASK", "DESCRIBE ?x"])
def test_the_other_forms_group_as_well_and_see_the_keys(form: str) -> None:
    query = parse(f"{form} {P} GROUP BY ?x (?y + 1 AS ?k) HAVING (COUNT(*) > 1) ORDER BY SUM(?y) LIMIT 2")
    assert written(query.pattern) == (
        "Slice(Project(OrderBy(Filter(?agg1 > 1, "
        f"Group(?x, ?k = ?y + 1; ?agg1 = COUNT(*), ?agg2 = SUM(?y); {BGP})); ?agg2); ?x ?k); 0, 2)"
    )


def test_a_construct_ordered_by_an_aggregate_is_one_group() -> None:
    query = parse(f"CONSTRUCT {{ :a :b :c }} {P} ORDER BY COUNT(?x)")
    assert written(query.pattern) == f"Project(OrderBy(Group(?agg1 = COUNT(?x); {BGP}); ?agg1); )"


# What papers write ----------------------------------------------------------------------------------------------------

LENIENT = {
    "group by an alias": (
        f"(?y + 1 AS ?k) (COUNT(*) AS ?n) {P} GROUP BY ?k",
        f"?k (COUNT(*) AS ?n) {P} GROUP BY (?y + 1 AS ?k)",
    ),
    "group by an alias of an alias": (
        "(?j * 2 AS ?k) { ?x :p ?y BIND(?y + 1 AS ?j) } GROUP BY ?k",
        "?k { ?x :p ?y BIND(?y + 1 AS ?j) } GROUP BY (?j * 2 AS ?k)",
    ),
    "group by an alias that uses another": (
        f"(?y + 1 AS ?j) (?j * 2 AS ?k) {P} GROUP BY ?j ?k",
        f"?j ?k {P} GROUP BY (?y + 1 AS ?j) ((?y + 1) * 2 AS ?k)",
    ),
    "having of an alias": (
        f"?x (COUNT(?y) AS ?n) {P} GROUP BY ?x HAVING (?n > 1)",
        f"?x (COUNT(?y) AS ?n) {P} GROUP BY ?x HAVING (COUNT(?y) > 1)",
    ),
    "having of an alias of an alias": (
        f"?x (COUNT(?y) AS ?n) (?n * 2 AS ?m) {P} GROUP BY ?x HAVING (?m > 1)",
        f"?x (COUNT(?y) AS ?n) (?n * 2 AS ?m) {P} GROUP BY ?x HAVING (COUNT(?y) * 2 > 1)",
    ),
    "having of an alias without groups": (
        f"(?y + 1 AS ?k) {P} HAVING (?k > 1)",
        f"(?y + 1 AS ?k) {P} HAVING (?y + 1 > 1)",
    ),
    "an aggregate of an alias in having": (
        f"(?y + 1 AS ?k) {P} GROUP BY ?y HAVING (SUM(?k) > 1)",
        f"(?y + 1 AS ?k) {P} GROUP BY ?y HAVING (SUM(?y + 1) > 1)",
    ),
    "an expression without parentheses": (
        f"?x count(?y) as ?n STR(?x) AS ?t {P} GROUP BY ?x",
        f"?x (COUNT(?y) AS ?n) (STR(?x) AS ?t) {P} GROUP BY ?x",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lenient", "legal"), LENIENT.values(), ids=LENIENT)
def test_a_lenient_form_is_its_legal_form(lenient: str, legal: str) -> None:
    assert parse(f"SELECT {lenient}") == parse(f"SELECT {legal}")


@pytest.mark.parametrize(("lenient", "legal"), LENIENT.values(), ids=LENIENT)
def test_a_lenient_form_is_warned_of_and_its_legal_form_is_not(lenient: str, legal: str) -> None:
    warnings = parse(f"SELECT {lenient}").warnings
    assert warnings
    assert all(w.legal and w.place for w in warnings)
    assert parse(f"SELECT {legal}").warnings == ()


def test_a_key_of_the_pattern_wins_over_an_alias_of_its_name() -> None:
    with pytest.raises(QuerySyntaxError, match=r"\?x is already bound in the pattern; select the expression under"):
        select(f"(?y AS ?x) {P} GROUP BY ?x ?y")


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"?y (COUNT(*) AS ?n) {P} GROUP BY ?x", r"\?y is neither in GROUP BY nor inside an aggregate"),
        (f"(?y + 1 AS ?z) {P} GROUP BY ?x", r"\?y is neither in GROUP BY nor inside an aggregate"),
        (f"?x {P} HAVING (COUNT(*) > 1)", r"\?x is neither in GROUP BY nor inside an aggregate"),
        (f"(?n + 1 AS ?m) (COUNT(*) AS ?n) {P}", r"\?n is neither in GROUP BY nor inside an aggregate"),
        (f"* {P} GROUP BY ?x", r"SELECT \* cannot be used with GROUP BY; name the variables"),
        (f"* {P} HAVING (COUNT(*) > 1)", r"SELECT \* cannot be used with GROUP BY; name the variables"),
        (f"(COUNT(?y) AS ?n) {P} GROUP BY ?n", r"GROUP BY cannot use \?n, which is computed from the groups"),
        (f"(AVG(?y) AS ?k) {P} GROUP BY (?x AS ?k)", r"\?k is already bound in the pattern"),
        (f"?k {P} GROUP BY (1 AS ?k) (2 AS ?k)", r"GROUP BY assigns \?k, which already has a value"),
        (f"?y {P} GROUP BY (?x AS ?y)", r"GROUP BY assigns \?y, which already has a value"),
        (f"?x {P} GROUP BY COUNT(?x)", "an aggregate stands only in SELECT, HAVING and ORDER BY"),
        (f"?x {P} GROUP BY (COUNT(?x) AS ?n)", "COUNT may stand only in SELECT, HAVING and ORDER BY, not in FILTER"),
        ("?x { ?x :p ?y FILTER(COUNT(?y) > 1) }", "COUNT may stand only in SELECT, HAVING and ORDER BY, not in FILTER"),
        (
            "?x { ?x :p ?y BIND(SUM(?y) AS ?s) }",
            "SUM may stand only in SELECT, HAVING and ORDER BY, not in FILTER, BIND",
        ),
        (f"(SUM(COUNT(?y)) AS ?n) {P}", "COUNT inside SUM: an aggregate cannot contain another; use a sub-query"),
        (f"(COUNT(?y) AS ?n) {P} HAVING (SUM(?n) > 1)", r"SUM of \?n: an aggregate cannot contain another"),
        (f"(SUM(*) AS ?n) {P}", r"SUM\(\*\) has no meaning; only COUNT takes \*"),
        (f'(SUM(?y; SEPARATOR=",") AS ?n) {P}', "SUM takes no SEPARATOR; only GROUP_CONCAT does"),
        (f"(1 AS ?a) (2 AS ?a) {P}", r"\?a is selected twice"),
        (f"?x (1 AS ?x) {P}", r"\?x is selected twice"),
        (f"(1 AS ?x) {P}", r"\?x is already bound in the pattern; select the expression under another name"),
    ],
)
def test_what_has_no_one_meaning_is_refused(text: str, message: str) -> None:
    with pytest.raises(QuerySyntaxError, match=message) as error:
        select(text)
    assert error.value.line == 2


def test_an_ungrouped_variable_is_suggested_as_a_key() -> None:
    with pytest.raises(QuerySyntaxError) as error:
        select(f"?y {P} GROUP BY ?x")
    assert error.value.suggestion == "add ?y to GROUP BY"


def test_an_aggregate_in_a_filter_of_exists_is_refused_too() -> None:
    with pytest.raises(QuerySyntaxError, match="COUNT may stand only in SELECT"):
        select(f"?x {P} GROUP BY ?x HAVING (EXISTS {{ ?x :q ?z FILTER(COUNT(?z) > 1) }})")
