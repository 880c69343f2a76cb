"""Step 3: a graph. Told in docs/tutorial/3-graph.md, which shows what this prints."""

from pyoxigraph import RdfFormat, parse

import millstream as ms

HOUSE = "http://example.org/house/"
READINGS = HOUSE + "readings"


def turtle(text):
    return parse(f"@prefix : <{HOUSE}> . {text}", RdfFormat.TURTLE)


def show(query):
    for answer in query.take():
        values = [str(value).removeprefix(HOUSE) for value in answer.python().values()]
        print(f"{answer.at_ms // 1000:>2} s  {answer.weight:+}  {' '.join(values)}")


engine = ms.Engine()
count = engine.load(
    b"""
    @prefix : <http://example.org/house/> .
    :s1 :in :kitchen .     :kitchen :in :ground .   :ground :in :house .
    :s2 :in :study .       :study   :in :upper .    :upper  :in :house .
    :kitchen :keptBy :ann .
    """,
    format="turtle",
)
print(count, "triples")

rooms = engine.register("""
    PREFIX : <http://example.org/house/>
    SELECT CHANGES ?room ?degrees WHERE {
      STREAM :readings [RANGE 10s] { ?sensor :shows ?degrees }
      ?sensor :in ?room .
      FILTER (?degrees > 25)
    }""")
engine.push(READINGS, turtle(":s1 :shows 26 ."), at_ms=0)
engine.push(READINGS, turtle(":s3 :shows 40 ."), at_ms=1_000)
show(rooms)

keepers = engine.register("""
    PREFIX : <http://example.org/house/>
    SELECT CHANGES ?room ?who WHERE {
      STREAM :readings [RANGE 10s] { ?sensor :shows ?degrees }
      ?sensor :in ?room .
      OPTIONAL { ?room :keptBy ?who }
    }""")
engine.push(READINGS, turtle(":s1 :shows 27 ."), at_ms=2_000)
engine.push(READINGS, turtle(":s2 :shows 28 ."), at_ms=3_000)
show(keepers)

places = engine.register("""
    PREFIX : <http://example.org/house/>
    SELECT ISTREAM ?place WHERE {
      STREAM :readings [RANGE 10s] { ?sensor :shows ?degrees }
      ?sensor :in+ ?place
    }""")
engine.push(READINGS, turtle(":s2 :shows 29 ."), at_ms=4_000)
for answer in sorted(query_answer.python()["place"] for query_answer in places.take()):
    print(answer.removeprefix(HOUSE))

print(rooms.explain())
