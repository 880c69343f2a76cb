"""What happens when: the clock, instants of grids, what is late, what is held, and the first answer set."""

from __future__ import annotations

import pytest

from millstream import Engine, LateElementError
from tests.engine.notation import NAMESPACE, S, T, answer_set, emitted, nt, over

CLOSING = over("RANGE 10 STEP 5")


def test_an_instant_is_not_evaluated_before_time_has_passed_it() -> None:
    #  0    5
    #  .    x.y       the second element at 5 belongs to the instant 5 as well
    engine = Engine()
    query = engine.register(CLOSING, output="istream")
    engine.push(S, nt("a p b"), at_ms=5)
    assert emitted(query) == []
    engine.push(S, nt("c p d"), at_ms=5)
    engine.advance_to(5)
    assert emitted(query) == ["5 +a b", "5 +c d"]


def test_empty_elements_do_not_let_an_instant_be_evaluated_early() -> None:
    engine = Engine()
    query = engine.register(CLOSING, output="rstream")
    engine.push(S, "", at_ms=0)
    engine.push(S, "", at_ms=5)
    engine.push(S, nt("a p b"), at_ms=5)
    engine.finish()
    assert emitted(query) == ["5 +a b", "10 +a b"]


def test_a_load_between_elements_of_one_millisecond_does_not_close_its_window() -> None:
    engine = Engine()
    query = engine.register(over("RANGE 10 STEP 5", more="?x :q ?z"), output="istream")
    engine.push(S, nt("a p b"), at_ms=5)
    engine.load(nt("c q e").encode(), format="nt")
    engine.push(S, nt("c p d"), at_ms=5)
    engine.advance_to(5)
    assert emitted(query) == ["5 +c d e"]


def test_a_change_without_a_time_happens_after_a_millisecond_that_is_over() -> None:
    engine = Engine()
    query = engine.register("SELECT ?x { ?x ?p ?y }", output="changes")
    engine.advance_to(5)
    engine.insert(nt("a p b"))
    engine.read_changes(b"A <http://example.org/c> <http://example.org/p> <http://example.org/d> .", format="rdfpatch")
    engine.delete(nt("a p b"))
    assert emitted(query) == ["5 +a", "5 +c", "5 -a"]
    assert engine.stats["late"] == 0


def test_a_change_without_a_time_before_anything_came_leaves_all_times_open() -> None:
    engine = Engine()
    engine.insert(nt("a p b"))
    query = engine.register(over("RANGE 3"), output="changes")
    engine.push(S, nt("a p c"), at_ms=-100)
    assert emitted(query) == ["-100 +a c"]


def test_negative_times_fall_on_the_grid_as_others_do() -> None:
    #  -7   -5    0
    #   x    |    |
    engine = Engine()
    query = engine.register(over("RANGE 5 STEP 5"), output="changes")
    engine.push(S, nt("a p b"), at_ms=-7)
    engine.finish()
    engine.advance_to(3)
    assert emitted(query) == ["-5 +a b", "0 -a b"]


def test_what_comes_after_the_end_and_lies_before_it_is_late() -> None:
    #  0    5    10
    #  x---------)
    #       y           comes after finish, which let the time reach 10
    engine = Engine()
    query = engine.register(over("RANGE 10"), output="changes")
    engine.push(S, nt("a p b"), at_ms=0)
    engine.finish()
    engine.push(S, nt("c p d"), at_ms=5)
    engine.push(S, nt("e p f"), at_ms=10)
    assert engine.stats["late"] == 1
    assert emitted(query) == ["0 +a b", "10 -a b", "10 +e f"]


def test_what_comes_after_the_end_is_late_whatever_the_lateness() -> None:
    engine = Engine(lateness_ms=5)
    query = engine.register(over("ALL"))
    engine.push(S, nt("a p b"), at_ms=10)
    engine.finish()
    engine.push(S, nt("c p d"), at_ms=7)
    engine.finish()
    assert engine.stats["late"] == 1
    assert emitted(query) == ["10 +a b"]


def test_to_finish_before_anything_came_leaves_all_times_open() -> None:
    engine = Engine()
    query = engine.register(over("RANGE 3"))
    engine.finish()
    engine.push(S, nt("a p b"), at_ms=-5)
    assert emitted(query) == ["-5 +a b"]


def test_to_finish_twice_is_to_finish_once() -> None:
    engine = Engine()
    query = engine.register(CLOSING, output="rstream")
    engine.push(S, nt("a p b"), at_ms=1)
    engine.finish()
    once = emitted(query), engine.clock_ms
    engine.finish()
    assert (emitted(query), engine.clock_ms) == ([], once[1])


def test_time_does_not_go_back() -> None:
    engine = Engine()
    query = engine.register(over("RANGE 3"), output="changes")
    engine.push(S, nt("a p b"), at_ms=10)
    engine.advance_to(20)
    engine.advance_to(5)
    assert engine.clock_ms == 20
    engine.push(S, nt("a p b"), at_ms=20)
    assert engine.stats["late"] == 1
    assert emitted(query) == ["10 +a b", "13 -a b"]


@pytest.mark.parametrize("window", ["RANGE 3", "TRIPLES 2", "ELEMENTS 2", "EVENT", "RANGE 4 STEP 2", "SESSION 3"])
@pytest.mark.parametrize("summary", [True, False])
def test_late_lines_at_a_rate_count_for_nothing(window: str, summary: bool) -> None:
    lines = [nt(f"a{i} {'p' if i % 2 else 'r'} b") for i in range(8)]
    found = []
    for by_line in (True, False):
        engine = Engine(summary=summary)
        query = engine.register(over(window), output="changes")
        engine.push(S, nt("first p b"), at_ms=3)
        if by_line:
            for at_ms, line in enumerate(lines):
                engine.push(S, line, at_ms=at_ms)
        else:
            engine.read(S, "\n".join(lines).encode(), format="nt", time="rate:1000")
        engine.finish()
        stats = engine.stats
        found.append((emitted(query), [stats[k] for k in ("elements", "triples", "late")], len(engine.rejected())))
    assert found[0] == found[1]
    assert found[0][1] == [6, 6, 3]


def test_a_late_line_at_a_rate_raises_where_lateness_is_strict() -> None:
    engine = Engine(strict=True)
    engine.push(S, nt("first p b"), at_ms=3)
    with pytest.raises(LateElementError, match="its time is 0 ms, when only 3 ms and later was still taken"):
        engine.read(S, nt("a p b").encode(), format="nt", time="rate:1000")


def test_times_at_an_awkward_rate_are_exact() -> None:
    # 1.000000000000001 elements a second: products of numbers and denominators do not fit 64 bits.
    rate = "rate:1.000000000000001"
    lines = "\n".join(nt(f"a{i} p b") for i in range(40)).encode()
    engine = Engine()
    query = engine.register(over("ALL"))
    engine.read(S, lines, format="nt", time=rate)
    assert [x.at_ms for x in query.take()] == [i * 1000 * 10**15 // (10**15 + 1) for i in range(40)]


def test_a_union_of_dataset_and_window_reports_its_first_answer_with_the_first_change() -> None:
    engine = Engine()
    engine.load(nt("a p b").encode(), format="nt")
    query = engine.register(f"SELECT ?x FROM STREAM <{S}> [RANGE 3] {{ ?x <{NAMESPACE}p> ?y }}", output="changes")
    assert emitted(query) == []
    assert answer_set(query) == []
    engine.push(S, nt("c q d"), at_ms=7)
    assert emitted(query) == ["7 +a"]
    assert answer_set(query) == ["a"]


def test_asking_for_the_answer_set_early_does_not_change_it_later() -> None:
    engine = Engine()
    engine.load(nt("a p b", "c p d").encode(), format="nt")
    query = engine.register(f"SELECT ?x FROM STREAM <{S}> [RANGE 3] {{ ?x <{NAMESPACE}p> ?y }}")
    assert answer_set(query) == []
    engine.push(S, nt("e p f"), at_ms=1)
    assert answer_set(query) == ["a", "c", "e"]
    engine.delete(nt("a p b"), at_ms=2)
    assert answer_set(query) == ["c", "e"]


def test_what_is_held_is_seen_by_a_query_registered_meanwhile() -> None:
    #  0         10
    #  x         |      held until time minus 5 has come to it; the query comes before that
    engine = Engine(lateness_ms=5)
    engine.push(S, nt("a p b"), at_ms=0)
    query = engine.register(over("ALL"))
    engine.push(S, nt("c q d"), at_ms=10)
    assert emitted(query) == ["0 +a b"]


def test_time_passes_for_a_query_whose_stream_is_silent() -> None:
    engine = Engine()
    silent = engine.register(over("RANGE 3"), output="changes")
    engine.register(over("RANGE 3", stream=T))
    engine.push(S, nt("a p b"), at_ms=0)
    engine.push(T, nt("a p b"), at_ms=100)
    assert answer_set(silent) == []
    assert emitted(silent) == ["0 +a b", "3 -a b"]


def test_a_snapshot_holds_what_is_held() -> None:
    engine = Engine(lateness_ms=5)
    engine.register(over("ALL"))
    engine.push(S, nt("b p b"), at_ms=3)
    engine.push(S, nt("a p a"), at_ms=1)
    restored = Engine.restore(engine.snapshot())
    restored.push(S, nt("c p c"), at_ms=2)
    restored.finish()
    assert emitted(restored.queries[0]) == ["1 +a a", "2 +c c", "3 +b b"]


@pytest.mark.parametrize(
    "window",
    [
        f"RANGE {(1 << 60) - 1} STEP {(1 << 60) - 1}",
        f"RANGE {(1 << 60) - 1} SLIDE {1 << 59}",
        f"SESSION {(1 << 60) - 1}",
    ],
)
@pytest.mark.parametrize("output", ["changes", "rstream"])
def test_what_would_end_after_the_last_time_does_not_end(window: str, output: str) -> None:
    engine = Engine()
    query = engine.register(over(window), output=output)
    engine.push(S, nt("a p b"), at_ms=-((1 << 59) - 1))
    engine.push(S, nt("a p b"), at_ms=(1 << 59) - 1)
    engine.finish()
    assert answer_set(query) == ["a b"]
    assert engine.stats["stored"] == 1


def test_a_graph_that_a_blank_node_names_concerns_no_other_graph() -> None:
    engine = Engine()
    query = engine.register(f"SELECT ?x {{ GRAPH <{NAMESPACE}g> {{ ?x ?p ?y }} }}", output="changes")
    quads = [nt("a p b").replace(" .", f" <{NAMESPACE}g> ."), nt("c p d").replace(" .", " _:g .")]
    engine.load("\n".join(quads).encode(), format="nq")
    assert emitted(query) == ["0 +a"]
