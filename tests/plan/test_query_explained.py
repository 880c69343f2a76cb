"""What `explain` shows of a query: the head, what it reads, its algebra as a tree, and warnings."""

from __future__ import annotations

import pytest

from millstream.language import parse_query
from millstream.plan.explain.query import explain
from tests.language.algebra_text import PROLOGUE, parse
from tests.language.test_paper_queries import MENDED_Q2, PREFIX

GOLDEN = {
    "plain SPARQL": (
        """SELECT DISTINCT ?s ?o WHERE {
             ?s :p ?o . FILTER(?o > 3 && ?o != 7) OPTIONAL { ?s :q ?x FILTER(?x < ?o) } MINUS { ?s :gone true }
           } ORDER BY DESC(?o) ?s LIMIT 5 OFFSET 10""",
        """
SELECT
emits what appears (+1) and disappears (-1) after every change (CHANGES)

reads
  default graph

first 5 after 10
└─ distinct
   └─ select ?s ?o
      └─ order by ?o descending, ?s
         └─ filter ?o > 3 && ?o != 7
            └─ minus on ?s
               ├─ left join on ?s where ?x < ?o
               │  ├─ match in the default graph
               │  │  └─ ?s :p ?o
               │  └─ optional: match in the default graph
               │     └─ ?s :q ?x
               └─ without: match in the default graph
                  └─ ?s :gone true
""",
    ),
    "CQELS-QL": (
        """SELECT ?person ?name FROM NAMED :plan {
             STREAM :rfid [RANGE 30s] { ?person :at ?loc } GRAPH :plan { ?loc :near ?door } ?person :name ?name
             FILTER NOT EXISTS { STREAM :rfid [NOW] { ?person :left ?loc } } }""",
        """
SELECT
emits what appears after every change (ISTREAM)

reads
  stream :rfid [RANGE 30s]
  stream :rfid [NOW]
  default graph
  graph :plan

select ?person ?name
└─ filter NOT EXISTS {...}
   ├─ join on ?loc ?person
   │  ├─ match in window :rfid [RANGE 30s]
   │  │  └─ ?person :at ?loc
   │  ├─ match in graph :plan
   │  │  └─ ?loc :near ?door
   │  └─ match in the default graph
   │     └─ ?person :name ?name
   └─ exists: match in window :rfid [NOW]
      └─ ?person :left ?loc
""",
    ),
    "RSP-QL": (
        """REGISTER RSTREAM :out AS SELECT ?a (COUNT(*) AS ?n) FROM NAMED WINDOW :w ON :s [RANGE PT10M STEP PT1M]
           WHERE { WINDOW :w { ?a :p+/:q ?b . FILTER(?b > 1) } } GROUP BY ?a HAVING (AVG(?b) > 5) ORDER BY DESC(?n)""",
        """
SELECT :out
emits the whole answer set whenever a window closes (RSTREAM)

reads
  stream :s [RANGE 10m STEP 1m]

select ?a ?n
└─ order by ?n descending
   └─ bind ?n = ?agg1
      └─ filter ?agg2 > 5
         └─ group by ?a
            ├─ ?agg1 = COUNT(*)
            ├─ ?agg2 = AVG(?b)
            └─ window :s [RANGE 10m STEP 1m]
               └─ filter ?b > 1
                  └─ join on _:step1
                     ├─ path ?a :p+ _:step1 in window :s [RANGE 10m STEP 1m]
                     └─ match in window :s [RANGE 10m STEP 1m]
                        └─ _:step1 :q ?b
""",
    ),
    "C-SPARQL": (
        """REGISTER QUERY "busy roads" AS SELECT ?road FROM STREAM :cars [RANGE 5s STEP 1s] FROM :map FROM NAMED :h
           WHERE { ?road :count ?n . ?road a :Road GRAPH ?g { ?road :in ?g } }""",
        """
SELECT busy roads
emits the whole answer set whenever a window closes (RSTREAM)

reads
  stream :cars [RANGE 5s STEP 1s], merged into the default graph
  default graph: :map
  named graphs :h

select ?road
└─ join on ?road
   ├─ match in the default graph
   │  ├─ ?road :count ?n
   │  └─ ?road a :Road
   └─ match in graph ?g
      └─ ?road :in ?g
""",
    ),
    "sub-queries, union, values": (
        """SELECT * {
             { ?a :p ?b } UNION { ?a :q ?b } UNION { ?b ^:r|:s ?a }
             BIND(?b + 1 AS ?c) VALUES (?a ?z) { (:a 1) (:b UNDEF) }
             { SELECT DISTINCT ?b { STREAM :s [EVENT] { { SELECT ?b { ?b a :T FILTER EXISTS { ?b :u [] } }
               LIMIT 1 } } } }
           }""",
        """
SELECT
emits what appears after every change (ISTREAM)

reads
  stream :s [EVENT]
  default graph

select ?a ?b ?c ?z
└─ join on ?a ?b
   ├─ bind ?c = ?b + 1
   │  └─ union
   │     ├─ match in the default graph
   │     │  └─ ?a :p ?b
   │     ├─ match in the default graph
   │     │  └─ ?a :q ?b
   │     └─ path ?b ^:r|:s ?a in the default graph
   ├─ values ?a ?z (2 rows)
   └─ distinct
      └─ select ?b
         └─ window :s [EVENT]
            └─ first 1
               └─ select ?b
                  └─ filter EXISTS {...}
                     ├─ match in window :s [EVENT]
                     │  └─ ?b a :T
                     └─ exists: match in window :s [EVENT]
                        └─ ?b :u _:anon1
""",
    ),
    "CONSTRUCT": (
        """REGISTER STREAM :alarms AS CONSTRUCT ISTREAM { _:x :of ?a ; :at [ :level ?n ] }
           WHERE { STREAM :s [TRIPLES 100] { ?a :n ?n } } GROUP BY ?a ?n""",
        """
CONSTRUCT :alarms
emits what appears after every change (ISTREAM)

reads
  stream :s [TRIPLES 100]

construct
├─ _:x :of ?a
├─ _:x :at _:tanon1
├─ _:tanon1 :level ?n
└─ select ?a ?n
   └─ group by ?a, ?n
      └─ match in window :s [TRIPLES 100]
         └─ ?a :n ?n
""",
    ),
    "ASK": (
        "ASK { ?a :p ?b . { ?c :q ?d } }",
        """
ASK
emits what appears (+1) and disappears (-1) after every change (CHANGES)

reads
  default graph

ask
└─ join, nothing shared
   ├─ match in the default graph
   │  └─ ?a :p ?b
   └─ match in the default graph
      └─ ?c :q ?d
""",
    ),
    "DESCRIBE": (
        "DESCRIBE ?a :b { ?a :p 3 }",
        """
DESCRIBE
emits what appears (+1) and disappears (-1) after every change (CHANGES)

reads
  default graph

describe ?a :b
└─ match in the default graph
   └─ ?a :p 3
""",
    ),
}


@pytest.mark.parametrize(("text", "drawn"), GOLDEN.values(), ids=GOLDEN)
def test_a_query_is_drawn(text: str, drawn: str) -> None:
    assert explain(parse(text)) == drawn.strip()


def test_the_nested_query_of_the_paper_is_drawn_with_its_warnings() -> None:
    assert explain(parse_query(PREFIX + MENDED_Q2)) == (
        """
SELECT
emits what appears after every change (ISTREAM)

reads
  stream <http://millstream.local/Taxi> [RANGE 15m]
  stream <http://millstream.local/Taxi> [RANGE 30m]

first 10
└─ select ?pE ?pS ?noEmptyTaxis ?prof ?profitability
   └─ order by ?profitability
      └─ bind ?profitability = ?prof / ?noEmptyTaxis
         └─ join on ?pE ?pS
            ├─ select ?pE ?pS ?prof
            │  └─ bind ?prof = ?agg1
            │     └─ filter ?pE > 0 && ?pE < 601 && ?pE > 0 && ?pS < 601
            │        └─ group by ROUND((41.474937 - ?pLat1) * 2 / 0.005986) as ?pE, ROUND((74.913585 + ?pLon1) * 2 / 0.004491556) as ?pS
            │           ├─ ?agg1 = MEDIAN(?fare + ?tip)
            │           └─ match in window <http://millstream.local/Taxi> [RANGE 15m]
            │              ├─ ?trip :fare ?fare
            │              ├─ ?trip :tip ?tip
            │              ├─ ?trip :pickLat ?pLat1
            │              └─ ?trip :pickLon ?pLon1
            └─ select ?pE ?pS ?noEmptyTaxis
               └─ bind ?noEmptyTaxis = ?agg2
                  └─ filter ?pE > 0 && ?pE < 601 && ?pS > 0 && ?pS < 601 && ?agg2 > 0
                     └─ group by ROUND((41.474937 - ?pLat2) * 2 / 0.005986) as ?pE, ROUND((74.913585 + ?pLon2) * 2 / 0.004491556) as ?pS
                        ├─ ?agg2 = COUNT(?taxi)
                        └─ filter NOT EXISTS {...}
                           ├─ match in window <http://millstream.local/Taxi> [RANGE 30m]
                           │  ├─ ?trip2 :pickLat ?pLat2
                           │  ├─ ?trip2 :pickLon ?pLon2
                           │  ├─ ?trip2 :taxi ?taxi
                           │  └─ ?trip2 :dropoffTime ?dropoff
                           └─ exists: filter ?pickup > ?dropoff
                              └─ match in window <http://millstream.local/Taxi> [RANGE 30m]
                                 ├─ ?trip3 :taxi ?taxi
                                 └─ ?trip3 :pickupTime ?pickup

warnings
  line 11, column 27: `15 minutes` is not a duration of these languages. Write: RANGE 15m
  line 18, column 13: GROUP BY cannot use ?pE, which SELECT defines only after grouping. Write: GROUP BY (ROUND((41.474937 - ?pLat1) * 2 / 0.005986) AS ?pE) and SELECT ?pE
  line 18, column 17: GROUP BY cannot use ?pS, which SELECT defines only after grouping. Write: GROUP BY (ROUND((74.913585 + ?pLon1) * 2 / 0.004491556) AS ?pS) and SELECT ?pS
  line 26, column 27: `30 minutes` is not a duration of these languages. Write: RANGE 30m
  line 33, column 29: `30 minutes` is not a duration of these languages. Write: RANGE 30m
  line 40, column 13: GROUP BY cannot use ?pE, which SELECT defines only after grouping. Write: GROUP BY (ROUND((41.474937 - ?pLat2) * 2 / 0.005986) AS ?pE) and SELECT ?pE
  line 40, column 17: GROUP BY cannot use ?pS, which SELECT defines only after grouping. Write: GROUP BY (ROUND((74.913585 + ?pLon2) * 2 / 0.004491556) AS ?pS) and SELECT ?pS
  line 41, column 4: HAVING cannot use ?noEmptyTaxis, which SELECT defines only after it. Write: HAVING (?pE > 0 && ?pE < 601 && ?pS > 0 && ?pS < 601 && COUNT(?taxi) > 0)
""".strip()  # noqa: E501
    )


def reads(text: str) -> list[str]:
    """The lines of the second section."""
    return [line.strip() for line in explain(parse(text)).split("\n\n")[1].splitlines()[1:]]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("SELECT * { ?s :p ?o }", ["default graph"]),
        ("SELECT * FROM :g FROM :h { ?s :p ?o }", ["default graph: :g + :h"]),
        ("SELECT * FROM NAMED :g { ?s :p ?o }", ["default graph: empty, without FROM"]),
        ("SELECT * FROM NAMED :g { GRAPH ?x { ?s :p ?o } }", ["named graphs :g"]),
        ("SELECT * { GRAPH ?x { ?s :p ?o } }", ["all named graphs"]),
        ("SELECT * { GRAPH :g { ?s :p ?o } GRAPH :h { ?s :q* ?x } }", ["graph :g", "graph :h"]),
        ("SELECT * FROM NAMED :g { GRAPH :h { ?s :p ?o } }", ["graph :h, which no FROM NAMED lists"]),
        ("SELECT * { STREAM :s [ALL] { ?s :p ?o } }", ["stream :s [ALL]"]),
        ("SELECT * { STREAM :s [ALL] { FILTER EXISTS { ?s :p ?o } } }", ["stream :s [ALL]"]),
        ("SELECT * { STREAM :s [ALL] { } FILTER EXISTS { ?s :p ?o } }", ["stream :s [ALL]", "default graph"]),
        ("SELECT * FROM WINDOW ON :s [NOW] { }", ["stream :s [NOW], merged into the default graph"]),
        ("SELECT (1 AS ?x) { }", []),
    ],
)
def test_the_graphs_and_windows_that_matter_are_listed(text: str, lines: list[str]) -> None:
    assert reads(text) == lines


def test_a_query_that_reads_nothing_says_so() -> None:
    assert "\n\nreads nothing\n\n" in explain(parse("SELECT (1 AS ?x) { }"))


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("ISTREAM", "emits what appears after every change (ISTREAM)"),
        ("DSTREAM", "emits what disappears after every change (DSTREAM)"),
        ("RSTREAM", "emits the whole answer set after every change (RSTREAM)"),
        ("CHANGES", "emits what appears (+1) and disappears (-1) after every change (CHANGES)"),
    ],
)
def test_the_second_line_says_what_is_emitted_and_when(word: str, said: str) -> None:
    assert explain(parse(f"SELECT {word} * {{ ?s :p ?o }}")).splitlines()[1] == said


def test_an_explanation_has_no_trailing_space_or_newline() -> None:
    text = explain(parse("SELECT * { ?s :p ?o }"))
    assert text == "\n".join(line.rstrip() for line in text.splitlines())


def test_prefixes_of_the_query_shorten_names() -> None:
    assert "<http://example.org/p>" in explain(parse("PREFIX : <http://other/> SELECT * { ?s <http://example.org/p> ?o }"))
    assert PROLOGUE.strip() not in explain(parse("SELECT * { ?s :p ?o }"))
