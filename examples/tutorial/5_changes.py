"""Step 5: deletes and lateness. Told in docs/tutorial/5-changes.md, which shows what this prints."""

from pyoxigraph import RdfFormat, parse

import millstream as ms

HOUSE = "http://example.org/house/"
READINGS = HOUSE + "readings"


def turtle(text):
    return list(parse(f"@prefix : <{HOUSE}> . {text}", RdfFormat.TURTLE))


def show(query):
    for answer in query.take():
        values = [str(value).removeprefix(HOUSE) for value in answer.python().values()]
        print(f"{answer.at_ms // 1000:>2} s  {answer.weight:+}  {' '.join(values)}")


ROOMS = """
    PREFIX : <http://example.org/house/>
    SELECT CHANGES ?room ?degrees WHERE {
      STREAM :readings [RANGE 10s] { ?sensor :shows ?degrees }
      ?sensor :in ?room
    }"""

engine = ms.Engine()
engine.insert(turtle(":s1 :in :kitchen ."))
rooms = engine.register(ROOMS)
engine.push(READINGS, turtle(":s1 :shows 26 ."), at_ms=0)
engine.delete(turtle(":s1 :in :kitchen ."), at_ms=3_000)
engine.insert(turtle(":s1 :in :study ."), at_ms=5_000)
engine.finish()
show(rooms)

engine = ms.Engine()
engine.insert(turtle(":s1 :in :kitchen . :kitchen :in :house ."))
inside = engine.register("""
    PREFIX : <http://example.org/house/>
    SELECT CHANGES ?thing WHERE { ?thing :in+ :house }""")
engine.insert(turtle(":s2 :in :kitchen ."), at_ms=1_000)
engine.delete(turtle(":kitchen :in :house ."), at_ms=2_000)
show(inside)

engine = ms.Engine()
engine.insert(turtle(":s1 :in :kitchen ."))
rooms = engine.register(ROOMS)
engine.push(READINGS, turtle(":s1 :shows 20 ."), at_ms=5_000)
engine.push(READINGS, turtle(":s1 :shows 21 ."), at_ms=3_000)
print("late:", engine.stats["late"])
for rejected in engine.rejected():
    print(rejected.reason)

engine = ms.Engine(lateness_ms=3_000)
engine.insert(turtle(":s1 :in :kitchen ."))
rooms = engine.register(ROOMS)
engine.push(READINGS, turtle(":s1 :shows 20 ."), at_ms=5_000)
engine.push(READINGS, turtle(":s1 :shows 21 ."), at_ms=3_000)
engine.push(READINGS, turtle(":s1 :shows 22 ."), at_ms=1_000)
print("late:", engine.stats["late"])
engine.push(READINGS, turtle(":s1 :shows 23 ."), at_ms=9_000)
show(rooms)
