"""Makes a morning in a building: readings of six sensors, and badges of five people who go from room to room.

python -m examples.rooms.data FOLDER
"""

from __future__ import annotations

import math
import random
import sys
from pathlib import Path

BUILDING = "http://example.org/building/"
FIRST_MS = 1_767_603_600_000
"""2026-01-05T09:00:00Z."""
MINUTES = 60
SENSORS = {"s1": "kitchen", "s2": "kitchen", "s3": "lab", "s4": "lab", "s5": "hall", "s6": "study"}
PEOPLE = ("ann", "ben", "cleo", "dan", "eve")
_PREFIXES = f"""\
@prefix : <{BUILDING}> .
@prefix prov: <http://www.w3.org/ns/prov#> .
"""


def degrees(room: str, minute: float) -> float:
    """Breakfast warms the kitchen, an experiment the lab."""
    warmth = {"kitchen": 9 * math.exp(-(((minute - 18) / 8) ** 2)), "lab": 7 * math.exp(-(((minute - 44) / 6) ** 2))}
    return 21 + warmth.get(room, 0)


def write(folder: Path) -> None:
    """Three files: rooms.ttl, readings.trig and badges.trig, in which each named graph is an element."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(5)
    rooms = "".join(f":{sensor} :in :{room} .\n" for sensor, room in SENSORS.items())
    (folder / "rooms.ttl").write_text(_PREFIXES + rooms)
    readings = []
    for second in range(0, MINUTES * 60, 5):
        sensor = list(SENSORS)[second // 5 % len(SENSORS)]
        value = degrees(SENSORS[sensor], second / 60) + chance.gauss(0, 0.4)
        readings.append((second, f"[] :by :{sensor} ; :degrees {value:.1f} ."))
    _write_elements(folder / "readings.trig", "reading", readings)
    where = dict.fromkeys(PEOPLE, "hall")
    badges = []
    for second in range(0, MINUTES * 60, 4):
        person = PEOPLE[second // 4 % len(PEOPLE)]
        if chance.random() < 0.08:
            where[person] = chance.choice(sorted(set(SENSORS.values())))
        badges.append((second, f":{person} :seenIn :{where[person]} ."))
    _write_elements(folder / "badges.trig", "badge", badges)


def _write_elements(path: Path, kind: str, elements: list[tuple[int, str]]) -> None:
    lines = []
    for number, (second, triples) in enumerate(elements):
        graph = f":{kind}-{number}"
        lines.append(f"{graph} {{ {triples} }} {graph} prov:generatedAtTime {FIRST_MS + second * 1000} .\n")
    path.write_text(_PREFIXES + "".join(lines))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
