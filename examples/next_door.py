"""Who was seen next door to whom? A query, a floor plan and a stream of badges, all from files.

Run it from anywhere: `.venv/bin/python examples/next_door.py`.
"""

from pathlib import Path

import millstream as ms

OFFICE = "http://example.org/office/"
HERE = Path(__file__).resolve().parent

engine = ms.Engine()
engine.load(HERE / "floorplan.ttl", graph=OFFICE + "floorplan")
query = engine.register((HERE / "next_door.rq").read_text("utf-8"))
engine.read(OFFICE + "badges", HERE / "badges.trig")
engine.finish()

first_ms = None
for answer in query.take():
    first_ms = answer.at_ms if first_ms is None else first_ms
    person, room, neighbour, next_room = (term.value.removeprefix(OFFICE) for term in answer.bindings.values())
    seconds = (answer.at_ms - first_ms) / 1000
    print(f"{seconds:5.1f} s  {answer.weight:+}  {person} in the {room}, {neighbour} in the {next_room}")
