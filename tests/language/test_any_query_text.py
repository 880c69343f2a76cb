"""Whatever the text, it is read or refused with a place inside of it: random characters and tokens, damaged queries.

Each family finds what the others miss: characters find the lexer's corners, tokens the grammar's, damaged queries those
of the translation, which only texts that parse can reach.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from millstream.errors import QueryError
from millstream.language import parse_query
from millstream.language.functions import AGGREGATES, FUNCTIONS
from millstream.language.parser.keywords import KEYWORDS
from millstream.plan.explain.query import explain

# Every construct of the grammar once or more, so that damage has something to damage without the outside suites.
SEEDS = (
    """PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT ?x (COUNT(DISTINCT ?y) AS ?n) (GROUP_CONCAT(?z; SEPARATOR=", ") AS ?all) WHERE {
  STREAM :s [RANGE 1h30m SLIDE 5m] { ?x :p ?y ; :q "a"@en, 'b'^^xsd:string, 1.5e3, -5 . }
  STREAM [TRIPLES 10] :t { _:b :r [ :s ( 1 ?z ) ] FILTER(?z > 1 && !BOUND(?w) || ?z IN (1, 2)) }
  GRAPH ?g { ?x (:a|^:b)/!(:c|^:d)*/:e+ ?y } OPTIONAL { ?y a :T FILTER EXISTS { ?y :u true } } MINUS { ?x :v ?y }
  { ?x :p 1 } UNION { ?x :p 2 } BIND(?y * 2 - 1 AS ?k) VALUES (?y ?m) { (UNDEF :z) (1 2) }
  { SELECT DISTINCT ?x { ?x ?p ?o } ORDER BY DESC(?o) LIMIT 3 OFFSET 1 }
} GROUP BY ?x (STR(?k) AS ?l) HAVING (COUNT(?y) > 1) ORDER BY ?n DESC(AVG(?y)) LIMIT 10""",
    """REGISTER RSTREAM <out> AS PREFIX e: <http://e/> CONSTRUCT { ?a e:p [] . _:x e:q ?b } FROM <g> FROM NAMED <h>
FROM NAMED WINDOW <w> ON STREAM e:s [RANGE PT10M STEP PT1M] FROM NAMED WINDOW ON e:t [NOW] AS <v>
WHERE { WINDOW <w> { ?a e:p ?b } WINDOW <v> { ?b e:p ?a } FILTER NOT EXISTS { ?a e:q ?b } } ORDER BY ?a LIMIT 5""",
    """BASE <http://b/> REGISTER QUERY q AS ASK FROM STREAM <s> [RANGE TRIPLES 10]
{ ?x <p> ?y . FILTER regex(?y, "a.*", 'i') }""",
    """SELECT ISTREAM ?x count(?y) as ?n FROM NAMED STREAM <s> [NOW - 10 S SLIDE 1 S]
{ ?x <p> ?y ; } GROUP BY ?x HAVING (?n > 1)""",
    """DESCRIBE ?x <http://e/> { ?x <p> \"\"\"long "string\" \"\"\" } VALUES ?x { <a> UNDEF }""",
    """CONSTRUCT WHERE { ?s <p> ?o ; <q> 'x' }""",
    """SELECT * { STREAM <s> [RANGE 2d TUMBLING] { ?x a ?y } STREAM <s> [EVENT] { ?x <p>? ?y }
SERVICE SILENT <e> { ?x ?y ?z } }""",
)
TOKENS = (
    [k.lstrip("_") for k in KEYWORDS]
    + sorted(FUNCTIONS)
    + sorted(AGGREGATES)
    + "{ } ( ) [ ] . ; , | || && ! != = < > <= >= + - * / ^ ^^ ? a () [] <x> <http://e/x> : :x p:q _:b ?x ?y $z".split()
    + "1 1.5 1e5 -1 +1.5 'x' \"y\" '''z''' @en 30s PT10M 30 minutes # \\u0041 \\uD800 \ufeff \x00 é".split(" ")
    + ["\n", "PREFIX : <http://e/>", "SELECT * {", "STREAM <s> [", "GROUP BY"]
)


def read_or_refuse(text: str) -> bool:
    """Whether a text is a query. It must be one, or be refused with a place in it; what is read can be explained."""
    try:
        query = parse_query(text)
    except QueryError as error:
        check_place(error, text)
        return False
    assert explain(query)
    return True


def check_place(error: QueryError, text: str) -> None:
    place = error.place
    assert place is not None, f"no place: {error}"
    assert 0 <= place.start <= place.end <= len(text)
    # An escape may stand for the end of a line.
    assert 1 <= place.line <= text.count("\n") + 1 + text.count("\\u") + text.count("\\U")
    assert place.column >= 1
    assert str(error).startswith(f"line {place.line}, column {place.column}: ")


@pytest.mark.parametrize("text", SEEDS)
def test_the_seeds_are_queries(text: str) -> None:
    assert read_or_refuse(text)


@given(st.text(max_size=200))
@example("\ud800")
@example("ASK{}\udfff")
@example("\\ud800")
@example("'")
@example("SELECT * {?s ?p '")
@example('"""\n')
@settings(max_examples=200, deadline=None)
def test_any_characters(text: str) -> None:
    read_or_refuse(text)


@given(st.text(alphabet="{}()[]<>?$:._-+*/|^!=&,;'\"\\@#0aPTs \n\t\r\ufeff\x00é", max_size=60), st.sampled_from(SEEDS))
@settings(max_examples=150, deadline=None)
def test_any_characters_behind_the_start_of_a_query(text: str, seed: str) -> None:
    cut = len(text) * 7919 % len(seed)
    read_or_refuse(seed[:cut] + text)


@given(st.lists(st.sampled_from(TOKENS), max_size=40).map(" ".join))
@settings(max_examples=300, deadline=None)
def test_any_tokens(text: str) -> None:
    read_or_refuse(text)


@given(st.lists(st.sampled_from(TOKENS), max_size=12).map(" ".join), st.sampled_from(["{ %s }", "{ ?s ?p ?o FILTER(%s) }"]))
@settings(max_examples=300, deadline=None)
def test_any_tokens_inside_a_pattern(tokens: str, around: str) -> None:
    read_or_refuse("PREFIX : <http://e/> SELECT * " + around % tokens)


def cut_out(text: str, random: random.Random) -> str:
    start = random.randrange(len(text))
    return text[:start] + text[start + random.randrange(1, 15) :]


def truncate(text: str, random: random.Random) -> str:
    return text[: random.randrange(len(text))]


def repeat(text: str, random: random.Random) -> str:
    start = random.randrange(len(text))
    piece = text[start : start + random.randrange(1, 40)]
    return text[:start] + piece * random.randrange(2, 4) + text[start:]


def swap(text: str, random: random.Random) -> str:
    words = text.split(" ")
    i, j = random.randrange(len(words)), random.randrange(len(words))
    words[i], words[j] = words[j], words[i]
    return " ".join(words)


def insert(text: str, random: random.Random) -> str:
    start = random.randrange(len(text))
    return text[:start] + random.choice([" ", ""]) + random.choice(TOKENS) + text[start:]


def rename(text: str, random: random.Random) -> str:
    """One variable for another: what parses before still parses, but may mean nothing."""
    old, new = random.choice("xyzngkl"), random.choice("xyzngklab")
    return text.replace(f"?{old}", f"?{new}", random.randrange(1, 4))


DAMAGES: tuple[Callable[[str, random.Random], str], ...] = (cut_out, truncate, repeat, swap, insert, rename, rename)


@given(st.sampled_from(SEEDS), st.integers(1, 4), st.randoms(use_true_random=False))
@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_damage_to_a_query(text: str, times: int, random: random.Random) -> None:
    for _ in range(times):
        text = random.choice(DAMAGES)(text, random) or "?"
    read_or_refuse(text)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_beginning_of_a_query(seed: str) -> None:
    for end in range(0, len(seed), 5):
        read_or_refuse(seed[:end])


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        "ASK { FILTER(" + "(" * 20_000,
        "ASK " + "{" * 20_000,
        "ASK { ?s ?p " + "(" * 20_000,
        "ASK { ?s " + "(" * 20_000,
        "ASK { ?s ?p " + "'" * 20_001,
        'ASK { ?s ?p """' + '"" ' * 20_000,
        "ASK { ?s ?p " + "a" * 100_000,
        "ASK { ?s ?p " + "a." * 50_000,
        "ASK { ?s ?p :" + "." * 100_000,
        "ASK { ?s ?p :" + "%41" * 30_000 + "%",
        "ASK { ?s ?p <" + "a" * 100_000,
        "ASK { ?s ?p (" + " " * 100_000,
        "ASK { ?s ?p " + ("(" + " " * 50) * 2_000,
        "ASK { ?s ?p " + "(#\n" * 10_000,
        "ASK { ?s ?p " + "1" * 100_000,
        "ASK { ?s ?p " + "-" * 10_000,
        "ASK { STREAM <s> [RANGE " + "1h" * 20_000,
        "ASK { STREAM <s> [RANGE P" + "1" * 20_000,
        "ASK { STREAM <s> [RANGE " + "1 " * 20_000,
        "PREFIX " * 20_000,
        "#" * 100_000,
        "\n" * 100_000,
        "\\u0041" * 20_000,
        "?" * 20_000,
    ],
    ids=lambda text: text[:28].strip(),
)
def test_long_texts_take_time_in_proportion(text: str) -> None:
    read_or_refuse(text)
