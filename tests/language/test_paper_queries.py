"""The queries that the two CQELS papers print, typed as printed: their slips are named, their lenient forms are read.

A lenient form has the same algebra as the legal form that its warnings show.
"""

from __future__ import annotations

import pytest

from millstream.errors import QuerySyntaxError
from millstream.language import algebra as a
from millstream.language import parse_query

# A native and adaptive approach for unified processing of linked streams and linked data (2011), section 4.1 ----------

CONFERENCE_PREFIXES = """
PREFIX lv: <http://deri.org/floorplan/>
PREFIX dc: <http://purl.org/dc/elements/1.1/>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX dcterms: <http://purl.org/dc/terms/>
PREFIX swrc: <http://swrc.ontoware.org/ontology#>
"""

CONFERENCE = {
    "Q1": """
SELECT ?locName ?locDesc
FROM NAMED <http://deri.org/floorplan/>
WHERE {
  STREAM <http://deri.org/streams/rfid> [NOW] {?person lv:detectedAt ?loc}
  GRAPH <http://deri.org/floorplan/> {?loc lv:name ?locName. ?loc lv:desc ?locDesc}
  ?person foaf:name ``$Name$``. }
""",
    "Q2": """
CONSTRUCT {?person1 lv:reachable ?person2}
FROM NAMED <http://deri.org/floorplan/>
WHERE {
  STREAM <http://deri.org/streams/rfid> [NOW]      {?person1 lv:detectedAt ?loc1}
  STREAM <http://deri.org/streams/rfid> [RANGE 3s] {?person2 lv:detectedAt ?loc2}
  GRAPH <http://deri.org/floorplan/>              {?loc1 lv:connected ?loc2} }
""",
    "Q3": """
SELECT ?coAuthName
FROM NAMED <http://deri.org/floorplan/>
WHERE {
  STREAM <http://deri.org/streams/rfid> [TRIPLES 1] {?auth lv:detectedAt ?loc}
  STREAM <http://deri.org/streams/rfid> [RANGE 5s] {?coAuth lv:detectedAt ?loc}
  { ?paper dc:creator ?auth. ?paper dc:creator ?coAuth.
    ?auth foaf:name ``$Name$``. ?coAuth foaf:name ?coAuthName}
  FILTER (?auth != ?coAuth) }
""",
    "Q4": """
SELECT ?editorName
WHERE {
  STREAM <http://deri.org/streams/rfid> [TRIPLES 1] {?auth lv:detectedAt ?loc1}
  STREAM <http://deri.org/streams/rfid> [RANGE 15s] {?editor lv:detectedAt ?loc2}
  GRAPH <http://deri.org/floorplan/> {?loc1 lv:connected ?loc2}
  ?paper dc:creator ?auth. ?paper dcterms:partOf ?proceeding.
  ?proceeding swrc:editor ?editor. ?editor foaf:name ?editorName.
  ?auth foaf:name ``$Name$`` }
""",
    "Q5": """
SELECT ?loc2 ?locName count(distinct ?coAuth) as ?noCoAuths
FROM NAMED <http://deri.org/floorplan/>
WHERE {
  STREAM <http://deri.org/streams/rfid> [TRIPLES 1] {?auth lv:detectedAt ?loc1}
  STREAM <http://deri.org/streams/rfid> [RANGE 30s] {?coAuth lv:detectedAt ?loc2}
  GRAPH <http://deri.org/floorplan/> {?loc2 lv:name ?locName. loc2 lv:connected ?loc1}
  {?paper dc:creator ?auth. ?paper dc:creator ?coAuth. ?auth foaf:name ``$Name$``}
  FILTER (?auth != ?coAuth)}
GROUP BY ?loc2 ?locName
""",
}


def conference(name: str) -> str:
    """A query with its place holder filled, its prefixes declared and its slip mended."""
    return CONFERENCE_PREFIXES + CONFERENCE[name].replace("``$Name$``", '"Ada"').replace(". loc2", ". ?loc2")


@pytest.mark.parametrize("name", ["Q1", "Q3", "Q4"])
def test_the_printers_quotes_are_named(name: str) -> None:
    with pytest.raises(QuerySyntaxError, match="found a backtick; expected a blank node, a number, a string"):
        parse_query(CONFERENCE[name])


def test_the_location_without_its_question_mark_is_found() -> None:
    with pytest.raises(QuerySyntaxError, match=r"found `loc2`; did you mean \?loc2\? A variable begins with") as error:
        parse_query(CONFERENCE["Q5"])
    assert (error.value.line, error.value.column) == (7, 63)


@pytest.mark.parametrize("name", list(CONFERENCE))
def test_prefixes_left_out_for_space_are_asked_for(name: str) -> None:
    text = conference(name).replace(CONFERENCE_PREFIXES, "")
    with pytest.raises(QuerySyntaxError, match="prefix `lv:` is not declared; declare it: PREFIX lv: <"):
        parse_query(text)


@pytest.mark.parametrize(
    ("name", "windows"),
    [
        ("Q1", ["NOW"]),
        ("Q2", ["NOW", "RANGE 3s"]),
        ("Q3", ["TRIPLES 1", "RANGE 5s"]),
        ("Q4", ["TRIPLES 1", "RANGE 15s"]),
        ("Q5", ["TRIPLES 1", "RANGE 30s"]),
    ],
)
def test_the_conference_queries_read_the_windows_they_print(name: str, windows: list[str]) -> None:
    assert [str(w.window) for w in parse_query(conference(name)).windows] == windows


@pytest.mark.parametrize("name", ["Q1", "Q2", "Q3", "Q5"])
def test_the_conference_queries_see_the_default_graph_beside_the_floor_plan(name: str) -> None:
    dataset = parse_query(conference(name)).dataset
    assert dataset.default is None
    assert [g.value for g in dataset.named or ()] == ["http://deri.org/floorplan/"]


@pytest.mark.parametrize("name", ["Q1", "Q2", "Q3", "Q4"])
def test_four_conference_queries_need_no_leniency(name: str) -> None:
    assert parse_query(conference(name)).warnings == ()


def test_the_count_without_parentheses_is_the_count_with_them() -> None:
    lenient = conference("Q5")
    legal = lenient.replace("count(distinct ?coAuth) as ?noCoAuths", "(COUNT(DISTINCT ?coAuth) AS ?noCoAuths)")
    assert parse_query(lenient) == parse_query(legal)
    assert [w.legal for w in parse_query(lenient).warnings] == ["(COUNT(DISTINCT ?coAuth) AS ?noCoAuths)"]
    assert parse_query(legal).warnings == ()


# DEBS grand challenge: RDF stream processing with CQELS for real-time analysis (2015), section 2 ----------------------

PREFIX = "PREFIX : <http://example.org/taxi#>\n"

ONE_SHOT_Q1 = """
SELECT (ROUND((41.474937-?pLat)/0.005986)    AS ?pE)
       (ROUND((74.913585+?pLon)/0.004491556) AS ?pS)
       (ROUND((41.474937-?dLat)/0.005986)    AS ?dE)
       (ROUND((74.913585+?dLon)/0.004491556) AS ?dS)
       (COUNT(?trip) AS ?freq)
FROM   <http://example/taxi.rdf>
WHERE {
  ?trip :pickLon ?pLon. ?trip :pickLat ?pLat.
  ?trip :dropLon ?dLon. ?trip :dropLat ?dLat.
}
GROUP BY  ?pE ?pS ?dE ?dS
HAVING    (?pE>0 && ?pE<301 && ?pS>0 && ?pS<301 &&
           ?dE>0 && ?dE<301 && ?dS>0 && ?dS<301)
ORDER BY  ?freq
LIMIT 10
"""

Q1 = """
SELECT (ROUND((41.474937-?pLat)/0.005986)    AS ?pE)
       (ROUND((74.913585+?pLon)/0.004491556) AS ?pS)
       (ROUND((41.474937-?dLat)/0.005986)    AS ?dE)
       (ROUND((74.913585+?dLon)/0.004491556) AS ?dS)
       (COUNT(?trip) AS ?freq)
WHERE {
  STREAM <Taxi> [RANGE 30 minutes] {
    ?trip :pickLon ?pLon. ?trip :pickLat ?pLat.
    ?trip :dropLon ?dLon. ?trip :dropLat ?dLat. }
}
GROUP BY  ?pE ?pS ?dE ?dS
HAVING    (?pE>0 && ?pE<301 && ?pS>0 && ?pS<301 &&
           ?dE>0 && ?dE<301 && ?dS>0 && ?dS<301)
ORDER BY  ?freq
LIMIT 10
"""

LEGAL_Q1 = """
SELECT ?pE ?pS ?dE ?dS (COUNT(?trip) AS ?freq)
WHERE {
  STREAM <Taxi> [RANGE 30m] {
    ?trip :pickLon ?pLon. ?trip :pickLat ?pLat.
    ?trip :dropLon ?dLon. ?trip :dropLat ?dLat. }
}
GROUP BY (ROUND((41.474937-?pLat)/0.005986)    AS ?pE)
         (ROUND((74.913585+?pLon)/0.004491556) AS ?pS)
         (ROUND((41.474937-?dLat)/0.005986)    AS ?dE)
         (ROUND((74.913585+?dLon)/0.004491556) AS ?dS)
HAVING    (?pE>0 && ?pE<301 && ?pS>0 && ?pS<301 &&
           ?dE>0 && ?dE<301 && ?dS>0 && ?dS<301)
ORDER BY  ?freq
LIMIT 10
"""

Q2 = """
SELECT ?pE ?pS ?noEmptyTaxis
       ?prof (?prof/?noEmptyTaxis AS ?profitability)
WHERE {
  {SELECT
    (ROUND((41.474937-?pLat1)*2/0.005986)    AS ?pE)
    (ROUND((74.913585+?pLon1)*2/0.004491556) AS ?pS)
    (MEDIAN(?fare+?tip)                      AS ?prof)
   WHERE {
     STREAM <Taxi> [RANGE 15 minutes] {
       ?trip :fare    ?fare.
       ?trip :tip     ?tip.
       ?trip :pickLat ?pLat1.
       ?trip :pickLon ?pLon1.
     }
   }
   GROUP BY ?pE ?pS
   HAVING (?pE>0 && ?pE<601 && ?pE>0 && ?pS<601)
  }
  {SELECT
    (ROUND((41.474937-?pLat2)*2/0.005986)    AS ?pE)
    (ROUND((74.913585+?pLon2)*2/0.004491556) AS ?pS)
    (COUNT(?taxi)                            AS ?noEmptyTaxis)
   WHERE {
     STREAM <Taxi> [RANGE 30 minutes] {
       ?trip2 :pickLat ?pLat2
       ?trip2 :pickLon ?pLon2.
       ?trip2 :taxi ?taxi.
       ?trip2 :dropoffTime ?dropoff.
     }
     FILTER NOT EXISTS {
       STREAM <Taxi> [RANGE 30 minutes] {
         ?trip3 :taxi ?taxi.
         ?trip3 :pickupTime ?pickup.
       }
       FILTER (?pickup>?dropoff)
     }
   }
   GROUP BY ?pE ?pS
   HAVING (?pE>0 && ?pE<601 && ?pS>0 && ?pS<601 &&
           ?noEmptyTaxis>0)
  }
}
ORDER BY ?profitability
LIMIT 10
"""

LEGAL_Q2 = """
SELECT ?pE ?pS ?noEmptyTaxis ?prof (?prof / ?noEmptyTaxis AS ?profitability) WHERE {
  { SELECT ?pE ?pS (MEDIAN(?fare + ?tip) AS ?prof)
    WHERE { STREAM <Taxi> [RANGE 15m] { ?trip :fare ?fare ; :tip ?tip ; :pickLat ?pLat1 ; :pickLon ?pLon1 } }
    GROUP BY (ROUND((41.474937 - ?pLat1) * 2 / 0.005986) AS ?pE) (ROUND((74.913585 + ?pLon1) * 2 / 0.004491556) AS ?pS)
    HAVING (?pE > 0 && ?pE < 601 && ?pE > 0 && ?pS < 601) }
  { SELECT ?pE ?pS (COUNT(?taxi) AS ?noEmptyTaxis)
    WHERE {
      STREAM <Taxi> [RANGE 30m] { ?trip2 :pickLat ?pLat2 ; :pickLon ?pLon2 ; :taxi ?taxi ; :dropoffTime ?dropoff }
      FILTER NOT EXISTS {
        STREAM <Taxi> [RANGE PT30M] { ?trip3 :taxi ?taxi ; :pickupTime ?pickup }
        FILTER (?pickup > ?dropoff) } }
    GROUP BY (ROUND((41.474937 - ?pLat2) * 2 / 0.005986) AS ?pE) (ROUND((74.913585 + ?pLon2) * 2 / 0.004491556) AS ?pS)
    HAVING (?pE > 0 && ?pE < 601 && ?pS > 0 && ?pS < 601 && COUNT(?taxi) > 0) }
} ORDER BY ASC(?profitability) LIMIT 10
"""

MENDED_Q2 = Q2.replace("?pLat2\n", "?pLat2.\n")


@pytest.mark.parametrize("text", [ONE_SHOT_Q1, Q1, MENDED_Q2])
def test_the_prefix_that_the_paper_leaves_out_is_asked_for(text: str) -> None:
    with pytest.raises(QuerySyntaxError, match=r"prefix `:` is not declared; declare it: PREFIX : <\.\.\.>"):
        parse_query(text)


def test_the_dot_that_the_second_query_lacks_is_missed() -> None:
    with pytest.raises(QuerySyntaxError, match=r"found `\?trip2`; is a `\.` missing before it\?") as error:
        parse_query(PREFIX + Q2)
    assert error.value.source_line.strip() == "?trip2 :pickLon ?pLon2."


def test_grouping_by_aliases_is_grouping_by_what_they_stand_for() -> None:
    assert parse_query(PREFIX + Q1) == parse_query(PREFIX + LEGAL_Q1)


def test_the_one_shot_query_differs_from_the_continuous_one_by_its_window_alone() -> None:
    one_shot = PREFIX + ONE_SHOT_Q1.replace("FROM   <http://example/taxi.rdf>", "")
    window = parse_query(PREFIX + Q1).windows[0]
    inner = _matched(parse_query(one_shot).pattern)
    assert _matched(parse_query(PREFIX + Q1).pattern) == a.Window(window, inner)


def _matched(pattern: a.Pattern) -> a.Pattern:
    """What a selection selects from: below its slice, projection, order, filter and group."""
    while not isinstance(pattern, a.BGP | a.Window):
        assert isinstance(pattern, a.Slice | a.Project | a.OrderBy | a.Extend | a.Filter | a.Group)
        pattern = pattern.pattern
    return pattern


def test_the_nested_query_is_its_legal_form() -> None:
    assert parse_query(PREFIX + MENDED_Q2) == parse_query(PREFIX + LEGAL_Q2)


def test_the_legal_forms_need_no_warning() -> None:
    assert parse_query(PREFIX + LEGAL_Q1).warnings == ()
    assert parse_query(PREFIX + LEGAL_Q2).warnings == ()


def test_each_lenient_form_of_the_first_query_is_shown_in_its_legal_form() -> None:
    assert [w.legal for w in parse_query(PREFIX + Q1).warnings] == [
        "RANGE 30m",
        "GROUP BY (ROUND((41.474937 - ?pLat) / 0.005986) AS ?pE) and SELECT ?pE",
        "GROUP BY (ROUND((74.913585 + ?pLon) / 0.004491556) AS ?pS) and SELECT ?pS",
        "GROUP BY (ROUND((41.474937 - ?dLat) / 0.005986) AS ?dE) and SELECT ?dE",
        "GROUP BY (ROUND((74.913585 + ?dLon) / 0.004491556) AS ?dS) and SELECT ?dS",
    ]


def test_each_lenient_form_of_the_second_query_is_shown_in_its_legal_form() -> None:
    assert [w.legal for w in parse_query(PREFIX + MENDED_Q2).warnings] == [
        "RANGE 15m",
        "GROUP BY (ROUND((41.474937 - ?pLat1) * 2 / 0.005986) AS ?pE) and SELECT ?pE",
        "GROUP BY (ROUND((74.913585 + ?pLon1) * 2 / 0.004491556) AS ?pS) and SELECT ?pS",
        "RANGE 30m",
        "RANGE 30m",
        "GROUP BY (ROUND((41.474937 - ?pLat2) * 2 / 0.005986) AS ?pE) and SELECT ?pE",
        "GROUP BY (ROUND((74.913585 + ?pLon2) * 2 / 0.004491556) AS ?pS) and SELECT ?pS",
        "HAVING (?pE > 0 && ?pE < 601 && ?pS > 0 && ?pS < 601 && COUNT(?taxi) > 0)",
    ]


def test_warnings_stand_where_the_lenient_form_does() -> None:
    places = [(w.place.line, w.place.column) for w in parse_query(PREFIX + Q1).warnings if w.place is not None]
    assert places == [(9, 24), (13, 11), (13, 15), (13, 19), (13, 23)]


def test_the_second_query_has_two_windows_on_one_stream() -> None:
    assert [str(w.window) for w in parse_query(PREFIX + MENDED_Q2).windows] == ["RANGE 15m", "RANGE 30m"]
