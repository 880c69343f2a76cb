"""What the dictionary forgets never shows in answers."""

from __future__ import annotations

from millstream import Engine

S = "http://example.org/s"


def triple(subject: str, predicate: str) -> str:
    return f"<http://example.org/{subject}> <http://example.org/{predicate}> <http://example.org/o> ."


def test_a_triple_nobody_matches_that_comes_again_does_not_expire_twice() -> None:
    #  0    5 6   10   15 16
    #  x---------)
    #       x---------)         the same triple: seen until 15
    #         y---------)       what the query matches
    engine = Engine()
    query = engine.register(f"SELECT ?a WHERE {{ STREAM <{S}> [RANGE 10] {{ ?a <http://example.org/p> ?b }} }}", "rstream")
    engine.push(S, triple("x", "q"), at_ms=0)
    engine.snapshot()  # which lets the dictionary forget what it can
    engine.push(S, triple("x", "q"), at_ms=5)
    engine.push(S, triple("y", "p"), at_ms=6)
    engine.finish()
    assert [answer.at_ms for answer in query.take()] == [6, 15]
