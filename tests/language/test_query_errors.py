"""Complaints about a query: each names what was found, points at it, and says what was likely meant."""

from __future__ import annotations

import pytest

from millstream.errors import QueryError, QuerySyntaxError, UnsupportedQueryError
from millstream.language import parse_query
from millstream.language.nesting import MAX_DEPTH
from millstream.windows.kinds import KINDS
from tests.language.algebra_text import PROLOGUE, parse


def complaint(text: str) -> QuerySyntaxError:
    """What is wrong with a text that may use the prefix `:`; it begins on line 2."""
    with pytest.raises(QuerySyntaxError) as error:
        parse(text)
    return error.value


# The place ------------------------------------------------------------------------------------------------------------


def test_an_error_shows_its_line_with_a_caret_below_the_place() -> None:
    with pytest.raises(QuerySyntaxError) as error:
        parse_query("SELECT *\nWHERE { ?s ?p ?o FLTER(?o) }")
    assert str(error.value) == (
        "line 2, column 18: found `FLTER`; did you mean FILTER?\n"
        "  WHERE { ?s ?p ?o FLTER(?o) }\n"
        "                   ^"
    )  # fmt: skip


def test_an_error_carries_its_parts() -> None:
    error = complaint("SELECT * { STREAM :s [RANG 5s] {} }")
    assert (error.line, error.column) == (2, 23)
    assert error.source_line == "SELECT * { STREAM :s [RANG 5s] {} }"
    assert error.suggestion == "did you mean RANGE?"
    assert set(error.expected) == {"FROM", *(clause.word for clause in KINDS)}
    assert error.place is not None
    assert (PROLOGUE + error.source_line)[error.place.start : error.place.end] == "RANG"


def test_tabs_before_the_caret_stay_tabs() -> None:
    with pytest.raises(QuerySyntaxError) as error:
        parse_query("SELECT * {\n\t?s\t?p ?o FLTER(?o) }")
    assert str(error.value).splitlines()[1:] == ["  \t?s\t?p ?o FLTER(?o) }", "  \t  \t      ^"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_are_counted_the_same_however_they_end(end: str) -> None:
    with pytest.raises(QuerySyntaxError) as error:
        parse_query(end.join(["SELECT *", "WHERE {", "  ?s ?p ?o FLTER(?o)", "}"]))
    assert (error.value.line, error.value.column, error.value.source_line) == (3, 12, "  ?s ?p ?o FLTER(?o)")


def test_the_end_of_the_text_is_a_place_too() -> None:
    error = complaint("SELECT * {\n  ?s :p ?o\n\n")
    assert (error.line, error.column) == (3, 11)
    assert error.message == "found the end of the query; a `}` is missing."


@pytest.mark.parametrize("text", ["", " \n\t", "# only a comment"])
def test_an_empty_text_is_told_what_a_query_begins_with(text: str) -> None:
    with pytest.raises(QuerySyntaxError) as error:
        parse_query(text)
    assert error.value.message.startswith("found the end of the query; expected ASK, BASE, CONSTRUCT, DESCRIBE")


def test_unsupported_is_told_apart_and_says_what_to_write_instead() -> None:
    with pytest.raises(UnsupportedQueryError) as error:
        parse("SELECT * {\n  STREAM :s [NOW] { GRAPH :g { ?x :p ?y } } }")
    assert error.value.what == "GRAPH inside a STREAM or WINDOW block"
    assert error.value.instead.startswith("Move it out of the block")
    assert (error.value.line, error.value.column) == (3, 21)


# Words ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("SELCT * {}", "SELECT"),
        ("selekt * {}", "SELECT"),
        ("CONSTRCT { } { }", "CONSTRUCT"),
        ("SELECT ?x WHRE {}", "WHERE"),
        ("SELECT DISTICT ?x {}", "DISTINCT"),
        ("SELECT * FORM :g {}", "FROM"),
        ("SELECT * FROM NAMD :g {}", "NAMED"),
        ("SELECT * { STREM :s [NOW] {} }", "STREAM"),
        ("SELECT * { STREAM :s [RANG 5s] {} }", "RANGE"),
        ("SELECT * { STREAM :s [RANGE 5s STP 5s] {} }", "STEP"),
        ("SELECT * { STREAM :s [RANGE 5s SLID 5s] {} }", "SLIDE"),
        ("SELECT * { STREAM :s [RANGE 5s TUMBLE] {} }", "TUMBLING"),
        ("SELECT * { STREAM :s [TRIPLE 5] {} }", "TRIPLES"),
        ("SELECT * { STREAM :s [LANDMRK 5h] {} }", "LANDMARK"),
        ("SELECT * { STREAM :s [SESION 5m] {} }", "SESSION"),
        ("SELECT * { STREAM :s [EVNT] {} }", "EVENT"),
        ("SELECT * FROM NAMED WINDW :w ON :s [NOW] {}", "WINDOW"),
        ("REGSTER QUERY q AS SELECT * {}", "REGISTER"),
        ("REGISTER RSTREM :q AS SELECT * {}", "RSTREAM"),
        ("SELECT * { OPTIONEL { } }", "OPTIONAL"),
        ("SELECT * { {} UNOIN {} }", "UNION"),
        ("SELECT * { FILTER(STRLENGTH(?x)) }", "STRLEN"),
        ("SELECT (CUONT(?x) AS ?n) {}", "COUNT"),
        ("SELECT * {} ORDR BY ?x", "ORDER"),
        ("SELECT * {} ORDERBY ?x", "ORDER BY"),
        ("SELECT ?x {} GROUPBY ?x", "GROUP BY"),
        ("SELECT * {} LIMT 5", "LIMIT"),
    ],
)
def test_a_misspelt_keyword_is_guessed(text: str, suggestion: str) -> None:
    assert complaint(text).suggestion == f"did you mean {suggestion}?"


def test_a_keyword_at_the_wrong_place_is_not_taken_for_another() -> None:
    error = complaint("SELECT * {} LIMIT 5 ORDER BY ?x")
    assert error.suggestion is None
    assert error.message == "found `ORDER`; expected the end of the query, OFFSET or VALUES."


def test_a_variable_without_its_question_mark_is_guessed() -> None:
    assert complaint("SELECT * { person :p ?x }").suggestion == "did you mean ?person? A variable begins with ? or $"


@pytest.mark.parametrize(
    "text",
    [
        "INSERT DATA { :a :b :c }",
        "DELETE WHERE { ?s ?p ?o }",
        "LOAD <x>",
        "CLEAR ALL",
        "drop graph :g",
        "WITH :g DELETE {} WHERE {}",
    ],
)
def test_an_update_is_told_how_datasets_change(text: str) -> None:
    assert complaint(text).suggestion == (
        "an update is not a query; change datasets with engine.insert, engine.delete or engine.read_changes"
    )


# What is missing, or too much -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT * { ?s :p ?o", "found the end of the query; a `}` is missing."),
        ("SELECT * { { ?s :p ?o }", "found the end of the query; a `}` is missing."),
        ("SELECT * { ?s :p ?o }}", "found `}`; there is a `}` too many."),
        ("SELECT * { FILTER(?x > 1 }", "found `}`; a `)` is missing."),
        ("SELECT * { ?s :p (1 2 }", "found `}`; a `)` is missing."),
        ("SELECT * { ?s :p [ :q 1 }", "found `}`; a `]` is missing."),
        ("SELECT (1 AS ?x { }", "found `{`; a `)` is missing."),
        ("SELECT ?x { ?x :p ?y GROUP BY ?x }", "found `GROUP`; a `}` is missing, which ends the pattern before GROUP."),
        ("SELECT * { ?s :p ?o ?t :q ?r }", "found `?t`; is a `.` missing before it?"),
        ("SELECT * { ?s :p ?o :t :q ?r }", "found `:t`; is a `.` missing before it?"),
        ("SELECT * { ?s :p ?o <t> :q ?r }", "found `<t>`; is a `.` missing before it?"),
        ("SELECT * { STREAM :s { ?s :p ?o } }", "found `{`; a window is missing, such as [RANGE 30s] or [NOW]."),
        ("SELECT (?x + 1) {}", "found `)`; an expression is selected under a name: (... AS ?name)."),
        ("SELECT * { FILTER(?a<?b&&?c>?d) }", "found `<?b&&?c>`; it reads as an IRI; put a space behind the `<`."),
        ("SELECT * { STREAM :s [RANGE 5 weeks] {} }", "found `weeks`; expected SLIDE, STEP, TUMBLING or `]`."),
    ],
)
def test_what_is_missing_is_said(text: str, message: str) -> None:
    assert complaint(text).message == message


@pytest.mark.parametrize(
    ("string", "message"),
    [
        ('"abc', 'found a string that does not end: `"abc }`.'),
        ("'abc", "found a string that does not end: `'abc }`."),
        ('"abc\n', 'found a string that does not end on its line: `"abc`; several lines take """.'),
        ('"""abc', 'found a string that does not end: `"""abc }`.'),
        (r'"a\qb"', r"found a string with `\q`, which is no escape; a backslash is written `\\`."),
    ],
)
def test_a_string_that_is_none_is_explained(string: str, message: str) -> None:
    assert complaint("SELECT * { ?s :p " + string + " }").message == message


def test_a_string_at_the_wrong_place_is_shown() -> None:
    assert complaint('SELECT "x" {}').message.startswith('found the string "x"; expected')


# Names ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prefix", "namespace"),
    [
        ("foaf", "http://xmlns.com/foaf/0.1/"),
        ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
        ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
        ("xsd", "http://www.w3.org/2001/XMLSchema#"),
        ("sosa", "http://www.w3.org/ns/sosa/"),
        ("prov", "http://www.w3.org/ns/prov#"),
    ],
)
def test_a_well_known_prefix_comes_with_its_namespace(prefix: str, namespace: str) -> None:
    error = complaint(f"SELECT * {{ ?s {prefix}:name ?o }}")
    assert error.message == f"prefix `{prefix}:` is not declared; declare it: PREFIX {prefix}: <{namespace}>."
    assert (error.line, error.column) == (2, 15)


def test_a_misspelt_prefix_is_guessed() -> None:
    error = complaint("PREFIX weather: <http://w/> SELECT * { ?s wether:name ?o }")
    assert error.suggestion == "did you mean weather:?"


def test_an_unknown_prefix_is_asked_for() -> None:
    assert complaint("SELECT * { ?s x:name ?o }").message == "prefix `x:` is not declared; declare it: PREFIX x: <...>."


def test_an_undeclared_window_is_named_with_the_declared_ones() -> None:
    text = "SELECT * FROM NAMED WINDOW :w ON :s [NOW] { WINDOW <urn:other> { ?s :p ?o } }"
    assert complaint(text).message == "window <urn:other> is not declared; declared are: <http://example.org/w>."
    text = "SELECT * { WINDOW :w { ?s :p ?o } }"
    assert complaint(text).message == "window <http://example.org/w> is not declared; declared are: none."


def test_a_misspelt_window_is_guessed() -> None:
    error = complaint("SELECT * FROM NAMED WINDOW :wind ON :s [NOW] {\n WINDOW :win { ?s :p ?o } }")
    assert error.suggestion == "did you mean <http://example.org/wind>?"
    assert (error.line, error.column) == (3, 2)


# Meaning --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("STRLEN()", "STRLEN takes 1 argument, got 0."),
        ("STRLEN(?x, 1)", "STRLEN takes 1 argument, got 2."),
        ("CONTAINS(?x)", "CONTAINS takes 2 arguments, got 1."),
        ("SUBSTR(?x)", "SUBSTR takes 2 or 3 arguments, got 1."),
        ("NOW(1)", "NOW takes 0 arguments, got 1."),
        ("IF(?x, 1)", "IF takes 3 arguments, got 2."),
        ("BOUND(1)", "BOUND takes a variable."),
    ],
)
def test_a_call_takes_its_number_of_arguments(call: str, message: str) -> None:
    error = complaint(f"SELECT * {{ FILTER({call}) }}")
    assert error.message == message
    assert (error.line, error.column) == (2, 19)


@pytest.mark.parametrize("call", ["COALESCE()", "COALESCE(1, 2, 3)", "CONCAT()", "CONCAT('a', 'b', 'c', 'd')"])
def test_some_calls_take_any_number(call: str) -> None:
    parse(f"SELECT * {{ FILTER({call}) }}")


def test_a_custom_aggregate_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        QueryError, match=r"The custom aggregate <http://example.org/agg> is not supported. Use one of COUNT"
    ):
        parse("SELECT (:agg(DISTINCT ?x) AS ?y) { ?x :p ?z }")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("VALUES (?x ?y) { (1 2) (3) }", "VALUES has 2 variables, but a row of 1 term."),
        ("VALUES (?x) { (1 2) }", "VALUES has 1 variables, but a row of 2 terms."),
        ("VALUES (?x) { () }", "VALUES has 1 variables, but a row of 0 terms."),
        ("VALUES (?x ?x) { (1 2) }", "VALUES names a variable twice."),
    ],
)
def test_rows_of_values_fit_the_variables(text: str, message: str) -> None:
    assert complaint(f"SELECT * {{ {text} }}").message == message
    assert complaint(f"SELECT * {{}} {text}").message == message


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ('"x" :p ?o', '"x" cannot be the subject of a constructed triple, as it is a literal.'),
        ("?s :p ?o . 5 :p ?o", "5 cannot be the subject of a constructed triple, as it is a literal."),
        ("?s :p/:q ?o", "a CONSTRUCT template cannot have property paths."),
        ("?s ^:p ?o", "a CONSTRUCT template cannot have property paths."),
    ],
)
def test_a_template_makes_triples(template: str, message: str) -> None:
    error = complaint(f"CONSTRUCT {{ {template} }} {{ ?s :p ?o }}")
    assert error.message == message
    assert (error.line, error.column) == (2, 11)


def test_a_template_as_a_pattern_makes_triples_too() -> None:
    error = complaint("CONSTRUCT WHERE { ?s :p* ?o }")
    assert error.message == "a CONSTRUCT template cannot have property paths."
    assert (error.line, error.column) == (2, 1)


# Warnings -------------------------------------------------------------------------------------------------------------


def test_a_variable_that_nothing_binds_is_warned_of_where_it_is_selected() -> None:
    query = parse("SELECT ?x ?z { ?x :p ?y }")
    assert [str(w) for w in query.warnings] == ["line 2, column 11: ?z is selected but nothing binds it."]


def test_a_variable_of_a_sub_select_that_nothing_binds_is_warned_of() -> None:
    query = parse("SELECT ?x { ?x :p ?y { SELECT ?q { ?x :p ?y } } }")
    assert [w.message for w in query.warnings] == ["?q is selected but nothing binds it."]


# Depth ----------------------------------------------------------------------------------------------------------------

NESTED = {
    "groups": lambda n: "{ ?s :p ?o " * n + "}" * n,
    "optional groups": lambda n: "{" + "OPTIONAL { ?s :p ?o " * n + "}" * n + "}",
    "negations": lambda n: "{ FILTER(" + "!(" * n + "?x" + ")" * n + ") }",
    "calls": lambda n: "{ FILTER(" + "STR(" * n + "?x" + ")" * n + ") }",
    "paths": lambda n: "{ ?s " + "(" * n + ":p" + ")*" * n + " ?o }",
    "sub-selects": lambda n: "{ SELECT * " * n + "{ ?s :p ?o }" + "}" * n,
    "not exists": lambda n: "{" + "FILTER NOT EXISTS { ?s :p ?o " * n + "}" * n + "}",
    "a chain of or": lambda n: "{ FILTER(" + " || ".join(["?x"] * n) + ") }",
    "a chain of unions": lambda n: "{" + " UNION ".join(["{ ?s :p ?o }"] * n) + "}",
    "a chain of bind": lambda n: "{" + " ".join(f"BIND({i} AS ?x{i})" for i in range(n)) + "}",
}


@pytest.mark.parametrize("shape", NESTED)
def test_nesting_is_refused_beyond_its_limit_however_deep(shape: str) -> None:
    for levels in (MAX_DEPTH + 2, 1_500):
        assert complaint(f"ASK {NESTED[shape](levels)}").message.startswith(
            f"the query is nested too deeply: more than {MAX_DEPTH} levels of patterns and expressions."
        )


@pytest.mark.parametrize("shape", NESTED)
def test_a_quarter_of_the_limit_is_read_in_every_shape(shape: str) -> None:
    parse(f"ASK {NESTED[shape](MAX_DEPTH // 4)}")


def test_the_complaint_points_at_the_innermost_bracket() -> None:
    error = complaint("ASK { FILTER(\n" + "!(" * 400 + "?x" + ")" * 400 + ") }")
    assert (error.line, error.column) == (3, 800)


def test_empty_groups_nest_as_well() -> None:
    assert complaint("ASK " + "{" * 10_000 + "}" * 10_000).message.startswith("the query is nested too deeply")


@pytest.mark.parametrize(
    "text",
    [
        "{ FILTER(" + "(" * 9_000 + "?x" + ")" * 9_000 + ") }",
        "{ ?s :p " + "[ :p " * 1_000 + "1" + "]" * 1_000 + "}",
        "{ ?s :p " + "(" * 1_000 + "1" + ")" * 1_000 + "}",
        "{" + "?s :p ?o . " * 5_000 + "}",
        "{ VALUES ?x {" + "1 " * 5_000 + "} }",
        "{ FILTER(?x IN (" + "1, " * 5_000 + "1)) }",
    ],
    ids=["parentheses", "brackets", "lists", "triples", "values", "choices"],
)
def test_what_only_groups_or_lists_may_be_as_long_as_it_likes(text: str) -> None:
    parse(f"ASK {text}")
