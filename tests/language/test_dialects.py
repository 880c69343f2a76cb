"""The stream clauses of CQELS-QL, RSP-QL, C-SPARQL and SPARQLstream: what each form means, and what stays a name.

Each dialect tells the same four facts: which window, where its content goes, what is emitted, over which graphs.
"""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from millstream.errors import QuerySyntaxError, UnsupportedQueryError
from millstream.language import algebra as a
from millstream.windows.kinds import StreamWindow
from tests.language.algebra_text import parse, written

PATTERN = "{ ?x :p ?y }"


def windows_of(text: str) -> list[str]:
    """The windows a query reads, stream IRIs shortened."""
    return [f":{w.stream.value.rpartition('/')[2]} [{w.window}]" for w in parse(text).windows]


def output_of(text: str) -> str:
    return parse(text).output.name


# CQELS-QL -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clause", "window"),
    [
        ("[RANGE 30m SLIDE 5m]", "RANGE 30m SLIDE 5m"),
        ("[RANGE 30m]", "RANGE 30m"),
        ("[RANGE 30m STEP 5m]", "RANGE 30m STEP 5m"),
        ("[RANGE 30m TUMBLING]", "RANGE 30m STEP 30m"),
        ("[LANDMARK 1d]", "LANDMARK 1d"),
        ("[landmark P1D]", "LANDMARK 1d"),
        ("[SESSION 5m]", "SESSION 5m"),
        ("[Session 90 s]", "SESSION 1m30s"),
        ("[TRIPLES 10]", "TRIPLES 10"),
        ("[RANGE TRIPLES 10]", "TRIPLES 10"),
        ("[ELEMENTS 10]", "ELEMENTS 10"),
        ("[RANGE ELEMENTS 10]", "ELEMENTS 10"),
        ("[NOW]", "NOW"),
        ("[ALL]", "ALL"),
        ("[EVENT]", "EVENT"),
        ("[ range 30M slide 5M ]", "RANGE 30m SLIDE 5m"),
        ("[rAnGe PT30M tumbling]", "RANGE 30m STEP 30m"),
        ("[tRiPlEs 10]", "TRIPLES 10"),
        ("[now]", "NOW"),
        ("[Event]", "EVENT"),
    ],
)
def test_a_window_is_written_behind_its_stream_in_any_case(clause: str, window: str) -> None:
    assert windows_of(f"SELECT * {{ STREAM :s {clause} {PATTERN} }}") == [f":s [{window}]"]


def test_a_window_may_stand_before_the_stream_as_in_the_papers_grammar() -> None:
    before = parse(f"SELECT * {{ STREAM [RANGE 30m] :s {PATTERN} }}")
    assert before == parse(f"SELECT * {{ STREAM :s [RANGE 30m] {PATTERN} }}")


def test_a_stream_block_sees_its_window_alone() -> None:
    query = parse(f"SELECT ?x {{ STREAM :s [NOW] {PATTERN} ?x :q ?z }}")
    assert written(query.pattern) == "Project(Join(Window(:s [NOW], BGP(?x :p ?y)), BGP(?x :q ?z)); ?x)"


def test_stream_blocks_emit_what_appears() -> None:
    assert output_of(f"SELECT * {{ STREAM :s [NOW] {PATTERN} }}") == "ISTREAM"


def test_two_windows_on_one_stream_are_two_windows() -> None:
    text = f"SELECT * {{ STREAM :s [NOW] {PATTERN} STREAM :s [RANGE 3s] {{ ?y :p ?z }} }}"
    assert windows_of(text) == [":s [NOW]", ":s [RANGE 3s]"]


def test_equal_windows_of_a_query_are_one() -> None:
    text = f"SELECT * {{ STREAM :s [RANGE 60s] {PATTERN} STREAM :s [RANGE 1m] {{ ?y :p ?z }} }}"
    assert windows_of(text) == [":s [RANGE 1m]"]


def test_a_stream_block_may_hold_any_group() -> None:
    inside = "{ ?x :p ?y OPTIONAL { ?x :q ?z } FILTER NOT EXISTS { ?x :gone true } { SELECT ?x { ?x :r+ ?w } } }"
    assert windows_of(f"SELECT * {{ STREAM :s [NOW] {inside} }}") == [":s [NOW]"]


@pytest.mark.parametrize("inner", ["GRAPH :g", "STREAM :t [NOW]", "WINDOW :w"])
def test_a_stream_block_holds_no_other_graph(inner: str) -> None:
    with pytest.raises(UnsupportedQueryError, match="inside a STREAM or WINDOW block") as error:
        parse(f"SELECT * FROM NAMED WINDOW :w ON :s [NOW] {{ STREAM :s [NOW] {{ {inner} {PATTERN} }} }}")
    assert error.value.instead.startswith("Move it out of the block")


def test_streams_are_named_not_matched() -> None:
    with pytest.raises(UnsupportedQueryError, match=r"STREAM \?s is not supported. Name the stream by its IRI"):
        parse(f"SELECT * {{ STREAM ?s [NOW] {PATTERN} }}")


# RSP-QL ---------------------------------------------------------------------------------------------------------------

RSPQL = "SELECT * FROM NAMED WINDOW :w ON :s [RANGE PT10M STEP PT1M] WHERE { WINDOW :w { ?x :p ?y } }"


@pytest.mark.parametrize(
    "clause",
    [
        "FROM NAMED WINDOW :w ON :s [RANGE PT10M STEP PT1M]",
        "FROM NAMED WINDOW :w ON STREAM :s [RANGE PT10M STEP PT1M]",
        "FROM NAMED WINDOW ON :s [RANGE PT10M STEP PT1M] AS :w",
        "FROM NAMED WINDOW ON STREAM :s [RANGE PT10M STEP PT1M] AS :w",
        "from named window :w on stream :s [range pt10m step pt1m]",
    ],
)
def test_a_window_is_declared_by_name_and_used_in_a_block(clause: str) -> None:
    assert parse(f"SELECT * {clause} WHERE {{ WINDOW :w {PATTERN} }}") == parse(RSPQL)


def test_a_window_block_sees_the_window_it_names() -> None:
    assert written(parse(RSPQL).pattern) == "Project(Window(:s [RANGE 10m STEP 1m], BGP(?x :p ?y)); ?x ?y)"


def test_a_window_without_a_name_is_part_of_the_default_graph() -> None:
    query = parse(f"SELECT * FROM WINDOW ON :s [RANGE PT10M STEP PT1M] {PATTERN}")
    assert query.default_windows == query.windows
    assert written(query.pattern) == "Project(BGP(?x :p ?y); ?x ?y)"


def test_named_windows_stay_out_of_the_default_graph() -> None:
    assert parse(RSPQL).default_windows == ()


def test_rspql_emits_everything_unless_register_says_otherwise() -> None:
    assert output_of(RSPQL) == "RSTREAM"
    assert output_of(f"REGISTER ISTREAM :out AS {RSPQL}") == "ISTREAM"
    assert output_of(f"REGISTER DSTREAM :out AS {RSPQL}") == "DSTREAM"
    assert output_of(f"REGISTER CHANGES :out AS {RSPQL}") == "CHANGES"


@pytest.mark.parametrize("word", ["ISTREAM", "DSTREAM", "RSTREAM", "CHANGES", "istream", "rStream"])
def test_the_output_may_stand_behind_the_query_form(word: str) -> None:
    assert output_of(f"SELECT {word} ?x {{ STREAM :s [NOW] {PATTERN} }}") == word.upper()
    assert output_of(f"CONSTRUCT {word} {{ ?x :q ?y }} {{ STREAM :s [NOW] {PATTERN} }}") == word.upper()
    assert output_of(f"ASK {word} {{ STREAM :s [NOW] {PATTERN} }}") == word.upper()


def test_two_different_outputs_are_refused() -> None:
    with pytest.raises(QuerySyntaxError, match="ISTREAM and RSTREAM; one output operator is enough"):
        parse(f"REGISTER ISTREAM :out AS SELECT RSTREAM * {PATTERN}")


def test_the_same_output_twice_is_not_a_contradiction() -> None:
    assert output_of(f"REGISTER ISTREAM :out AS SELECT ISTREAM * {PATTERN}") == "ISTREAM"


def test_a_declared_window_that_no_block_uses_is_not_read_and_warned_of() -> None:
    query = parse(f"SELECT * FROM NAMED WINDOW :w ON :s [RANGE PT10M] {PATTERN}")
    assert query.windows == ()
    assert [w.message for w in query.warnings] == ["window <http://example.org/w> is declared but no WINDOW block uses it."]


def test_a_window_is_declared_once() -> None:
    with pytest.raises(QuerySyntaxError, match=r"window <http://example\.org/w> is declared twice"):
        parse(f"SELECT * FROM NAMED WINDOW :w ON :s [NOW] FROM NAMED WINDOW :w ON :t [NOW] {PATTERN}")


# C-SPARQL -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clause", "window"),
    [
        ("[RANGE 5s STEP 1s]", "RANGE 5s STEP 1s"),
        ("[RANGE TRIPLES 10]", "TRIPLES 10"),
        ("[RANGE 5s TUMBLING]", "RANGE 5s STEP 5s"),
        ("[LANDMARK 1h]", "LANDMARK 1h"),
        ("[SESSION PT5M]", "SESSION 5m"),
        ("[range 3000ms step 1s]", "RANGE 3s STEP 1s"),
    ],
)
def test_from_stream_puts_a_window_into_the_default_graph(clause: str, window: str) -> None:
    query = parse(f"REGISTER QUERY q AS SELECT * FROM STREAM :s {clause} WHERE {PATTERN}")
    assert [str(w.window) for w in query.default_windows] == [window]
    assert query.windows == query.default_windows


def test_csparql_emits_everything() -> None:
    assert output_of(f"SELECT * FROM STREAM :s [RANGE 5s STEP 1s] {PATTERN}") == "RSTREAM"


@pytest.mark.parametrize("name", ["q", "step", "stream", "as", "Query_1", '"q"', "'a name'"])
def test_register_query_names_the_query(name: str) -> None:
    assert parse(f"REGISTER QUERY {name} AS SELECT * {PATTERN}").name == name.strip("\"'")


@pytest.mark.parametrize(
    ("name", "iri"),
    [
        ("<http://example.org/out>", "http://example.org/out"),
        (":out", "http://example.org/out"),
        ("<out>", "http://millstream.local/out"),
        ("out", "http://millstream.local/out"),
        ('"out"', "http://millstream.local/out"),
    ],
)
def test_register_stream_names_the_stream_of_the_answers_by_an_iri(name: str, iri: str) -> None:
    assert parse(f"REGISTER STREAM {name} AS CONSTRUCT {{ ?x :q ?y }} {PATTERN}").name == iri


def test_a_stream_is_not_named_by_what_no_iri_can_be() -> None:
    with pytest.raises(QuerySyntaxError, match="is not an IRI"):
        parse(f'REGISTER STREAM "not an iri" AS CONSTRUCT {{ ?x :q ?y }} {PATTERN}')


def test_computed_every_is_refused_with_what_to_write() -> None:
    with pytest.raises(UnsupportedQueryError, match=r"COMPUTED EVERY is not supported\. Give each window a STEP"):
        parse(f"REGISTER QUERY q COMPUTED EVERY 5m AS SELECT * FROM STREAM :s [RANGE 10m] {PATTERN}")


@pytest.mark.parametrize(
    "text",
    [
        "PREFIX : <http://example.org/> REGISTER QUERY q AS SELECT * { ?x :p ?y }",
        "REGISTER QUERY q AS PREFIX : <http://example.org/> SELECT * { ?x :p ?y }",
        "BASE <http://example.org/> REGISTER QUERY q AS PREFIX : <> SELECT * { ?x :p ?y }",
    ],
)
def test_the_prologue_stands_before_or_behind_register(text: str) -> None:
    assert written(parse(text).pattern) == "Project(BGP(?x :p ?y); ?x ?y)"


# SPARQLstream ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clause", "window"),
    [
        ("[NOW - 10 S SLIDE 10 S]", "RANGE 10s STEP 10s"),
        ("[NOW- 10 S SLIDE 1 S]", "RANGE 10s STEP 1s"),
        ("[NOW - 100 MS]", "RANGE 100ms"),
        ("[NOW - 1 HOURS SLIDE 1 HOURS]", "RANGE 1h STEP 1h"),
        ("[NOW - 1 s ]", "RANGE 1s"),
        ("[NOW]", "NOW"),
        ("[NOW - 10 MINUTES TO NOW STEP 1 MINUTE]", "RANGE 10m STEP 1m"),
        ("[FROM NOW - 10 MINUTES TO NOW STEP 1 MINUTE]", "RANGE 10m STEP 1m"),
        ("[from now-PT2H to now]", "RANGE 2h"),
    ],
)
def test_a_stretch_up_to_now_is_a_range(clause: str, window: str) -> None:
    query = parse(f"SELECT * FROM NAMED STREAM :s {clause} {PATTERN}")
    assert [str(w.window) for w in query.default_windows] == [window]
    assert query.warnings == ()


def test_a_stretch_that_ends_before_now_is_refused() -> None:
    with pytest.raises(UnsupportedQueryError, match="A window that ends in the past"):
        parse(f"SELECT * FROM NAMED STREAM :s [NOW - 2 HOURS TO NOW - 1 HOURS] {PATTERN}")


# All dialects ---------------------------------------------------------------------------------------------------------


def test_clauses_of_different_dialects_mix() -> None:
    query = parse(
        "REGISTER ISTREAM :out AS SELECT * FROM STREAM :a [RANGE 5s STEP 1s] FROM NAMED WINDOW :w ON :b [NOW] "
        "{ ?x :p ?y WINDOW :w { ?y :q ?z } STREAM :c [ALL] { ?z :r ?x } }"
    )
    assert [str(w.window) for w in query.windows] == ["RANGE 5s STEP 1s", "NOW", "ALL"]
    assert query.default_windows == (StreamWindow(NamedNode("http://example.org/a"), query.windows[0].window),)


def test_a_clause_in_the_dataset_makes_the_output_rstream_whatever_else_there_is() -> None:
    assert output_of("SELECT * FROM STREAM :a [NOW] { STREAM :s [NOW] { ?x :p ?y } }") == "RSTREAM"


def test_without_stream_clauses_a_query_emits_both_kinds_of_change() -> None:
    assert output_of(f"SELECT * {PATTERN}") == "CHANGES"


def test_windows_close_only_if_each_has_a_step() -> None:
    stepping, ranging = "STREAM :s [RANGE 5s STEP 1s] { ?x :p ?y }", "STREAM :t [RANGE 5s] { ?x :q ?z }"
    assert parse(f"SELECT * {{ {stepping} }}").closes_windows
    assert not parse(f"SELECT * {{ {stepping} {ranging} }}").closes_windows
    assert not parse("SELECT * { ?x :p ?y }").closes_windows


KEYWORD_NAMES = (
    "range slide step landmark session stream window now all event triples elements register istream rstream select where "
    "filter as on from named by group order graph values union minus true count median in not a"
).split()


@pytest.mark.parametrize("word", KEYWORD_NAMES)
def test_a_keyword_stays_usable_in_every_kind_of_name(word: str) -> None:
    query = parse(
        f"PREFIX {word}: <http://example.org/{word}/> "
        f"REGISTER QUERY {word} AS "
        f"SELECT ?{word} (COUNT(?now) AS ?n{word}) FROM NAMED {word}:{word} "
        f"FROM NAMED WINDOW {word}:w ON {word}: [NOW] WHERE {{ "
        f"STREAM {word}:all [RANGE 5s] {{ {word}:x :{word} ?{word} }} "
        f"WINDOW {word}:w {{ {word}: {word}:{word} ?now . _:{word} a {word}:, {word}:Now }} "
        f"GRAPH {word}:{word} {{ ?{word} {word}:p/:{word}* ${word} }} FILTER(?{word} != {word}:x) }} GROUP BY ?{word}"
    )
    assert query.name == word
    assert [w.stream.value for w in query.windows] == [f"http://example.org/{word}/all", f"http://example.org/{word}/"]


@pytest.mark.parametrize("change", [str.lower, str.upper, str.title, str.swapcase])
def test_keywords_of_all_clauses_are_read_in_any_case(change) -> None:  # type: ignore[no-untyped-def]
    def words(text: str) -> str:
        return " ".join(change(w) if w.isupper() else w for w in text.split())

    text = (
        "REGISTER ISTREAM <http://example.org/o> AS SELECT DISTINCT ?x FROM <http://example.org/g> FROM NAMED WINDOW "
        "<http://example.org/w> ON STREAM <http://example.org/s> [ RANGE 10s STEP 5s ] WHERE { WINDOW "
        "<http://example.org/w> { ?x ?p ?y } STREAM <http://example.org/s> [ TRIPLES 5 ] "
        "{ ?x ?q ?z OPTIONAL { ?z ?r 1 } } "
        "FILTER NOT EXISTS { ?x ?p TRUE } BIND ( STR (?y) AS ?t ) MINUS { ?x ?p FALSE } } "
        "ORDER BY DESC (?x) LIMIT 5 OFFSET 2 VALUES ?x { UNDEF }"
    )
    assert parse(words(text)) == parse(text)


# Datasets -------------------------------------------------------------------------------------------------------------

G, H = NamedNode("http://example.org/g"), NamedNode("http://example.org/h")


def test_without_dataset_clauses_a_query_reads_what_the_engine_has() -> None:
    assert parse(f"SELECT * {PATTERN}").dataset == a.Dataset(default=None, named=None)


def test_from_alone_leaves_no_named_graph() -> None:
    assert parse(f"SELECT * FROM :g FROM :h {PATTERN}").dataset == a.Dataset(default=(G, H), named=())


def test_from_named_alone_empties_the_default_graph_as_in_sparql() -> None:
    assert parse(f"SELECT * FROM NAMED :g {PATTERN}").dataset == a.Dataset(default=(), named=(G,))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM NAMED :g { STREAM :s [NOW] { ?x :p ?y } }",
        "SELECT * FROM NAMED :g FROM STREAM :s [NOW] { ?x :p ?y }",
        "SELECT * FROM NAMED :g FROM NAMED WINDOW :w ON :s [NOW] { WINDOW :w { ?x :p ?y } }",
        "SELECT * FROM NAMED :g { FILTER EXISTS { STREAM :s [NOW] { ?x :p ?y } } }",
    ],
)
def test_from_named_alone_keeps_the_default_graph_beside_streams(text: str) -> None:
    assert parse(text).dataset == a.Dataset(default=None, named=(G,))


def test_from_and_from_named_mean_beside_streams_what_they_mean_without() -> None:
    text = "SELECT * FROM :g FROM NAMED :h { STREAM :s [NOW] { ?x :p ?y } }"
    assert parse(text).dataset == a.Dataset(default=(G,), named=(H,))


def test_a_graph_named_twice_is_one_graph() -> None:
    assert parse(f"SELECT * FROM :g FROM :g {PATTERN}").dataset.default == (G,)
