"""Query texts that are nearly right, or deep, or long: registered or refused with a place."""

from __future__ import annotations

from random import Random

from millstream import Engine, MillstreamError, QueryError
from tests.engine.any_query import Author
from tests.fuzz import garbage

WORDS = (
    "SELECT", "WHERE", "{", "}", "(", ")", "[", "]", "?x", "$y", "*", "+", "|", "/", "^", "!", "=", "<", ">=", "&&",
    "||", ".", ";", ",", "FILTER", "BIND", "AS", "OPTIONAL", "MINUS", "UNION", "EXISTS", "NOT", "GROUP BY", "HAVING",
    "ORDER BY", "LIMIT", "OFFSET", "1", "-1", "1e400", "99999999999999999999", "0.1", "true", '"a"', "'''b'''",
    '"a"@en', '"1"^^<http://www.w3.org/2001/XMLSchema#int>', "<http://e/a>", "<a b>", ":x", "e:x", "_:b", "a",
    "GRAPH", "STREAM", "WINDOW", "FROM", "NAMED", "ON", "RANGE 5", "STEP 0", "TRIPLES 1", "NOW", "REGISTER",
    "SESSION 5", "LANDMARK",
    "ISTREAM", "CONSTRUCT", "ASK", "DESCRIBE", "VALUES", "UNDEF", "COUNT(*)", "SUM(?x)", "MEDIAN(?x)",
    "GROUP_CONCAT(?x; SEPARATOR=',')", "REGEX(?x, '(')", "REPLACE(?x, '.', '$9')", "SUBSTR(?x, -1)", "NOW()",
    "RAND()", "BNODE()", "PREFIX e: <http://e/>", "BASE <x>", '# comment\n', '\u2028', '\x00', '\ud800',
    "SERVICE <http://e/s> {}", "<<", ">>", "{|", "|}", "INSERT DATA", "P1D", "PT0S", "30 minutes",
    "RANGE 99999999999999999999d", "%", '\\u0041', '\\uD800',
)  # fmt: skip
NESTS = (
    ("{ ", " }"),
    ("( ", " )"),
    ("{ SELECT * ", " }"),
    ("OPTIONAL { ", " }"),
    ("FILTER(!", ")"),
    ("[ :p ", " ]"),
    ("(", ")+"),
)


def text(chance: Random) -> str:
    if chance.random() < 0.1:
        return " ".join(chance.choice(WORDS) for _ in range(chance.randrange(30)))
    found = Author(chance.randrange).query(chance.choice([0, 1, 2, 3]))
    for _ in range(chance.choice([0, 1, 1, 2, 4])):
        words = found.split(" ")
        at = chance.randrange(len(words))
        match chance.randrange(6):
            case 0:
                words[at] = chance.choice(WORDS)
            case 1:
                words.insert(at, chance.choice(WORDS))
            case 2:
                del words[at]
            case 3:
                words[at:at] = words[chance.randrange(len(words)) :][: chance.choice([1, 3, 9])]
            case 4 if chance.random() < 0.2:
                opened, closed = chance.choice(NESTS)
                times = chance.choice([3, 40, 3000])
                words[at] = f"{opened * times}{words[at]}{closed * chance.choice([times, times, 0])}"
            case _:
                changed = garbage.damaged(chance, words[at].encode("utf-8", "surrogatepass"))
                words[at] = changed.decode("utf-8", chance.choice(["replace", "surrogateescape", "ignore"]))
        found = " ".join(words)
    return found


def queries(chance: Random) -> None:
    """A query is refused with a message that can be shown, or registered, explained and fed."""
    engine = Engine()
    engine.insert("<http://example.org/n0> <http://example.org/p0> <http://example.org/n1> .", at_ms=0)
    for _ in range(chance.randrange(1, 4)):
        given = text(chance)
        try:
            query = engine.register(given, chance.choice([None, "changes"]))
        except MillstreamError as error:
            _check(error, given)
        else:
            str(query.explain())
            query.solutions()
    for stream in ("s0", "s1"):
        triple = "<http://example.org/n0> <http://example.org/p0> <http://example.org/n1> ."
        engine.push(f"http://example.org/{stream}", triple, at_ms=1)
    engine.delete("<http://example.org/n0> <http://example.org/p0> <http://example.org/n1> .", at_ms=2)
    engine.advance_to(20)
    for query in engine.queries:
        query.take()
    Engine.restore(engine.snapshot()).finish()


def _check(error: MillstreamError, given: str) -> None:
    """What is told can be read, and is about a place in the text."""
    assert len(str(error)) < 4 * len(given) + 5000
    if isinstance(error, QueryError) and error.place is not None:
        assert 0 <= error.place.start <= error.place.end <= len(given) + 1
        assert min(error.place.line, error.place.column) >= 1
