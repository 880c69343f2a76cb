"""Step 1: sensors. Told in docs/tutorial/1-sensors.md, which shows what this prints."""

from pyoxigraph import RdfFormat, parse

import millstream as ms

HOUSE = "http://example.org/house/"
READINGS = HOUSE + "readings"


def turtle(text):
    return parse(f"@prefix : <{HOUSE}> . {text}", RdfFormat.TURTLE)


engine = ms.Engine()
warm = engine.register("""
    PREFIX : <http://example.org/house/>
    SELECT CHANGES ?sensor ?degrees WHERE {
      STREAM :readings [RANGE 10s] { ?sensor :shows ?degrees }
      FILTER (?degrees > 25)
    }""")

engine.push(READINGS, turtle(":s1 :shows 21 ."), at_ms=0)
engine.push(READINGS, turtle(":s1 :shows 26 ."), at_ms=4_000)
engine.push(READINGS, turtle(":s2 :shows 28 ."), at_ms=6_000)


def show(query):
    for answer in query.take():
        values = [str(value).removeprefix(HOUSE) for value in answer.python().values()]
        print(f"{answer.at_ms // 1000} s  {answer.weight:+}  {' '.join(values)}")


show(warm)

engine.advance_to(15_000)
show(warm)

for row in warm.solutions():
    print(row["sensor"].value.removeprefix(HOUSE), row["degrees"].value)

engine.finish()
show(warm)
