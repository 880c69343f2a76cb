"""What `explain` shows of a plan: its operators as a tree, each with what it keeps, then the conjunctions."""

from __future__ import annotations

import pytest

from millstream.language import parse_query
from millstream.language.printer import Printer
from millstream.plan.explain.operators import explain_plan
from millstream.plan.passes import plan_of

GOLDEN = {
    "negation, groups and the first of an order": (
        """SELECT ?room (COUNT(?who) AS ?n) {
             STREAM :s [RANGE 5s] { ?who :at ?room } FILTER NOT EXISTS { ?room :closed true }
           } GROUP BY ?room ORDER BY DESC(?n) LIMIT 3""",
        """
runs as
  answer sets in order of ?n descending
  └─ first 3 by ?n descending: an ordered index
     └─ columns ?room ?n
        └─ ?n = ?agg1
           └─ group by ?room: ?agg1 = COUNT(*)
              └─ those without a match on ?room: a count a key
                 ├─ conjunction 1: ?room
                 └─ conjunction 2: ?room
""",
    ),
    "a path that is asked for, and OPTIONAL, whose left side runs once": (
        "SELECT ?x ?n { ?x :knows+ ?y . ?y :at :lab OPTIONAL { ?x :name ?n } }",
        """
runs as
  columns ?x ?n
  └─ all rows of both
     ├─ join on ?x: a hash index a side
     │  ├─ join on ?y: a hash index a side
     │  │  ├─ conjunction 1: ?y
     │  │  └─ paths from ?x to ?y by one or more edges: what is reached from each end that the other side of the join has
     │  │     ├─ distinct: a count a row
     │  │     │  └─ conjunction 2: ?x ?y
     │  │     └─ distinct: a count a row
     │  │        └─ conjunction 1: ?y
     │  └─ conjunction 3: ?x ?n
     └─ those without a match on ?x: a count a key
        ├─ the same as above: join on ?y: a hash index a side
        └─ columns ?x
           └─ conjunction 3: ?x ?n
""",
    ),
}


def explained(text: str) -> str:
    query = parse_query(f"PREFIX : <http://example.org/> {text}")
    return explain_plan(plan_of(query), Printer(dict(query.prefixes)))


@pytest.mark.parametrize("name", GOLDEN)
def test_operators_are_drawn_as_a_tree(name: str) -> None:
    text, drawn = GOLDEN[name]
    assert explained(text).split("\nconjunction 1\n")[0] == drawn.strip("\n")


def test_each_conjunction_follows_with_what_it_joins_and_keeps() -> None:
    _, first, second = explained("SELECT * { STREAM :s [NOW] { ?x :p ?y } OPTIONAL { ?x :q ?z } }").split("\nconjunction ")
    assert "pairs  ?x :p ?y  in window :s [NOW]" in first
    assert "keeps of :s: (* :p *); the rest is dropped unread" in first
    assert "pairs  ?x :q ?z  in the default graph" in second
