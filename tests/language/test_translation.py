"""Patterns to algebra, by section 18.2 of the SPARQL 1.1 recommendation: its own examples first, then each rule."""

from __future__ import annotations

import pytest

from millstream.errors import QuerySyntaxError
from tests.language.algebra_text import algebra, parse, written

# Section 18.2.3: Examples of Mapped Graph Patterns --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("{ ?s ?p ?o }", "BGP(?s ?p ?o)"),
        ("{ ?s :p1 ?v1 ; :p2 ?v2 }", "BGP(?s :p1 ?v1. ?s :p2 ?v2)"),
        (
            "{ { ?s :p1 ?v1 } UNION { ?s :p2 ?v2 } }",
            "Union(BGP(?s :p1 ?v1), BGP(?s :p2 ?v2))",
        ),
        (
            "{ { ?s :p1 ?v1 } UNION { ?s :p2 ?v2 } UNION { ?s :p3 ?v3 } }",
            "Union(Union(BGP(?s :p1 ?v1), BGP(?s :p2 ?v2)), BGP(?s :p3 ?v3))",
        ),
        (
            "{ ?s :p1 ?v1 OPTIONAL { ?s :p2 ?v2 } }",
            "LeftJoin(BGP(?s :p1 ?v1), BGP(?s :p2 ?v2), true)",
        ),
        (
            "{ ?s :p1 ?v1 OPTIONAL { ?s :p2 ?v2 } OPTIONAL { ?s :p3 ?v3 } }",
            "LeftJoin(LeftJoin(BGP(?s :p1 ?v1), BGP(?s :p2 ?v2), true), BGP(?s :p3 ?v3), true)",
        ),
        (
            "{ ?s :p1 ?v1 OPTIONAL { ?s :p2 ?v2 FILTER(?v1 < 3) } }",
            "LeftJoin(BGP(?s :p1 ?v1), BGP(?s :p2 ?v2), ?v1 < 3)",
        ),
        (
            "{ { ?s :p1 ?v1 } UNION { ?s :p2 ?v2 } OPTIONAL { ?s :p3 ?v3 } }",
            "LeftJoin(Union(BGP(?s :p1 ?v1), BGP(?s :p2 ?v2)), BGP(?s :p3 ?v3), true)",
        ),
        (
            "{ ?s :p1 ?v1 FILTER (?v1 < 3) OPTIONAL { ?s :p3 ?v3 } }",
            "Filter(?v1 < 3, LeftJoin(BGP(?s :p1 ?v1), BGP(?s :p3 ?v3), true))",
        ),
        (
            "{ ?s :p1 ?v1 BIND (2*?v1 AS ?v2) ?s :p2 ?v2 }",
            "Join(Extend(BGP(?s :p1 ?v1), ?v2, 2 * ?v1), BGP(?s :p2 ?v2))",
        ),
        (
            "{ ?s :p ?v . {} BIND (2*?v AS ?v2) }",
            "Extend(BGP(?s :p ?v), ?v2, 2 * ?v)",
        ),
        (
            "{ ?s :p ?v . MINUS {?s :p1 ?v1 } }",
            "Minus(BGP(?s :p ?v), BGP(?s :p1 ?v1))",
        ),
        (
            "{ ?s :p ?v . {SELECT DISTINCT ?o WHERE {?o ?p ?z} } }",
            "Join(BGP(?s :p ?v), Distinct(Project(BGP(?o ?p ?z); ?o)))",
        ),
    ],
)
def test_the_recommendations_examples(group: str, expected: str) -> None:
    assert algebra(group) == expected


# Groups and filters ---------------------------------------------------------------------------------------------------


def test_the_empty_group_is_the_empty_pattern() -> None:
    assert algebra("{}") == "Z"


def test_an_optional_at_the_start_of_a_group_extends_the_empty_solution() -> None:
    assert algebra("{ OPTIONAL { ?s :p ?o } }") == "LeftJoin(Z, BGP(?s :p ?o), true)"


def test_a_filter_holds_for_the_whole_group_wherever_it_stands() -> None:
    expected = "Filter(?o > 1, BGP(?s :p ?o. ?s :q ?x))"
    assert algebra("{ ?s :p ?o FILTER(?o > 1) ?s :q ?x }") == expected
    assert algebra("{ FILTER(?o > 1) ?s :p ?o . ?s :q ?x }") == expected
    assert algebra("{ ?s :p ?o . ?s :q ?x . FILTER(?o > 1) . }") == expected


def test_several_filters_of_a_group_all_hold() -> None:
    assert algebra("{ FILTER(?a) ?s :p ?o FILTER(?b) FILTER(?c) }") == "Filter(?a && ?b && ?c, BGP(?s :p ?o))"


def test_a_filter_in_an_inner_group_stays_there() -> None:
    assert algebra("{ ?s :p ?o { ?s :q ?x FILTER(?o > 1) } }") == "Join(BGP(?s :p ?o), Filter(?o > 1, BGP(?s :q ?x)))"


def test_a_filter_directly_in_an_optional_sees_both_sides() -> None:
    assert algebra("{ ?s :p ?o OPTIONAL { ?s :q ?x FILTER(?x > ?o) } }") == (
        "LeftJoin(BGP(?s :p ?o), BGP(?s :q ?x), ?x > ?o)"
    )


def test_a_filter_in_a_group_inside_an_optional_sees_that_group_alone() -> None:
    assert algebra("{ ?s :p ?o OPTIONAL { { ?s :q ?x FILTER(?x > ?o) } } }") == (
        "LeftJoin(BGP(?s :p ?o), Filter(?x > ?o, BGP(?s :q ?x)), true)"
    )


def test_a_filter_in_minus_does_not_see_the_left_side() -> None:
    assert algebra("{ ?s :p ?o MINUS { ?s :q ?x FILTER(?x > ?o) } }") == (
        "Minus(BGP(?s :p ?o), Filter(?x > ?o, BGP(?s :q ?x)))"
    )


def test_exists_holds_a_pattern_of_its_own() -> None:
    assert algebra("{ ?s :p ?o FILTER NOT EXISTS { ?s :q ?x FILTER(?x = ?o) } }") == (
        "Filter(NOT EXISTS Filter(?x = ?o, BGP(?s :q ?x)), BGP(?s :p ?o))"
    )


def test_groups_side_by_side_are_joined_from_the_left() -> None:
    assert algebra("{ { ?a :p ?b } { ?b :p ?c } { ?c :p ?d } }") == (
        "Join(Join(BGP(?a :p ?b), BGP(?b :p ?c)), BGP(?c :p ?d))"
    )


def test_a_graph_holds_its_pattern() -> None:
    assert algebra("{ GRAPH :g { ?a :p ?b } GRAPH ?g { ?b :p ?c FILTER(?c > 1) } }") == (
        "Join(Graph(:g, BGP(?a :p ?b)), Graph(?g, Filter(?c > 1, BGP(?b :p ?c))))"
    )


def test_a_service_holds_its_pattern() -> None:
    assert algebra("{ SERVICE SILENT :e { ?a :p ?b } }") == "Service(:e, BGP(?a :p ?b))"


def test_the_filter_of_an_optional_stream_block_belongs_to_the_block() -> None:
    assert algebra("{ ?s :p ?o OPTIONAL { STREAM :t [NOW] { ?s :q ?x FILTER(?x > ?o) } } }") == (
        "LeftJoin(BGP(?s :p ?o), Window(:t [NOW], Filter(?x > ?o, BGP(?s :q ?x))), true)"
    )


# BIND and VALUES ------------------------------------------------------------------------------------------------------


def test_bind_extends_what_stands_before_it() -> None:
    assert algebra("{ ?s :p ?o BIND(?o + 1 AS ?x) BIND(?x + 1 AS ?y) }") == (
        "Extend(Extend(BGP(?s :p ?o), ?x, ?o + 1), ?y, ?x + 1)"
    )


def test_bind_ends_the_basic_graph_pattern_before_it() -> None:
    assert algebra("{ ?s :p ?o BIND(1 AS ?x) ?s :q ?z }") == "Join(Extend(BGP(?s :p ?o), ?x, 1), BGP(?s :q ?z))"


def test_bind_cannot_assign_what_stands_before_it() -> None:
    with pytest.raises(QuerySyntaxError, match=r"BIND assigns \?o, which is already used before it in the group") as error:
        algebra("{ ?s :p ?o BIND(1 AS ?o) }")
    assert (error.value.line, error.value.column) == (2, 26)


def test_bind_may_assign_what_only_a_filter_or_minus_mentions() -> None:
    assert algebra("{ ?s :p ?o FILTER(?x > 1) MINUS { ?s :q ?x } BIND(?o AS ?x) }") == (
        "Filter(?x > 1, Extend(Minus(BGP(?s :p ?o), BGP(?s :q ?x)), ?x, ?o))"
    )


def test_values_join_where_they_stand() -> None:
    assert algebra("{ ?s :p ?o VALUES ?o { 1 2 } ?s :q ?x }") == (
        "Join(Join(BGP(?s :p ?o), Values(?o; (1) (2))), BGP(?s :q ?x))"
    )


def test_values_take_rows_and_undef() -> None:
    assert algebra('{ VALUES (?a ?b) { (:x UNDEF) ("y" 1.5) } }') == 'Values(?a ?b; (:x UNDEF) ("y" 1.5))'


def test_values_may_have_no_rows_or_no_variables() -> None:
    assert algebra("{ VALUES ?a {} }") == "Values(?a; )"
    assert algebra("{ VALUES () { () () } }") == "Values(; () ())"


def test_values_behind_a_query_join_before_the_projection() -> None:
    assert written(parse("SELECT ?s { ?s :p ?o } VALUES ?o { 1 }").pattern) == (
        "Project(Join(BGP(?s :p ?o), Values(?o; (1))); ?s)"
    )


def test_values_behind_a_sub_select_belong_to_it() -> None:
    assert algebra("{ ?o :q ?x { SELECT ?s { ?s :p ?o } VALUES ?o { 1 } } }") == (
        "Join(BGP(?o :q ?x), Project(Join(BGP(?s :p ?o), Values(?o; (1))); ?s))"
    )


def test_values_behind_a_group_query_join_the_groups() -> None:
    assert written(parse("SELECT ?s (COUNT(*) AS ?n) { ?s :p ?o } GROUP BY ?s VALUES ?s { :a }").pattern) == (
        "Project(Extend(Join(Group(?s; ?agg1 = COUNT(*); BGP(?s :p ?o)), Values(?s; (:a))), ?n, ?agg1); ?s ?n)"
    )


def test_a_star_selects_the_variables_of_values_too() -> None:
    assert [v.value for v in parse("SELECT * { ?s :p ?o } VALUES ?z { 1 }").variables] == ["s", "o", "z"]


# Paths: section 18.2.2.4 ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (":p", "BGP(?x :p ?y)"),
        ("(:p)", "BGP(?x :p ?y)"),
        ("a", "BGP(?x a ?y)"),
        ("^:p", "BGP(?y :p ?x)"),
        ("^^:p", None),
        ("^(^:p)", "BGP(?x :p ?y)"),
        (":p/:q", "BGP(?x :p _:step1. _:step1 :q ?y)"),
        (":p/:q/:r", "BGP(?x :p _:step2. _:step2 :q _:step1. _:step1 :r ?y)"),
        ("^(:p/:q)", "BGP(?y :p _:step1. _:step1 :q ?x)"),
        (":p/^:q", "BGP(?x :p _:step1. ?y :q _:step1)"),
        (":p|:q", "Path(?x, :p|:q, ?y)"),
        (":p|:q/:r", "Path(?x, :p|:q/:r, ?y)"),
        (":p?", "Path(?x, :p?, ?y)"),
        (":p*", "Path(?x, :p*, ?y)"),
        (":p+", "Path(?x, :p+, ?y)"),
        ("^:p*", "Path(?y, :p*, ?x)"),
        ("(^:p)*", "Path(?x, (^:p)*, ?y)"),
        ("(:p/:q)*", "Path(?x, (:p/:q)*, ?y)"),
        ("(:p|:q)+", "Path(?x, (:p|:q)+, ?y)"),
        (":p*/:q", "Join(Path(?x, :p*, _:step1), BGP(_:step1 :q ?y))"),
        (":q/:p*", "Join(BGP(?x :q _:step1), Path(_:step1, :p*, ?y))"),
        ("!:p", "Path(?x, !(:p), ?y)"),
        ("!(:p|:q)", "Path(?x, !(:p|:q), ?y)"),
        ("!a", "Path(?x, !(rdf:type), ?y)"),
        ("!()", "Path(?x, !(), ?y)"),
        ("!^:p", "Path(?y, !(:p), ?x)"),
        ("!(^:p|^:q)", "Path(?y, !(:p|:q), ?x)"),
        ("!(:p|^:q)", "Path(?x, !(:p)|^!(:q), ?y)"),
        ("(!:p)*", "Path(?x, !(:p)*, ?y)"),
    ],
)
def test_a_path_is_short_for(path: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(QuerySyntaxError):
            algebra(f"{{ ?x {path} ?y }}")
    else:
        assert algebra(f"{{ ?x {path} ?y }}") == expected


def test_a_path_of_any_length_stands_beside_the_triples_around_it() -> None:
    assert algebra("{ ?a :p ?b . ?b :q* ?c . ?c :r ?d . ?d :s ?e }") == (
        "Join(Join(BGP(?a :p ?b), Path(?b, :q*, ?c)), BGP(?c :r ?d. ?d :s ?e))"
    )


def test_a_question_mark_directly_before_a_name_is_a_variable() -> None:
    assert algebra("{ ?x :p?y }") == "BGP(?x :p ?y)"
    assert algebra("{ ?x :p? ?y }") == "Path(?x, :p?, ?y)"


# Triples and blank nodes ----------------------------------------------------------------------------------------------


def test_semicolons_and_commas_repeat_subject_and_predicate() -> None:
    assert algebra("{ ?s :p 1, 2 ; :q 3 ;; . }") == "BGP(?s :p 1. ?s :p 2. ?s :q 3)"


def test_brackets_are_a_blank_node_with_properties() -> None:
    assert algebra("{ ?s :p [ :q 1 ; :r [] ] . [ :t 2 ] }") == (
        "BGP(?s :p _:anon1. _:anon1 :q 1. _:anon1 :r _:anon2. _:anon3 :t 2)"
    )


def test_parentheses_are_a_list() -> None:
    assert algebra("{ ?s :p (1 ?x) . () :q () }") == (
        "BGP(?s :p _:anon1. _:anon1 rdf:first 1. _:anon1 rdf:rest _:anon2. "
        "_:anon2 rdf:first ?x. _:anon2 rdf:rest rdf:nil. rdf:nil :q rdf:nil)"
    )


def test_comments_may_stand_inside_empty_brackets() -> None:
    assert algebra("{ ?s :p ( # nothing\n) , [ # nobody\n] }") == "BGP(?s :p rdf:nil. ?s :p _:anon1)"


def test_a_label_is_one_blank_node_within_a_basic_graph_pattern() -> None:
    assert algebra("{ _:a :p ?x . FILTER(?x > 1) ?y :q* _:a . _:a :r ?z }") == (
        "Filter(?x > 1, Join(Join(BGP(_:a :p ?x), Path(?y, :q*, _:a)), BGP(_:a :r ?z)))"
    )


@pytest.mark.parametrize(
    "group",
    [
        "{ _:a :p ?x { _:a :q ?y } }",
        "{ _:a :p ?x OPTIONAL { _:a :q ?y } }",
        "{ { _:a :p ?x } UNION { _:a :q ?y } }",
        "{ _:a :p ?x GRAPH :g { _:a :q ?y } }",
        "{ _:a :p ?x FILTER EXISTS { _:a :q ?y } }",
        "{ _:a :p ?x BIND(1 AS ?z) _:a :q ?y }",
        "{ STREAM :s [NOW] { _:a :p ?x } STREAM :s [NOW] { _:a :q ?y } }",
    ],
)
def test_a_label_does_not_reach_into_another_basic_graph_pattern(group: str) -> None:
    with pytest.raises(QuerySyntaxError, match="blank node _:a stands in two basic graph patterns; use a variable"):
        algebra(group)


def test_a_label_can_look_like_a_name_that_is_made_up() -> None:
    query = parse("SELECT * { _:anon1 :p [] . _:step1 :q/:r ?x }")
    names = {t.subject for t in query.pattern.pattern.triples}  # type: ignore[union-attr]
    assert len(names) == 3


# SELECT ---------------------------------------------------------------------------------------------------------------


def test_a_star_selects_in_order_of_appearance_what_is_in_scope() -> None:
    query = parse(
        "SELECT * { ?b :p ?a OPTIONAL { ?a :q ?c } MINUS { ?a :r ?m } FILTER(?f) { SELECT ?d { ?d :p ?hidden } } }"
    )
    assert [v.value for v in query.variables] == ["b", "a", "c", "d"]


def test_a_star_selects_graph_names_and_assigned_variables() -> None:
    query = parse("SELECT * { GRAPH ?g { [] :p ?x } BIND(1 AS ?y) VALUES ?z { 1 } }")
    assert [v.value for v in query.variables] == ["g", "x", "y", "z"]


def test_modifiers_apply_in_the_order_of_the_recommendation() -> None:
    assert written(parse("SELECT DISTINCT ?s { ?s :p ?o } ORDER BY DESC(?o) ?s LIMIT 5 OFFSET 2").pattern) == (
        "Slice(Distinct(Project(OrderBy(BGP(?s :p ?o); DESC ?o, ?s); ?s)); 2, 5)"
    )


@pytest.mark.parametrize("text", ["LIMIT 5 OFFSET 2", "OFFSET 2 LIMIT 5"])
def test_limit_and_offset_stand_in_either_order(text: str) -> None:
    assert written(parse(f"SELECT * {{ ?s :p ?o }} {text}").pattern).endswith("; 2, 5)")


def test_a_limit_beyond_counting_is_no_mistake() -> None:
    assert written(parse("SELECT * { ?s :p ?o } LIMIT " + "9" * 5000).pattern).startswith("Slice(")


def test_distinct_and_reduced_take_a_star() -> None:
    assert written(parse("SELECT DISTINCT * { ?s :p ?o }").pattern) == "Distinct(Project(BGP(?s :p ?o); ?s ?o))"
    assert written(parse("SELECT REDUCED * { ?s :p ?o }").pattern) == "Reduced(Project(BGP(?s :p ?o); ?s ?o))"


def test_selected_expressions_extend_the_solutions_one_after_the_other() -> None:
    assert written(parse("SELECT (?o + 1 AS ?x) ?s (?x * 2 AS ?y) { ?s :p ?o } ORDER BY ?y").pattern) == (
        "Project(OrderBy(Extend(Extend(BGP(?s :p ?o), ?x, ?o + 1), ?y, ?x * 2); ?y); ?x ?s ?y)"
    )


def test_a_sub_select_shows_only_what_it_selects() -> None:
    assert algebra("{ ?s :p ?o { SELECT ?s { ?s :q ?o } LIMIT 1 } }") == (
        "Join(BGP(?s :p ?o), Slice(Project(BGP(?s :q ?o); ?s); 0, 1))"
    )


def test_a_variable_selected_twice_is_one_column() -> None:
    assert [v.value for v in parse("SELECT ?s ?o ?s { ?s :p ?o }").variables] == ["s", "o"]


# Other forms ----------------------------------------------------------------------------------------------------------


def test_construct_keeps_all_variables_of_its_pattern() -> None:
    query = parse("CONSTRUCT { ?s :q ?o } { ?s :p ?o . ?o :p ?x } ORDER BY ?x LIMIT 3")
    assert written(query.pattern) == "Slice(OrderBy(BGP(?s :p ?o. ?o :p ?x); ?x); 0, 3)"
    assert [v.value for v in query.variables] == ["s", "o", "x"]


def test_construct_where_constructs_what_it_matches() -> None:
    query = parse("CONSTRUCT WHERE { ?s :p ?o ; :q _:b }")
    assert written(query.pattern) == "BGP(?s :p ?o. ?s :q _:b)"
    assert len(query.template) == 2


def test_labels_of_a_template_and_of_a_pattern_are_strangers() -> None:
    query = parse("CONSTRUCT { _:a :q ?x . [] :r _:a } { _:a :p ?x }")
    nodes = {t.subject for t in query.template} | {query.pattern.triples[0].subject}  # type: ignore[union-attr]
    assert len(nodes) == 3
    assert query.template[0].subject == query.template[1].object


def test_brackets_of_a_template_never_meet_a_label() -> None:
    for label in range(60):
        query = parse(f"CONSTRUCT {{ _:{label} :p [ :q ?x ] }} {{ ?s :p ?x }}")
        assert query.template[0].subject != query.template[0].object


def test_describe_takes_iris_and_variables() -> None:
    query = parse("DESCRIBE ?x :a { ?x :p ?y }")
    assert [str(r) for r in query.resources] == ["?x", "<http://example.org/a>"]


def test_describe_star_describes_every_variable() -> None:
    assert [str(r) for r in parse("DESCRIBE * { ?x :p ?y }").resources] == ["?x", "?y"]


def test_describe_may_have_no_pattern() -> None:
    assert written(parse("DESCRIBE :a").pattern) == "Z"


def test_ask_has_no_variables() -> None:
    assert parse("ASK { ?s :p ?o }").variables == ()


# Structure decides ----------------------------------------------------------------------------------------------------


def test_queries_that_differ_only_in_writing_are_equal() -> None:
    one = parse("SELECT ?x (COUNT(*) AS ?n) { ?x :p/:q [ :r ( 1 ) ] } GROUP BY ?x (?x + 1)")
    other = parse(
        "# agg1 and key1 are no variables here\nPREFIX e: <http://example.org/>\nselect ?x (count(*) as ?n)\n"
        "where {\n  ?x e:p/e:q [\n e:r (1)\n ] .\n} group by ?x (?x+1)"
    )
    assert one == other


def test_made_up_variables_keep_clear_of_those_of_the_query() -> None:
    query = parse("SELECT ?agg1 ?key1 (COUNT(?agg2) AS ?n) { ?agg1 :p ?agg2 ; :q ?key1 } GROUP BY ?agg1 ?key1 (?key1 + 1)")
    assert written(query.pattern) == (
        "Project(Extend(Group(?agg1, ?key1, ?key2 = ?key1 + 1; ?agg3 = COUNT(?agg2); "
        "BGP(?agg1 :p ?agg2. ?agg1 :q ?key1)), ?n, ?agg3); ?agg1 ?key1 ?n)"
    )
