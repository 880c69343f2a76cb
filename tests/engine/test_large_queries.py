"""Query texts that are too large: a clear error, or an answer, in time; never a crash."""

import time

import pytest

import millstream as ms

PREFIX = "PREFIX : <http://x/> "
N = 10_000


def registered(text):
    """What a query gives for one triple, within a time that nothing with a square in it would keep."""
    engine = ms.Engine()
    engine.register("SELECT * { ?s ?p ?o }").close()  # makes the parser
    began = time.process_time()
    try:
        query = engine.register(PREFIX + text)
        engine.insert("<http://x/a> <http://x/p> <http://x/b> .", at_ms=1)
        return len(query.take())
    finally:
        assert time.process_time() - began < 15


def path(length):
    return "SELECT * { " + " ".join(f"?v{i} :p ?v{i + 1} ." for i in range(length)) + " }"


@pytest.mark.parametrize("length", [65, N])
@pytest.mark.parametrize("stream", ["", "STREAM :s [RANGE 5s]"], ids=["dataset", "stream"])
def test_more_than_64_connected_patterns_are_refused_at_once(length, stream):
    with pytest.raises(ms.UnsupportedQueryError, match="more than 64 triple patterns"):
        registered(path(length).replace("{", f"{{ {stream} {{", 1).replace(" }", " } }"))


def test_64_connected_patterns_are_not():
    assert registered(path(63)) == 0


@pytest.mark.parametrize("parts", [257, N])
def test_many_parts_without_a_common_variable_are_refused(parts):
    with pytest.raises(ms.UnsupportedQueryError, match="more than 256 parts"):
        registered("SELECT * { " + " ".join(f"?v{i} :p ?w{i} ." for i in range(parts)) + " }")
    assert registered("SELECT * { " + " ".join(f"?v{i} :p ?w{i} ." for i in range(100)) + " }") == 1


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { " + " UNION ".join(f"{{ ?v :p{i} ?w }}" for i in range(N)) + " }",
        "SELECT * { ?v :p ?w " + "FILTER EXISTS { ?v :p ?w " * N + "}" * N + " }",
        "SELECT * { ?v :p ?w " + "OPTIONAL { ?v :p ?w " * N + "}" * N + " }",
        "SELECT * { ?v :p ?w FILTER(" + " || ".join(f"?w = {i}" for i in range(N)) + ") }",
        "SELECT * { ?v :p ?w BIND(" + "CONCAT(" * N + "?w" + ")" * N + " AS ?z) }",
        "SELECT * { ?v " + "/".join([":p"] * N) + " ?w }",
        "SELECT * { ?v :p ?w } ORDER BY " + " ".join(f"(?w + {i})" for i in range(N)) + " LIMIT 2",
        "SELECT (COUNT(*) AS ?c) { ?v :p ?w } GROUP BY " + " ".join(f"(?w + {i})" for i in range(N)),
        "SELECT (COUNT(*) AS ?c) { ?v :p ?w } GROUP BY " + " ".join(f"?w{i}" for i in range(1000)),
    ],
    ids=["UNION", "EXISTS", "OPTIONAL", "or", "CONCAT", "path", "ORDER BY", "GROUP BY", "GROUP BY variables"],
)
def test_what_is_nested_too_deeply_is_refused(text):
    with pytest.raises(ms.QuerySyntaxError, match="nested too deeply"):
        registered(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SELECT * { " + "(" * 10_000_000, "more than 10000 open brackets"),
        ("SELECT * " + "{" * 10_000_000, "more than 10000 open brackets"),
        ("SELECT * { VALUES ?x { " + "1 " * 5_000_000 + "} }", "more than 500000 words"),
    ],
    ids=["parentheses", "braces", "words"],
)
@pytest.mark.slow
def test_texts_of_ten_megabytes_are_read_no_further_than_needed(text, why):
    engine = ms.Engine()
    began = time.process_time()
    with pytest.raises(ms.QuerySyntaxError, match=why):
        engine.register(text)
    assert time.process_time() - began < 60


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("SELECT * { ?v :p ?w FILTER(" + "(" * 9000 + "?w" + ")" * 9000 + " = :b) }", 1),
        ("SELECT * { ?v :p ?w VALUES ?w {" + " ".join(f":v{i}" for i in range(100_000)) + " :b} }", 1),
        ("SELECT * { ?v :p ?w FILTER(?w IN (" + ", ".join(map(str, range(50_000))) + ")) }", 0),
        ("SELECT * { ?v :p ?w FILTER(?w IN (" + ", ".join(f'"{i}"' for i in range(50_000)) + ", :b)) }", 1),
        ("SELECT * { ?v :p ?w }" + "#" + "x" * 10_000_000, 1),
        (" " * 10_000_000 + "SELECT * { ?v :p ?w }", 1),
        ('SELECT * { ?v :p ?w FILTER(?w != "' + "x" * 10_000_000 + '") }', 1),
        ('SELECT * { ?v :p ?w FILTER(?w != """' + 'x"\\n' * 1_000_000 + '""") }', 1),
        ("SELECT * { ?v :p ?w FILTER(?w != :" + "x.%41" * 1_000_000 + ") }", 1),
    ],
    ids=["parentheses", "VALUES", "numbers", "strings", "comment", "spaces", "string", "long string", "name"],
)
def test_what_is_only_long_is_answered(text, answers):
    assert registered(text) == answers
