"""Step 4: aggregates and top-k. Told in docs/tutorial/4-aggregates.md, which shows what this prints."""

from pyoxigraph import RdfFormat, parse

import millstream as ms

HOUSE = "http://example.org/house/"
READINGS = HOUSE + "readings"


def turtle(text):
    return parse(f"@prefix : <{HOUSE}> . {text}", RdfFormat.TURTLE)


def show(query):
    for answer in query.take():
        values = [str(value).removeprefix(HOUSE) for value in answer.python().values()]
        print(f"{answer.at_ms // 1000:>2} s  {answer.weight:+}  {' '.join(values) or 'nothing'}")


def read_sensors(engine):
    kitchen = [(5, "kitchen", 21.5), (20, "kitchen", 24.5), (40, "kitchen", 24.5)]
    study = [(10, "study", 22.5), (75, "study", 27.5)]
    for second, room, degrees in sorted(kitchen + study):
        engine.push(READINGS, turtle(f"[] :of :{room} ; :degrees {degrees} ."), at_ms=second * 1000)
    engine.finish()


engine = ms.Engine()
minutes = engine.register("""
    PREFIX : <http://example.org/house/>
    SELECT RSTREAM ?room (AVG(?d) AS ?mean) (COUNT(*) AS ?readings) WHERE {
      STREAM :readings [RANGE 1m TUMBLING] { ?reading :of ?room ; :degrees ?d }
    }
    GROUP BY ?room
    ORDER BY ?room""")
read_sensors(engine)
show(minutes)

engine = ms.Engine()
means = engine.register("""
    PREFIX : <http://example.org/house/>
    SELECT CHANGES ?room (AVG(?d) AS ?mean) WHERE {
      STREAM :readings [RANGE 30s] { ?reading :of ?room ; :degrees ?d }
    }
    GROUP BY ?room""")
read_sensors(engine)
show(means)

engine = ms.Engine()
warm = engine.register("""
    PREFIX : <http://example.org/house/>
    SELECT CHANGES ?room WHERE {
      STREAM :readings [RANGE 30s] { ?reading :of ?room ; :degrees ?d }
    }
    GROUP BY ?room
    HAVING (AVG(?d) > 23)""")
read_sensors(engine)
show(warm)

engine = ms.Engine()
warmest = engine.register("""
    PREFIX : <http://example.org/house/>
    SELECT CHANGES ?room ?max WHERE {
      { SELECT ?room (MAX(?d) AS ?max) WHERE {
          STREAM :readings [RANGE 30s] { ?reading :of ?room ; :degrees ?d }
        } GROUP BY ?room }
    }
    ORDER BY DESC(?max)
    LIMIT 1""")
read_sensors(engine)
show(warmest)
