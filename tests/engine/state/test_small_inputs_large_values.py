"""Expressions that make much of little: what is too large is an error value, counted, and never made."""

import time
import tracemalloc

import pyarrow as pa
import pytest

import millstream as ms

S, OUT = "http://x/s", "http://x/out"
SMALL = ms.Limits(value_bytes=1000)


def engine_with(query, limits=None, **options):
    engine = ms.Engine(limits=limits, **options)
    return engine, engine.register(query)


def values(query, variable="v"):
    return [None if variable not in a.bindings else a.bindings[variable].value for a in query.take()]


def over_stream(where, form="SELECT ?v"):
    return f"{form} {{ STREAM <{S}> [RANGE 10s] {{ ?s <http://x/p> ?x }} {where} }}"


def say(engine, text, at_ms=1, subject="a"):
    if text[0] != '"':
        text = f'"{text}"^^<http://www.w3.org/2001/XMLSchema#{"decimal" if "." in text else "integer"}>'
    engine.push(S, f"<http://x/{subject}> <http://x/p> {text} .", at_ms)


# Regular expressions --------------------------------------------------------------------------------------------------


def test_a_pattern_that_backtracks_for_ever_elsewhere_does_not_stop_the_engine():
    engine, query = engine_with(over_stream('FILTER(REGEX(?x, "^(a+)+$")) BIND(?x AS ?v)'))
    say(engine, f'"{"a" * 40}!"')
    say(engine, f'"{"a" * 40}"')
    assert values(query) == ["a" * 40]


def test_a_match_that_is_given_up_is_an_error_and_counted():
    engine, query = engine_with(over_stream('BIND(COALESCE(REGEX(?x, "^(a+)+\\\\1$"), "given up") AS ?v)'))
    began = time.perf_counter()
    say(engine, f'"{"a" * 40}!"')
    say(engine, '"aa"')
    assert values(query) == ["given up", "true"]
    assert time.perf_counter() - began < 10
    assert engine.stats["refused"] == 1


def test_patterns_from_data_are_safe_as_well():
    engine, query = engine_with(
        over_stream('FILTER(REGEX("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", ?x)) BIND(?x AS ?v)')
    )
    for pattern in ("^(a+)+$", "(a{1000}){1000}", "^(a|aa)*!", "((", "(a*)*\\\\1!"):
        say(engine, f'"{pattern}"')
    assert values(query) == ["^(a|aa)*!", "(a*)*\\1!"]


# Strings --------------------------------------------------------------------------------------------------------------


def doubled(times):
    return "".join(f"BIND(CONCAT(?x{i}, ?x{i}) AS ?x{i + 1}) " for i in range(times))


def test_strings_that_double_stop_at_the_limit_before_they_are_made():
    engine, query = engine_with(
        over_stream("BIND(?x AS ?x0)" + doubled(40) + "BIND(STRLEN(?x24) AS ?v) BIND(?x25 AS ?w)", "SELECT ?v ?w")
    )
    tracemalloc.start()
    say(engine, '"a"')
    (answer,) = query.take()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert {k: v.value for k, v in answer.bindings.items()} == {"v": str(1 << 24)}
    assert peak < 600 << 20
    assert engine.stats["refused"] == 1  # from there on it is unbound


@pytest.mark.parametrize(
    ("function", "fits", "too_long"),
    [
        ("CONCAT(?x, ?x)", '"a"', 500),
        ("CONCAT(?x, ?x)", '"é"', 250),
        ("REPLACE(?x, 'a', 'bbbb')", '"a"', 250),
        ("REPLACE(?x, '(a)', '$1$1$1$1')", '"a"', 250),
        ("ENCODE_FOR_URI(?x)", '"é"', 166),
        ("UCASE(?x)", '"ß"', 500),
        ("LCASE(?x)", '"A"', 1000),
        ("STRLANG(?x, 'en')", '"a"', 998),
        ("STRDT(?x, <http://x/1>)", '"a"', 990),
    ],
)
def test_functions_that_lengthen_strings_have_a_limit(function, fits, too_long):
    engine, query = engine_with(over_stream(f"BIND({function} AS ?v)"), SMALL)
    char = fits.strip('"')
    say(engine, f'"{char * too_long}"')
    say(engine, f'"{char * (too_long + 1)}"')
    first, second = values(query)
    assert first is not None
    assert second is None
    assert engine.stats["refused"] == 1


def test_what_data_says_may_be_longer_than_what_is_computed():
    engine, query = engine_with(over_stream("BIND(STR(?x) AS ?v)"), SMALL)
    say(engine, f'"{"a" * 5000}"')
    assert values(query) == ["a" * 5000]


def test_two_engines_have_limits_of_their_own():
    text = over_stream("BIND(CONCAT(?x, ?x) AS ?v)")
    engine, query = engine_with(text, ms.Limits(value_bytes=10))
    other, asked = engine_with(text)
    for each in (engine, other):
        say(each, '"abcdef"')
    assert (values(query), values(asked)) == ([None], ["abcdef" * 2])
    assert (engine.stats["refused"], other.stats["refused"]) == (1, 0)


def test_a_snapshot_keeps_the_limit_and_the_count():
    engine, query = engine_with(over_stream("BIND(CONCAT(?x, ?x) AS ?v)", "SELECT ?s ?v"), ms.Limits(value_bytes=10))
    say(engine, '"abcdef"')
    query.take()
    engine = ms.Engine.restore(engine.snapshot())
    say(engine, '"abcdef"', 2, "b")
    assert values(engine.queries[0]) == [None]
    assert engine.stats["refused"] == 2


def test_an_error_value_is_taken_back_as_it_was_given():
    engine, query = engine_with(over_stream("BIND(CONCAT(?x, ?x) AS ?v)", "SELECT ?s ?v"), SMALL)
    engine.push(S, f'<http://x/a> <http://x/p> "{"a" * 501}" .', 0)
    engine.advance_to(20_000)
    assert query.solutions() == []


# Numbers --------------------------------------------------------------------------------------------------------------


def squared(times):
    return "".join(f"BIND(?x{i} * ?x{i} AS ?x{i + 1}) " for i in range(times))


@pytest.mark.parametrize("number", ["10", "-12345678901234567890", "1.5", "0.1", "1.0"])
def test_numbers_that_square_stop_at_the_limit(number):
    began = time.perf_counter()
    bound, nested = over_stream("BIND(?x AS ?x0)" + squared(30) + "BIND(?x30 AS ?v)"), "?x"
    for _ in range(12):
        nested = f"({nested} * {nested})"
    engine, query = engine_with(bound)
    asked = engine.register(over_stream(f"BIND({nested} AS ?v)"))
    say(engine, number)
    assert values(query) == (["1"] if number == "1.0" else [None])
    found = values(asked)
    assert found == (["1"] if number == "1.0" else [None] if len(number) > 10 else found)
    assert time.perf_counter() - began < 10


def test_numbers_may_have_ten_thousand_digits():
    engine, query = engine_with(over_stream("BIND(?x * 10 AS ?v)"))
    say(engine, "1" + "0" * 9998)
    say(engine, "1" + "0" * 9999)
    assert values(query) == ["1" + "0" * 9999, None]
    assert engine.stats["refused"] == 1


def test_the_limit_of_values_is_one_of_digits():
    engine, query = engine_with(over_stream("BIND(?x * ?x AS ?v)"), SMALL)
    say(engine, "1" + "0" * 499)
    say(engine, "1" + "0" * 500)
    say(engine, "0." + "0" * 498 + "1")
    say(engine, "0." + "0" * 499 + "1")
    assert [v is None for v in values(query)] == [False, True, False, True]


@pytest.mark.parametrize(
    "literal",
    [
        '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>',
        '"{}.{}"^^<http://www.w3.org/2001/XMLSchema#decimal>',
        '"{}"^^<http://www.w3.org/2001/XMLSchema#unsignedByte>',
        '"{}-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
        '"2000-01-01T00:00:00.{}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
        '"{}"^^<http://www.w3.org/2001/XMLSchema#gYear>',
        '"P{}Y"^^<http://www.w3.org/2001/XMLSchema#duration>',
        '"PT0.{}S"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>',
        '"1e{}"^^<http://www.w3.org/2001/XMLSchema#double>',
        '"{}"^^<http://www.w3.org/2001/XMLSchema#float>',
    ],
)
@pytest.mark.parametrize("digits", [5000, 2_000_000])
def test_long_numbers_and_dates_in_data_are_terms_without_a_hurry(literal, digits):
    #  5000 digits are more than Python converts unasked, two million more than it should.
    began = time.perf_counter()
    where = "BIND(CONCAT(STR(?x + 1 > 0), STR(YEAR(?x)), STR(SECONDS(?x)), STR(xsd:integer(?x))) AS ?v)"
    prefix = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
    engine = ms.Engine()
    queries = [
        engine.register(prefix + over_stream(text, form))
        for text, form in (
            ("BIND(?x + 1 > 0 AS ?v)", "SELECT ?v"),
            ("BIND(YEAR(?x) + SECONDS(?x) AS ?v)", "SELECT ?v"),
            ("BIND(xsd:integer(STR(?x)) AS ?v)", "SELECT ?v"),
            ("BIND(xsd:decimal(?x) AS ?v)", "SELECT ?v"),
            ("BIND(xsd:string(?x) AS ?v)", "SELECT ?v"),
            ("FILTER(?x < ?x || ?x = 1)", "SELECT ?x"),
            ("", "SELECT (SUM(?x) AS ?v) (MAX(?x) AS ?m) (AVG(?x) AS ?n) (MEDIAN(?x) AS ?o)"),
            (where, "SELECT ?v"),
        )
    ]
    engine.register(prefix + over_stream("", "SELECT ?x") + " ORDER BY ?x LIMIT 1")
    say(engine, literal.replace("{}", "7" * digits))
    say(engine, "1", 2, "b")
    for query in queries:
        query.take()
    assert time.perf_counter() - began < 20


def test_sums_have_no_more_digits_than_numbers():
    engine, query = engine_with(over_stream("", "SELECT (SUM(?x) AS ?v)"))
    say(engine, "9" * 10_000)
    say(engine, "8" * 10_000, 2, "b")
    engine.advance_to(10_001)
    assert values(query) == ["9" * 10_000, None, "8" * 10_000]
    assert engine.stats["refused"] == 1


# Groups ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batches", ["one by one", "at once"])
def test_a_concatenated_group_is_an_error_while_it_is_too_large(batches):
    #  100 each, SEPARATOR of one: nine are 908 bytes, ten 1009
    engine, query = engine_with(over_stream("", "SELECT (GROUP_CONCAT(?x; SEPARATOR='|') AS ?v) (COUNT(*) AS ?n)"), SMALL)
    elements = [(f"<http://x/{i}>", "<http://x/p>", f'"{i:0100}"', i + 1) for i in range(12)]
    if batches == "at once":
        engine.push_table(S, pa.table(dict(zip(("s", "p", "o", "at_ms"), zip(*elements, strict=True), strict=True))))
    else:
        for s, p, o, at_ms in elements:
            engine.push(S, f"{s} {p} {o} .", at_ms)
    engine.advance_to(10_003)  # three have left
    engine.finish()
    lengths = {}
    for answer in query.take():
        if answer.weight > 0:
            lengths.setdefault(int(answer.bindings["n"].value), set()).add("v" in answer.bindings)
    assert lengths == {n: {n < 10} for n in range(13)}
    assert engine.stats["refused"] > 0


def test_a_group_of_a_few_large_strings_is_never_put_together():
    engine, query = engine_with(over_stream("", "SELECT (STRLEN(GROUP_CONCAT(?x)) AS ?v)"))
    tracemalloc.start()
    for i in range(5):
        say(engine, f'"{"a" * (4 << 20)}{i}"', i)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert values(query)[-1] is None
    assert peak < 300 << 20


# Streams that feed themselves -----------------------------------------------------------------------------------------


def test_a_string_that_doubles_from_change_to_change_stops_growing():
    engine = ms.Engine(limits=SMALL)
    engine.register(
        f"REGISTER STREAM <{OUT}> AS CONSTRUCT ISTREAM {{ ?s <http://x/p> ?v }} "
        f"FROM NAMED WINDOW <http://x/w> ON <{S}> [RANGE PT10S] "
        "WHERE { WINDOW <http://x/w> { ?s <http://x/p> ?x } BIND(CONCAT(?x, ?x) AS ?v) }"
    )
    query = engine.register(f"SELECT ?v {{ STREAM <{OUT}> [NOW] {{ ?s <http://x/p> ?v }} }}")
    text = "ab"
    for at_ms in range(1, 15):
        say(engine, f'"{text}"', at_ms)
        found = values(query)
        text = found[0] if found else text
    assert len(text) == 512
    assert engine.stats["refused"] > 0
