"""What a query makes of what comes at once is bounded, also where no answer comes of it."""

from __future__ import annotations

import resource

import pytest

from millstream import ChangeLimitError, Engine, Limits, PendingLimitError
from tests.engine.notation import NAMESPACE, S, emitted, nt, over

PRODUCT = f"PREFIX : <{NAMESPACE}> SELECT * {{ ?x :p ?y . ?a :q ?b }}"
STAR = f"PREFIX : <{NAMESPACE}> SELECT * {{ ?x :p ?y . ?x :p ?z . ?x :p ?w }}"


def loaded(size: int, **options: int) -> Engine:
    engine = Engine(limits=Limits(change_rows=options.pop("change_rows", 1 << 26)), **options)  # type: ignore[arg-type]
    engine.insert(nt(*(f"a p b{i}" for i in range(size)), *(f"a q b{i}" for i in range(size))))
    return engine


@pytest.mark.parametrize("text", [PRODUCT, STAR], ids=["product", "star"])
def test_first_answers_are_refused_before_they_fill_memory(text: str) -> None:
    engine = loaded(3000, max_pending=100_000, change_rows=1_000_000)
    before = engine.stats
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(PendingLimitError, match="answers would wait to be taken, max_pending is 100000"):
        engine.register(text)
    # Kilobytes: nine million or more rows would take at least 500 MB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used < 300_000
    assert (engine.stats, engine.queries) == (before, ())


@pytest.mark.parametrize("text", [PRODUCT, STAR], ids=["product", "star"])
def test_a_query_with_few_answers_and_too_many_rows_is_refused(text: str) -> None:
    engine = loaded(100, change_rows=5000)
    before = engine.stats
    with pytest.raises(ChangeLimitError, match="more than 5,000 rows of what comes at once"):
        engine.register(text.replace("*", "(COUNT(DISTINCT *) AS ?n)"))
    assert (engine.stats, engine.queries) == (before, ())
    assert len(engine.register(text.replace("?a :q", ":none :q").replace("?x :p ?w", "?x :q :none")).take()) == 0


@pytest.mark.parametrize(("text", "most"), [(PRODUCT, 250), (STAR, 800)], ids=["product", "star"])
def test_rows_are_counted_over_all_parts_in_which_a_graph_is_shown(
    text: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No part brings as many: the last of 16 triples brings 16 and 721 rows."""
    monkeypatch.setattr("millstream.engine.windows.window_state._AT_ONCE", 1)
    engine = loaded(16, change_rows=most)
    with pytest.raises(ChangeLimitError, match=f"more than {most} rows of what comes at once"):
        engine.register(text.replace("*", "(COUNT(DISTINCT *) AS ?n)"))
    assert len(loaded(6, change_rows=most).register(text).take()) == (36 if text == PRODUCT else 216)


def test_leaves_of_a_star_are_counted_without_rows() -> None:
    engine = loaded(100, change_rows=5000)
    query = engine.register(STAR.replace("*", "(COUNT(*) AS ?n)"), output="changes")
    engine.delete(nt("a p b0"))
    again = Engine.restore(engine.snapshot())
    for one in (engine, again):
        one.insert(nt("a p b0", "b p c"))
        one.delete(nt("a p b7"))
    told = emitted(query)
    assert told == ["0 +1000000", "0 -1000000", "0 +970299", "0 -970299", "0 +1000001", "0 -1000001", "0 +970300"]
    assert emitted(again.queries[0]) == told


def test_products_are_counted_without_rows() -> None:
    engine = loaded(100, change_rows=5000)
    query = engine.register(PRODUCT.replace("*", "(COUNT(*) AS ?n)"), output="changes")
    engine.delete(nt("a p b0"))
    engine = Engine.restore(engine.snapshot())
    (query,) = engine.queries
    engine.insert(nt("a q b100", "b q c"))
    assert emitted(query) == ["0 +10000", "0 -10000", "0 +9900", "0 -9900", "0 +10098"]


def test_filters_on_a_product_are_asked_before_rows_are_counted() -> None:
    engine = loaded(100, change_rows=5000)
    query = engine.register(PRODUCT.replace(":q ?b", ":q ?b FILTER(STR(?y) = STR(?b))"))
    assert len(query.take()) == 100


def test_who_is_refused_leaves_others_of_its_plan_alone() -> None:
    text = "PREFIX : <" + NAMESPACE + "> SELECT (COUNT(DISTINCT *) AS ?n) {{ ?x :{} ?y . ?a :q ?b . ?c :q ?d }}"
    engine = loaded(20, change_rows=5000)
    first = engine.register(text.format("none"), output="changes")
    with pytest.raises(ChangeLimitError):
        engine.register(text.format("p"), output="changes")
    other = engine.register(f"PREFIX : <{NAMESPACE}> SELECT ?y {{ :a :q ?y }}", output="changes")
    engine.insert(nt("x none y", "a q b20"))
    assert emitted(first) == ["0 +0", "0 -0", "0 +441"]
    assert len(other.take()) == 21


def test_an_element_with_too_many_rows_stops_the_engine_and_a_snapshot_goes_on() -> None:
    engine = loaded(100, change_rows=5000)
    query = engine.register(over("ALL", "?s :r ?t", more="?x :p ?y . ?a :q ?b"))
    kept = engine.snapshot()
    for _ in range(2):
        with pytest.raises(ChangeLimitError, match="more than 5,000 rows"):
            engine.push(S, nt("x r y"), at_ms=1)
    for call in (query.take, engine.snapshot, lambda: engine.clock_ms):
        with pytest.raises(ChangeLimitError, match="the engine has stopped; go on with a snapshot"):
            call()
    again = Engine.restore(kept)
    again.push(S, nt("x s y"), at_ms=1)
    assert again.clock_ms == 1


def test_queries_that_feed_each_other_without_end_are_stopped() -> None:
    engine = Engine(limits=Limits(chained_elements=50))
    engine.register(
        f"PREFIX : <{NAMESPACE}> REGISTER ISTREAM <{S}> AS "
        f"CONSTRUCT {{ ?x :p ?y }} {{ STREAM <{S}> [EVENT] {{ ?x :p ?y }} }}"
    )
    kept = engine.snapshot()
    with pytest.raises(ChangeLimitError, match="more than 50 elements of one change"):
        engine.push(S, nt("a p b"), at_ms=1)
    with pytest.raises(ChangeLimitError, match="the engine has stopped"):
        engine.push(S, nt("a q b"), at_ms=2)
    again = Engine.restore(kept)
    again.push(S, nt("a q b"), at_ms=2)
    assert again.clock_ms == 2
