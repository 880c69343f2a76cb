"""A connected part: what it counts of what it keeps."""

from __future__ import annotations

import pytest

from millstream import Engine
from tests.engine.notation import S, nt, over


@pytest.mark.parametrize(
    ("pattern", "triples", "stored"),
    [
        ("?x :p ?y", ["a p b", "a p c"], 2),
        ("?x :p ?y . ?y :q :k", ["a p b"], 1),
        ("?x :p ?y . ?y :q :k", ["a p b", "b q k"], 2),
        ("?x :p ?y . ?y :p ?z . ?z :q :k", ["a p b"], 2),
        ("?x :p ?y . ?x ?any ?z", ["a p b"], 2),
    ],
    ids=["edges", "one that waits", "one that waited", "waits for one of two patterns", "three variables"],
)
def test_each_triple_of_a_pattern_is_counted_once_whether_it_waits_or_not(
    pattern: str, triples: list[str], stored: int
) -> None:
    engine = Engine()
    query = engine.register(over("RANGE 10", pattern))
    for i, triple in enumerate(triples):
        engine.push(S, nt(triple), at_ms=i)
    assert query.stats["stored"] == stored
    engine.advance_to(20)
    assert query.stats["stored"] == 0
