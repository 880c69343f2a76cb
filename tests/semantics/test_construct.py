"""CONSTRUCT: a set of triples, and a stream that other queries may read."""

from __future__ import annotations

import pytest

from tests.semantics.conftest import MakeMachine, emits
from tests.semantics.notation import over

# The answer set -------------------------------------------------------------------------------------------------------


def test_construct_gives_triples_as_they_appear_and_disappear(machine: MakeMachine) -> None:
    #  0         10
    #  a---------)        RANGE 10
    m = machine()
    q = m.register("CONSTRUCT { ?x :seen ?y } { STREAM :s [RANGE 10] { ?x :p ?y } }", output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.finish()
    emits(q, "0 +a,seen,1 | 10 -a,seen,1")


def test_construct_gives_a_triple_once_however_many_solutions_make_it(machine: MakeMachine) -> None:
    #  0    5    10   15
    #  a p 1-----)
    #       a p 2-----)   RANGE 10
    m = machine()
    q = m.register("CONSTRUCT { ?x :seen true } { STREAM :s [RANGE 10] { ?x :p ?y } }", output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":a :p 2", at_ms=5)
    m.finish()
    emits(q, "0 +a,seen,true | 15 -a,seen,true")


def test_construct_fills_the_whole_template_for_each_solution(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("CONSTRUCT { ?x :seen ?y . ?y :seenBy ?x } { STREAM :s [ALL] { ?x :p ?y } }")
    m.push("s", ":a :p :b", at_ms=0)
    emits(q, "0 +a,seen,b +b,seenBy,a")


def test_construct_leaves_out_triples_that_cannot_be(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("CONSTRUCT { ?x :seen ?y . ?y :seenBy ?x . ?x :has ?z } { STREAM :s [ALL] { ?x :p ?y } }")
    m.push("s", ":a :p 1", at_ms=0)
    emits(q, "0 +a,seen,1")


def test_blank_nodes_of_a_template_are_the_same_for_the_same_solution(machine: MakeMachine) -> None:
    #  0         10       20
    #  a---------)        a   RANGE 10: the node that leaves is the one that came, and comes again
    m = machine()
    q = m.register("CONSTRUCT { _:o :of ?x } { STREAM :s [RANGE 10] { ?x :p ?y } }", output="changes")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":a :p 1", at_ms=20)
    emits(q, "0 +[],of,a | 10 -[],of,a | 20 +[],of,a")
    assert len({row[0].subject for _, _, row in q.emitted()}) == 1


def test_blank_nodes_of_a_template_differ_between_solutions_and_labels(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("CONSTRUCT { _:o :of ?x . _:o :at _:place } { STREAM :s [ALL] { ?x :p ?y } }")
    m.push("s", ":a :p 1 . :b :p 1", at_ms=0)
    emits(q, "0 +[],of,a +[],of,b +[],at,[] +[],at,[]")
    nodes = {row[0].subject for _, _, row in q.emitted()} | {
        row[0].object for _, _, row in q.emitted() if row[0].predicate.value.endswith("at")
    }
    assert len(nodes) == 4


# The stream that REGISTER names ---------------------------------------------------------------------------------------

HOT = "REGISTER STREAM :hot AS CONSTRUCT { ?x :hot ?t } { STREAM :s [RANGE 10] { ?x :temperature ?t } FILTER(?t > 30) }"


def test_constructed_triples_are_an_element_of_the_named_stream_at_the_same_time(machine: MakeMachine) -> None:
    #  s    3        13
    #       a--------)    RANGE 10
    #  hot  3    8
    #       a----)        RANGE 5
    m = machine()
    m.register(HOT)
    q = m.register("SELECT ?x { STREAM :hot [RANGE 5] { ?x :hot ?t } }", output="changes")
    m.push("s", ":a :temperature 40", at_ms=3)
    m.push("s", ":b :temperature 20", at_ms=4)
    m.finish()
    emits(q, "3 +a | 8 -a")


def test_what_one_change_constructs_is_one_element(machine: MakeMachine) -> None:
    #  s    1       2
    #       a,b     c     one element each on hot; ELEMENTS 1
    m = machine()
    m.register(HOT)
    q = m.register("SELECT ?x { STREAM :hot [ELEMENTS 1] { ?x :hot ?t } }", output="rstream")
    m.push("s", ":a :temperature 40 . :b :temperature 50", at_ms=1)
    m.push("s", ":c :temperature 60", at_ms=2)
    emits(q, "1 +a +b | 2 +c")


def test_a_change_that_constructs_nothing_gives_no_element(machine: MakeMachine) -> None:
    m = machine()
    m.register(HOT)
    q = m.register("SELECT ?x { STREAM :hot [ELEMENTS 1] { ?x :hot ?t } }", output="rstream")
    m.push("s", ":a :temperature 40", at_ms=1)
    m.push("s", ":b :temperature 20", at_ms=2)
    emits(q, "1 +a")


def test_a_constructed_element_is_processed_before_the_next_of_its_millisecond(machine: MakeMachine) -> None:
    #  3
    #  s a, then hot a
    #  s b, then hot b
    m = machine()
    m.register(HOT)
    q = m.register(
        "SELECT ?x ?w { { STREAM :s [ALL] { ?x :temperature ?t } BIND('s' AS ?w) } "
        "UNION { STREAM :hot [ALL] { ?x :hot ?t } BIND('hot' AS ?w) } }"
    )
    m.push("s", ":a :temperature 40", at_ms=3)
    m.push("s", ":b :temperature 50", at_ms=3)
    emits(q, '3 +a,"s" | 3 +a,"hot" | 3 +b,"s" | 3 +b,"hot"')


def test_queries_feed_each_other_in_a_chain(machine: MakeMachine) -> None:
    m = machine()
    m.register(HOT)
    m.register("REGISTER STREAM :alarm AS CONSTRUCT { ?x :alarm true } { STREAM :hot [NOW] { ?x :hot ?t } }")
    q = m.register("SELECT ?x { STREAM :alarm [RANGE 4] { ?x :alarm true } }", output="changes")
    m.push("s", ":a :temperature 40", at_ms=3)
    m.finish()
    emits(q, "3 +a | 7 -a")


def test_what_is_constructed_at_an_expiry_is_an_element_once(machine: MakeMachine) -> None:
    #  s    0    5    10   15
    #       a---------)
    #            b---------)   RANGE 10, RSTREAM: at 10 b is emitted again
    #  out  a    a,b  b
    m = machine()
    m.register(
        "REGISTER STREAM :out AS CONSTRUCT RSTREAM { ?x :in true } { STREAM :s [RANGE 10] { ?x :p ?y } }",
    )
    q = m.register("SELECT ?x { STREAM :out [RANGE 3] { ?x :in true } }", output="rstream")
    m.push("s", ":a :p 1", at_ms=0)
    m.push("s", ":b :p 1", at_ms=5)
    m.finish()
    emits(q, "0 +a | 5 +a +b | 10 +b")


def test_what_appears_at_an_expiry_is_fed_at_that_time(machine: MakeMachine) -> None:
    #  s      0         10
    #         a q 1-----)   RANGE 10
    #         a p 1-----...  ALL
    #  quiet            a
    m = machine()
    m.register(
        "REGISTER STREAM :quiet AS CONSTRUCT { ?x :quiet true } "
        "{ STREAM :s [ALL] { ?x :p ?y } MINUS { STREAM :s [RANGE 10] { ?x :q ?y } } }",
    )
    q = m.register("SELECT ?x { STREAM :quiet [RANGE 5] { ?x :quiet true } }", output="changes")
    m.push("s", ":a :p 1 . :a :q 1", at_ms=0)
    m.finish()
    emits(q, "10 +a | 15 -a")


def test_what_is_constructed_when_a_window_closes_is_fed_at_that_instant(machine: MakeMachine) -> None:
    #  s    0  3 5    10
    #       .    .    .
    #          a -----)   RANGE 5 STEP 5
    #  out       5     8
    #            a-----)  RANGE 3
    m = machine()
    m.register("REGISTER STREAM :out AS CONSTRUCT { ?x :in true } FROM STREAM :s [RANGE 5 STEP 5] { ?x :p ?y }")
    q = m.register("SELECT ?x { STREAM :out [RANGE 3] { ?x :in true } }", output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "5 +a | 8 -a")


def test_what_is_fed_at_an_instant_belongs_to_the_same_instant_of_its_reader(machine: MakeMachine) -> None:
    #  s    0  3 5    10
    #       .    .    .
    #          a -----)   RANGE 5 STEP 5
    #  out       5    10
    #            .    .
    #            a----)   RANGE 5 STEP 5
    m = machine()
    m.register("REGISTER STREAM :out AS CONSTRUCT { ?x :in true } FROM STREAM :s [RANGE 5 STEP 5] { ?x :p ?y }")
    q = m.register("SELECT ?x FROM STREAM :out [RANGE 5 STEP 5] { ?x :in true }")
    m.push("s", ":a :p 1", at_ms=3)
    m.advance_to(20)
    emits(q, "5 +a")


def test_what_is_fed_at_an_instant_belongs_to_it_in_whatever_order_queries_came(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("SELECT ?x FROM STREAM :b [RANGE 5 STEP 5] { ?x :in true }")
    m.register("REGISTER STREAM :b AS CONSTRUCT { ?x :in true } FROM STREAM :a [RANGE 5 STEP 5] { ?x :in true }")
    m.register("REGISTER STREAM :a AS CONSTRUCT { ?x :in true } FROM STREAM :s [RANGE 5 STEP 5] { ?x :p ?y }")
    m.push("s", ":a :p 1", at_ms=3)
    m.advance_to(20)
    emits(q, "5 +a")


def test_only_istream_and_rstream_feed_a_stream(machine: MakeMachine) -> None:
    for output in ("changes", "dstream"):
        m = machine()
        m.register(HOT, output=output)
        q = m.register("SELECT ?x { STREAM :hot [RANGE 5] { ?x :hot ?t } }", output="changes")
        m.push("s", ":a :temperature 40", at_ms=3)
        m.finish()
        emits(q, "")


def test_a_stream_may_be_fed_from_outside_too(machine: MakeMachine) -> None:
    m = machine()
    m.register(HOT)
    q = m.register("SELECT ?x { STREAM :hot [ALL] { ?x :hot ?t } }", output="changes")
    m.push("s", ":a :temperature 40", at_ms=3)
    m.push("hot", ":b :hot 99", at_ms=4)
    emits(q, "3 +a | 4 +b")


def test_a_reader_registered_later_sees_what_is_constructed_from_then_on(machine: MakeMachine) -> None:
    m = machine()
    m.register(HOT)
    m.push("s", ":a :temperature 40", at_ms=3)
    q = m.register("SELECT ?x { STREAM :hot [ALL] { ?x :hot ?t } }", output="changes")
    m.push("s", ":b :temperature 40", at_ms=4)
    emits(q, "4 +b")


def test_a_reader_does_not_see_what_was_constructed_before_it_came(machine: MakeMachine) -> None:
    #  s    0  3 5    10   15    20
    #          a -----)                TUMBLING 5
    #  t                12             nobody reads it, but time passes
    #  out       a                     before the reader comes, at 12
    #                      13 -- b
    m = machine()
    m.register("REGISTER RSTREAM :out AS CONSTRUCT { ?x :in true } FROM STREAM :s [RANGE 5 TUMBLING] { ?x :p ?y }")
    m.push("s", ":a :p 1", at_ms=3)
    m.push("t", ":a :p 1", at_ms=12)
    q = m.register("SELECT ?x { STREAM :out [RANGE 50] { ?x :in true } }", output="changes")
    m.push("s", ":b :p 1", at_ms=13)
    m.advance_to(20)
    emits(q, "15 +b")


def test_a_reader_of_what_single_triples_construct_may_come_later_too(machine: MakeMachine) -> None:
    m = machine()
    m.register("REGISTER ISTREAM :out AS CONSTRUCT { ?x :in true } { STREAM :s [RANGE 5] { ?x :p ?y } }")
    for at_ms in range(3):
        m.push("s", f":a{at_ms} :p 1", at_ms=at_ms)
    q = m.register("SELECT ?x { STREAM :out [RANGE 2] { ?x :in true } }", output="changes")
    m.push("s", ":b :p 1", at_ms=3)
    emits(q, "3 +b")
    m.push("s", ":c :p 1", at_ms=6)
    m.finish()
    emits(q, "3 +b | 5 -b | 6 +c | 8 -c")


def test_a_construct_over_datasets_feeds_its_stream(machine: MakeMachine) -> None:
    m = machine()
    m.register("REGISTER ISTREAM :out AS CONSTRUCT { ?x :in true } { ?x :p ?y }")
    q = m.register("SELECT ?x { STREAM :out [RANGE 5] { ?x :in true } }", output="changes")
    m.insert(":a :p 1", at_ms=2)
    m.finish()
    emits(q, "2 +a | 7 -a")


def test_constructed_elements_keep_time_going_until_they_expire(machine: MakeMachine) -> None:
    #  s    3    8
    #       a----)        RANGE 5
    #  out  3                   23
    #       a-------------------)   RANGE 20
    m = machine()
    m.register("REGISTER STREAM :out AS CONSTRUCT { ?x :in true } { STREAM :s [RANGE 5] { ?x :p ?y } }")
    q = m.register(over("RANGE 20", "?x :in true").replace(":s ", ":out "), output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "3 +a | 23 -a")


# Where time ends ------------------------------------------------------------------------------------------------------

COUNTS = """REGISTER RSTREAM :n AS CONSTRUCT { :s :n ?n }
    { { SELECT (COUNT(?x) AS ?n) { STREAM :s [RANGE 5 TUMBLING] { ?x :p ?y } } } }"""
COUNTED = "SELECT ?n { STREAM :n [RANGE 20] { :s :n ?n } }"


@pytest.mark.parametrize("first", ["feeds", "reads"])
def test_finish_ends_though_answers_to_nothing_are_fed_at_every_instant(machine: MakeMachine, first: str) -> None:
    #  s    0  3 5    10        25   30                  50
    #          a -----)                                         TUMBLING 5: 1, then 0 without end
    #  n         1--------------)
    #                 0--------------)                         RANGE 20: the 0 with which a leaves comes of it
    #                      0 0 0 0 0----------------------)    others are waited for that are there by then
    m = machine()
    if first == "feeds":
        m.register(COUNTS)
    q = m.register(COUNTED, output="changes")
    if first == "reads":
        m.register(COUNTS)
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "5 +1 | 10 +0 | 25 -1")
    assert m.clock_ms == 50


def test_finish_ends_though_a_dataset_is_answered_at_every_instant(machine: MakeMachine) -> None:
    #  s    0  3 5    10   15   20 22          32
    #          a -----)                                TUMBLING 5; d, of the dataset, is constructed at every instant
    #  out       a,d---------)
    #                 d-----------)                   RANGE 12
    #                      d    d--------------)
    m = machine()
    m.load(":d :p 1")
    m.register(
        "REGISTER RSTREAM :out AS CONSTRUCT { ?x :in true } "
        "{ { STREAM :s [RANGE 5 TUMBLING] { ?x :p ?y } } UNION { ?x :p ?y } }"
    )
    q = m.register("SELECT ?x { STREAM :out [RANGE 12] { ?x :in true } }", output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "5 +a +d | 17 -a")
    assert m.clock_ms == 32


def test_finish_ends_though_something_comes_of_answers_to_nothing(machine: MakeMachine) -> None:
    #  n      5 10 15 20 ...     a count at every instant
    #  told   5 10 15 20 ...     that there is one: in RANGE 3 it comes and goes
    m = machine()
    m.register(COUNTS)
    m.register("REGISTER ISTREAM :told AS CONSTRUCT { :s :told ?n } { STREAM :n [RANGE 3] { :s :n ?n } }")
    q = m.register("SELECT ?n { STREAM :told [RANGE 20] { :s :told ?n } }", output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, "5 +1 | 10 +0 | 25 -1")
    assert m.clock_ms == 50


def test_what_is_constructed_while_input_is_seen_elsewhere_is_seen_to_its_end(machine: MakeMachine) -> None:
    #  s    0  3                       103
    #          a-----------------------)       RANGE 100, of another query
    #  n         5  10 ...         100  104
    #                              0----)      RANGE 4
    m = machine()
    m.register(COUNTS)
    m.register(over("RANGE 100"))
    q = m.register("SELECT ?n { STREAM :n [RANGE 4] { :s :n 0 . :s :n ?n } }", output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, " | ".join(f"{at_ms} +0 | {at_ms + 4} -0" for at_ms in range(10, 101, 5)))
    assert m.clock_ms == 104


def test_what_is_constructed_until_input_ends_comes_of_it(machine: MakeMachine) -> None:
    #  n    5  10 ... 100        120                140
    #                  0---------)                         RANGE 20, constructed before finish is called
    #                     0 0 0 0-------------------)
    m = machine()
    m.register(COUNTS)
    m.register(COUNTED)
    m.push("s", ":a :p 1", at_ms=3)
    m.advance_to(100)
    m.finish()
    assert m.clock_ms == 140


def test_to_finish_again_changes_nothing(machine: MakeMachine) -> None:
    m = machine()
    m.register(COUNTS)
    q = m.register(COUNTED, output="changes")
    m.push("s", ":a :p 1", at_ms=3)
    for _ in range(3):
        m.finish()
        emits(q, "5 +1 | 10 +0 | 25 -1")
        assert m.clock_ms == 50


def test_a_query_does_not_keep_itself_awake(machine: MakeMachine) -> None:
    #  s      0 3
    #           a--------------------...  ALL
    #  tick     3     13     23     33
    #           -------------)                one whenever there has been none for 10: that of 13 comes of that of 3,
    #                        ------)          the next is there when that ends, and the last is not waited for
    m = machine()
    q = m.register(
        "REGISTER ISTREAM :tick AS CONSTRUCT { ?x :tick true } "
        "{ STREAM :s [ALL] { ?x :p ?y } FILTER NOT EXISTS { STREAM :tick [RANGE 10] { ?x :tick true } } }",
    )
    m.push("s", ":a :p 1", at_ms=3)
    m.finish()
    emits(q, " | ".join(f"{at_ms} +a,tick,true" for at_ms in (3, 13, 23, 33)))
    assert m.clock_ms == 33


def test_queries_do_not_keep_each_other_awake(machine: MakeMachine) -> None:
    #  b    3      10     17      one whenever there has been no a for 7
    #  a    -------)                one for each b; that of 10 comes of b's own, but is there when b's of 10 ends, at 15
    #              -------)
    m = machine()
    for name, body in (
        ("a", "STREAM :b [RANGE 5] { ?x :b true }"),
        ("b", "STREAM :s [ALL] { ?x :p ?y } FILTER NOT EXISTS { STREAM :a [RANGE 7] { ?x :a true } }"),
    ):
        m.register(f"REGISTER ISTREAM :{name} AS CONSTRUCT {{ ?x :{name} true }} {{ {body} }}")
    q = m.register("SELECT ?x { STREAM :a [NOW] { ?x :a true } }")
    m.push("s", ":x :p 1", at_ms=3)
    m.finish()
    emits(q, " | ".join(f"{at_ms} +x" for at_ms in (3, 10, 17)))
    assert m.clock_ms == 17


def test_what_a_chain_constructs_keeps_time_going_one_after_the_other(machine: MakeMachine) -> None:
    #  s        0         10
    #           a q-------)                RANGE 10
    #  quiet              a----)           RANGE 5: told when it is over
    #  over                    a-------)   RANGE 8
    m = machine()
    for name, of, before, range_ms in (("quiet", "s", "q", 10), ("over", "quiet", "quiet", 5)):
        m.register(
            f"REGISTER ISTREAM :{name} AS CONSTRUCT {{ ?x :{name} true }} "
            f"{{ STREAM :{of} [ALL] {{ ?x ?p ?y }} MINUS {{ STREAM :{of} [RANGE {range_ms}] {{ ?x :{before} ?y }} }} }}",
        )
    q = m.register("SELECT ?x { STREAM :over [RANGE 8] { ?x :over true } }", output="changes")
    m.push("s", ":a :q 1", at_ms=0)
    m.finish()
    emits(q, "15 +a | 23 -a")
    assert m.clock_ms == 23
