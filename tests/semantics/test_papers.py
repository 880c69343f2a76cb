"""The worked examples of the papers whose ideas meet here."""

from __future__ import annotations

from tests.semantics.conftest import Machine, MakeMachine, emits
from tests.semantics.notation import over

# CQELS: native and adaptive processing of linked stream data (Le-Phuoc et al. 2011), section 3.2, Table 1 -------------
#
#  The localisation scenario: people in rooms; m0 in r1 at 0, m1 in r2 at 1, m2 in r1 at 2, m3 in r2 at 3.


def detect_all(m: Machine) -> None:
    for at_ms, room in enumerate(("r1", "r2", "r1", "r2")):
        m.push("s", f":m{at_ms} :detectedAt :{room}", at_ms=at_ms)


def test_people_in_connected_rooms_reach_each_other(machine: MakeMachine) -> None:
    #  0    1    2    3
    #  m0---------)            RANGE 2 of the paper's second window
    #       m1---------)
    #            m2--------
    #  m0)  m1)  m2)  m3)      NOW, its first
    m = machine()
    m.load(":r1 :conn :r2 . :r1 :conn :r3 . :r2 :conn :r1 . :r3 :conn :r1")
    q = m.register(
        "CONSTRUCT { ?p2 :reaches ?p1 } "
        "{ STREAM :s [NOW] { ?p1 :detectedAt ?l1 } STREAM :s [RANGE 2] { ?p2 :detectedAt ?l2 } ?l1 :conn ?l2 }",
    )
    detect_all(m)
    m.finish()
    emits(q, "1 +m0,reaches,m1 | 2 +m1,reaches,m2 | 3 +m2,reaches,m3")


def test_the_window_of_now_is_the_latest_detection(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("NOW", "?p :detectedAt ?l", select="?p ?l"), output="rstream")
    detect_all(m)
    emits(q, "0 +m0,r1 | 1 +m1,r2 | 2 +m2,r1 | 3 +m3,r2")


def test_the_window_of_range_two_holds_two_detections(machine: MakeMachine) -> None:
    # The table, not the paper's formula, which would still hold m0 at 2. Each expiry is a change before the element.
    m = machine()
    q = m.register(over("RANGE 2", "?p :detectedAt ?l", select="?p"), output="rstream")
    detect_all(m)
    emits(q, "0 +m0 | 1 +m0 +m1 | 2 +m1 | 2 +m1 +m2 | 3 +m2 | 3 +m2 +m3")


# SPECTRA: continuous query processing for RDF graph streams (Gillani et al. 2016), Query 1 and Examples 1 to 4 --------
#
#  Appliances that are on in a house near the house of id 2. The first event holds a whole match, the second only the
#  appliance: it is completed by the house and the neighbour of the first, and loses them with it.

QUERY_1 = "?house :has_appliance ?app . ?app :status 'ON' . ?house :near_by ?nbhouse . ?nbhouse :id 2"
FIRST_EVENT = ":H1 :has_appliance :H1App1 . :H1 :near_by :H2 . :H1App1 :power_usage 50 ; :status 'ON' . :H2 :id 2"
SECOND_EVENT = ":H1 :has_appliance :H1App2 . :H1App2 :status 'ON' . :H1App2 :power_usage 20"


def test_an_event_is_completed_by_one_before_it_and_loses_its_match_with_it(machine: MakeMachine) -> None:
    #  0    5    10   15
    #  first-----)
    #       second----)   RANGE 10
    m = machine()
    q = m.register(over("RANGE 10", QUERY_1, select="?house ?app ?nbhouse"), output="changes")
    m.push("s", FIRST_EVENT, at_ms=0)
    m.push("s", SECOND_EVENT, at_ms=5)
    m.finish()
    emits(q, "0 +H1,H1App1,H2 | 5 +H1,H1App2,H2 | 10 -H1,H1App1,H2 -H1,H1App2,H2")


def test_matches_are_emitted_as_they_are_found(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("RANGE 10", QUERY_1, select="?house ?app ?nbhouse"))
    m.push("s", FIRST_EVENT, at_ms=0)
    m.push("s", SECOND_EVENT, at_ms=5)
    m.finish()
    emits(q, "0 +H1,H1App1,H2 | 5 +H1,H1App2,H2")


def test_one_event_at_a_time_the_second_matches_nothing(machine: MakeMachine) -> None:
    m = machine()
    q = m.register(over("EVENT", QUERY_1, select="?house ?app ?nbhouse"))
    m.push("s", FIRST_EVENT, at_ms=0)
    m.push("s", SECOND_EVENT, at_ms=5)
    emits(q, "0 +H1,H1App1,H2")


def test_the_slide_of_the_window_evicts_on_its_grid(machine: MakeMachine) -> None:
    #  0    4 5  8    14 15   20
    #  .      .     .    .    .
    #       first--------)              4 -> 5 + 10
    #            second-------)         8 -> 10 + 10, RANGE 10 SLIDE 5
    m = machine()
    q = m.register(over("RANGE 10 SLIDE 5", QUERY_1, select="?app"), output="changes")
    m.push("s", FIRST_EVENT, at_ms=4)
    m.push("s", SECOND_EVENT, at_ms=8)
    m.finish()
    emits(q, "4 +H1App1 | 8 +H1App2 | 15 -H1App1 -H1App2")


# Delta-based answering over dynamic linked data (Gergatsoulis and Damigos): positive and negative embeddings ----------


def test_a_ground_pattern_is_positive_when_its_last_triple_comes_and_negative_when_one_goes(
    machine: MakeMachine,
) -> None:
    #  a p b   1----------5      7---
    #  b q c        3--------6      8---
    #  true         [-----)         [---
    m = machine()
    q = m.register("SELECT * { :a :p :b . :b :q :c BIND(true AS ?t) }")
    m.insert(":a :p :b", at_ms=1)
    m.insert(":b :q :c", at_ms=3)
    m.delete(":a :p :b", at_ms=5)
    m.delete(":b :q :c", at_ms=6)
    m.insert(":a :p :b", at_ms=7)
    m.insert(":b :q :c", at_ms=8)
    emits(q, "3 +true | 5 -true | 8 +true")


def test_a_star_around_a_variable_gives_each_of_its_centres(machine: MakeMachine) -> None:
    #  x: p c1  1---------------8
    #  x: q c2       3--5  6------
    #  x             [--)  [----)
    #  y: both at once at 7
    m = machine()
    q = m.register("SELECT ?x { ?x :p :c1 . ?x :q :c2 . :c3 :r ?x }")
    m.insert(":c3 :r :x . :c3 :r :y . :c3 :r :z", at_ms=0)
    m.insert(":x :p :c1", at_ms=1)
    m.insert(":x :q :c2", at_ms=3)
    m.delete(":x :q :c2", at_ms=5)
    m.insert(":x :q :c2", at_ms=6)
    m.insert(":y :p :c1 . :y :q :c2", at_ms=7)
    m.delete(":x :p :c1", at_ms=8)
    emits(q, "3 +x | 5 -x | 6 +x | 7 +y | 8 -x")


def test_a_loosely_connected_pattern_gives_the_product_of_its_stars(machine: MakeMachine) -> None:
    #  ?x p c . c q ?y . c r d      variables meet in constants only
    #
    #  x1  1-----------------
    #  y1     2--------------
    #  y2        3-----------
    #  x2           4-----7
    #  c r d  0         5  6  8
    m = machine()
    q = m.register("SELECT ?x ?y { ?x :p :c . :c :q ?y . :c :r :d }")
    m.insert(":c :r :d", at_ms=0)
    m.insert(":x1 :p :c", at_ms=1)
    m.insert(":c :q :y1", at_ms=2)
    m.insert(":c :q :y2", at_ms=3)
    m.insert(":x2 :p :c", at_ms=4)
    m.delete(":c :r :d", at_ms=5)
    m.insert(":c :r :d", at_ms=6)
    m.delete(":x2 :p :c", at_ms=7)
    emits(
        q,
        "2 +x1,y1 | 3 +x1,y2 | 4 +x2,y1 +x2,y2"
        " | 5 -x1,y1 -x1,y2 -x2,y1 -x2,y2 | 6 +x1,y1 +x1,y2 +x2,y1 +x2,y2 | 7 -x2,y1 -x2,y2",
    )


def test_an_update_that_no_pattern_matches_gives_no_delta(machine: MakeMachine) -> None:
    m = machine()
    q = m.register("SELECT ?x { ?x :p :c1 . ?x :q :c2 }")
    m.insert(":x :p :c1", at_ms=1)
    m.insert(":x :q :other", at_ms=2)
    m.insert(":y :q :c2", at_ms=3)
    m.delete(":x :p :c1", at_ms=4)
    emits(q, "")
