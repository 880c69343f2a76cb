"""Step 2: windows. Told in docs/tutorial/2-windows.md, which shows what this prints."""

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


def try_window(window, output="CHANGES"):
    engine = ms.Engine()
    query = engine.register(f"""
        PREFIX : <http://example.org/house/>
        SELECT {output} ?degrees WHERE {{ STREAM :readings [{window}] {{ :s1 :shows ?degrees }} }}""")
    for second, degrees in [(1, 20), (4, 21), (5, 22), (12, 23)]:
        engine.push(READINGS, turtle(f":s1 :shows {degrees} ."), at_ms=second * 1000)
    engine.finish()
    show(query)


try_window("RANGE 10s")

try_window("RANGE 10s STEP 5s", output="RSTREAM")

try_window("RANGE 5s TUMBLING", output="RSTREAM")

try_window("ELEMENTS 2")

try_window("SESSION 3s")
