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


HOST = "SELECT * { STREAM :s [RANGE 5] { ?a :p ?b . ?b :q ?c } }"
LONG = " ".join(f"?v{i} :p ?v{i + 1} ." for i in range(65))
REFUSED = {
    "a function": "SELECT * { ?a :p ?b BIND('kept' AS ?k) FILTER(:f(?a)) STREAM :s [RANGE 5] { ?b :q ?c } }",
    "beside what another one reads": HOST.replace("} }", f"}} OPTIONAL {{ {LONG} }} }}"),
    "above what another one reads": HOST.replace("} }", f"}} BIND('kept' AS ?k) MINUS {{ ?c :r ?d {{ {LONG} }} }} }}"),
}


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("before", [(), (HOST,)], ids=["alone", "with another one"])
def test_a_query_that_is_refused_leaves_nothing_behind(before, what):
    engine, other = ms.Engine(), ms.Engine()
    for one in (engine, other):
        for text in before:
            one.register(PREFIX + text)
    with pytest.raises(ms.UnsupportedQueryError):
        engine.register(PREFIX + REFUSED[what])
    answers = []
    for one in (engine, other):
        one.register(PREFIX + "SELECT ?c (COUNT(*) AS ?n) { STREAM :s [RANGE 5] { ?a :p ?b . ?b :q ?c } } GROUP BY ?c")
        one.push("http://x/s", "<http://x/a> <http://x/p> <http://x/b> .\n<http://x/b> <http://x/q> <http://x/c> .", 1)
        gone = ms.Engine.restore(one.snapshot())
        gone.advance_to(20)
        answers.append([[str(answer) for answer in query.take()] for query in gone.queries])
        assert all(len(found) == 1 for found in answers[-1])
    assert answers[0] == answers[1]
    assert len(engine._core.runs) == len(other._core.runs)
    for query in engine.queries:
        query.close()
    engine.advance_to(40)
    engine._core.housekeeping()
    assert engine._core.dictionary.dump()[1].to_pylist() == []


def test_what_is_too_large_together_with_others_of_its_shape_runs_by_itself():
    engine = ms.Engine()
    engine.insert("<http://x/a> <http://x/p> <http://x/a> .\n<http://x/b> <http://x/p> <http://x/a> .", at_ms=1)
    queries = [engine.register(PREFIX + path(63).replace("{", f"{{ {name} :p ?v0 . ")) for name in (":a", ":b", ":c")]
    assert [len(query.take()) for query in queries] == [1, 1, 0]
