"""Makes two hours of taxi trips as CSV: people go to work, then from the station to the fair, then home.

python -m examples.taxis.data FOLDER [TRIPS]
"""

from __future__ import annotations

import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

FIRST = datetime(2026, 1, 5, 7, 0, tzinfo=UTC)
HOURS = 2
TRIPS = 3000
PLACES = ("castle", "docks", "fair", "harbour", "hill", "market", "museum", "park", "station", "university")
# How likely a route is from when on, as a part of two hours.
_BUSY = {
    ("hill", "docks"): (0.0, 0.5),
    ("park", "university"): (0.05, 0.5),
    ("station", "market"): (0.1, 0.9),
    ("station", "fair"): (0.35, 0.8),
    ("harbour", "fair"): (0.4, 0.9),
    ("fair", "station"): (0.7, 1.0),
    ("fair", "castle"): (0.75, 1.0),
}


def write(folder: Path, trips: int = TRIPS) -> Path:
    """A file trips.csv: where from, where to, and when the trip ended."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(11)
    lines = ["from,to,ended"]
    for number in range(trips):
        part = number / trips
        busy = [route for route, (since, until) in _BUSY.items() if since <= part < until]
        start, end = chance.choice(busy) if chance.random() < 0.35 else chance.sample(PLACES, 2)
        ended = FIRST + timedelta(hours=HOURS) * part
        lines.append(f"{start},{end},{ended.isoformat(timespec='seconds').replace('+00:00', 'Z')}")
    path = folder / "trips.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


if __name__ == "__main__":
    write(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
