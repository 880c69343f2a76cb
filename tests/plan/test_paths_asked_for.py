"""Paths are followed only from, or to, what their join partners bind."""

from __future__ import annotations

import pytest

from millstream import Engine
from millstream.language import parse_query
from millstream.plan.nodes import Closure, in_order
from millstream.plan.passes import plan_of

E = "http://example.org/"


def paths(text: str) -> list[Closure]:
    query = parse_query(f"PREFIX : <{E}> SELECT * {{ {text} }}")
    return [node for node in in_order(plan_of(query)) if isinstance(node, Closure)]


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("?x :knows+ ?y", None),
        ("?x :at :lab . ?x :knows+ ?y", "starts"),
        ("?x :knows+ ?y . ?y :at :lab", "ends"),
        ("STREAM :s [RANGE 5] { ?x :at ?room } ?x :knows* ?y", "starts"),
        ("VALUES ?x { :a UNDEF } ?x :knows+ ?y", None),
        ("OPTIONAL { ?x :at :lab } ?x :knows+ ?y", None),
        (":a :knows+ ?y . ?y :at :lab", None),
    ],
)
def test_a_path_is_asked_for_by_what_is_sure_to_bind_an_end(text: str, asks: str | None) -> None:
    assert [path.asks for path in paths(text)] == [asks]


def test_in_a_large_cycle_only_what_is_reached_from_those_asked_for_is_kept() -> None:
    size = 3000
    engine = Engine()
    engine.insert("\n".join(f"<{E}n{i}> <{E}knows> <{E}n{(i + 1) % size}> ." for i in range(size)), at_ms=0)
    query = engine.register(
        f"PREFIX : <{E}> SELECT ?x ?y {{ STREAM :s [NOW] {{ ?x :at ?room }} ?x :knows+ ?y }}", output="changes"
    )
    for at_ms, name in enumerate(("n5", "n6")):
        engine.push(E + "s", f"<{E}{name}> <{E}at> <{E}lab> .", at_ms=10 * at_ms)
        assert len(query.solutions()) == size
    engine.delete(f"<{E}n7> <{E}knows> <{E}n8> .", at_ms=10)
    assert {row["y"].value for row in query.solutions()} == {f"{E}n7"}
