"""Makes forty minutes of vibration of six machines on two lines; some of them begin to shake.

python -m examples.cascade.data FOLDER
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

PLANT = "http://example.org/plant/"
MINUTES = 40
LINES = {"m1": "line1", "m2": "line1", "m3": "line1", "m4": "line2", "m5": "line2", "m6": "line2"}
# From which minute to which a machine shakes.
SHAKING = {"m2": (8, 15), "m3": (13, 19), "m5": (24, 30), "m1": (30, 31)}


def samples() -> list[tuple[int, str, float]]:
    """Times in milliseconds, machines, values."""
    chance = random.Random(7)
    found = []
    for second in range(2, MINUTES * 60, 5):
        for machine in LINES:
            since, until = SHAKING.get(machine, (0, 0))
            level = 6.5 if since * 60 <= second < until * 60 else 3.0
            found.append((second * 1000, machine, round(max(0.1, level + chance.gauss(0, 0.8)), 2)))
    return found


def write(folder: Path) -> None:
    """Two files: machines.ttl, and vibration.trig, in which each named graph is a sample."""
    folder.mkdir(parents=True, exist_ok=True)
    head = f"@prefix : <{PLANT}> .\n@prefix prov: <http://www.w3.org/ns/prov#> .\n"
    (folder / "machines.ttl").write_text(head + "".join(f":{machine} :on :{line} .\n" for machine, line in LINES.items()))
    lines = []
    for number, (at_ms, machine, value) in enumerate(samples()):
        graph = f":e{number}"
        lines.append(f"{graph} {{ [] :of :{machine} ; :value {value} . }} {graph} prov:generatedAtTime {at_ms} .\n")
    (folder / "vibration.trig").write_text(head + "".join(lines))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
