"""The top routes of taxis, on Spark: python -m examples.taxis [--folder FOLDER]"""

from __future__ import annotations

import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path

from pyspark.sql import SparkSession

from examples.shared.commands import folder_for, millstream
from examples.shared.svg import COLOURS, FAINT, Picture, TimeAxis
from examples.taxis import data
from millstream import pipeline

HERE = Path(__file__).resolve().parent
TAXI = "http://example.org/taxi/"
FIRST_MS = int(data.FIRST.timestamp() * 1000)
LAST_MS = FIRST_MS + data.HOURS * 3_600_000
STEP_MS = 5 * 60_000
Change = tuple[int, int, str, int]
"""A time, a weight, a route, how many trips."""


def main() -> None:
    folder = folder_for("taxis", __doc__ or "")
    rows = data.write(folder)
    (folder / "trips").mkdir(exist_ok=True)
    millstream("map", rows, "--template", HERE / "trips.toml", "--output", folder / "trips" / "trips.nq")
    changes = run(pipeline.session("local[2]"), folder)
    tops = every_step(changes)
    for at_ms in list(tops)[2::6]:
        shown = ", ".join(f"{route} ({trips})" for route, trips in tops[at_ms])
        print(f"{(at_ms - FIRST_MS) // 60_000:>3} min  {shown}")
    draw(tops).write(folder / "picture.svg")
    print("drawn:", folder / "picture.svg")


def run(spark: SparkSession, folder: Path) -> list[Change]:
    """The query as a streaming job; the trips as they come would be new files in the folder."""
    for name in ("answers", "checkpoint"):
        shutil.rmtree(folder / name, ignore_errors=True)
    answers = pipeline.continuous(
        (HERE / "routes.rq").read_text("utf-8"),
        streams={TAXI + "trips": str((folder / "trips").resolve())},
        cells=4,
        once=True,
        spark=spark,
    )
    writer = answers.writeStream.format("parquet").option("checkpointLocation", str((folder / "checkpoint").resolve()))
    writer.trigger(availableNow=True).start(str((folder / "answers").resolve())).awaitTermination()
    rows = spark.read.parquet(str((folder / "answers").resolve())).collect()
    return sorted((row.at_ms, row.weight, f"{_name(row['from'])} to {_name(row['to'])}", _count(row.trips)) for row in rows)


def _name(iri: str) -> str:
    return iri.removeprefix(f"<{TAXI}").removesuffix(">")


def _count(literal: str) -> int:
    return int(literal.split('"')[1])


def every_step(changes: list[Change]) -> dict[int, list[tuple[str, int]]]:
    """The top routes every five minutes: changes up to then added up, the most frequent first."""
    now: Counter[tuple[str, int]] = Counter()
    found, place = {}, 0
    for at_ms in range(FIRST_MS + STEP_MS, LAST_MS, STEP_MS):
        while place < len(changes) and changes[place][0] <= at_ms:
            _, weight, route, trips = changes[place]
            now[route, trips] += weight
            place += 1
        found[at_ms] = sorted((row for row, count in now.items() if count), key=lambda row: (-row[1], row[0]))
    return found


def draw(tops: dict[int, list[tuple[str, int]]]) -> Picture:
    """Each route's place among the five, over time."""
    picture = Picture(860, 330)
    axis = TimeAxis(picture, FIRST_MS, LAST_MS, 60, 740)
    picture.text(20, 26, "The five most frequent routes of the last half hour", size=15, bold=True)
    axis.draw(44, 290, 20 * 60_000, 60_000, "min")
    for place in range(5):
        picture.text(40, 70 + place * 50 + 4, str(place + 1), anchor="middle")
        picture.line([(60, 70 + place * 50), (740, 70 + place * 50)], FAINT, width=1)
    places: dict[str, list[tuple[int, int]]] = {}
    for at_ms, top in tops.items():
        for place, (route, _) in enumerate(top):
            places.setdefault(route, []).append((at_ms, place))
    most = sorted(places, key=lambda route: -len(places[route]))[: len(COLOURS)]
    for route in places:
        colour = COLOURS[most.index(route)] if route in most else "#aab4bb"
        points = [(axis.x(at_ms), 70 + place * 50, at_ms) for at_ms, place in places[route]]
        for before, here in pairwise(points):
            if here[2] - before[2] == STEP_MS:
                picture.line([before[:2], here[:2]], colour, width=2.5)
        for x, y, _ in points:
            picture.circle(x, y, 4, colour, about=route)
    ends = {place: route for route, some in places.items() for at_ms, place in some if at_ms == max(tops)}
    for place, route in ends.items():
        picture.text(745, 70 + place * 50 + 4, route, size=11)
    for number, route in enumerate(most[:6]):
        picture.rect(20 + number * 140, 312, 10, 10, COLOURS[number])
        picture.text(34 + number * 140, 321, route, size=10)
    return picture


if __name__ == "__main__":
    main()
