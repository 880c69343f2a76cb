"""Hot rooms, and who met whom: python -m examples.rooms [--folder FOLDER]"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from examples.rooms import data
from examples.shared.commands import Answer, answers, folder_for, millstream, minutes
from examples.shared.svg import COLOURS, INK, Picture, TimeAxis, spans

HERE = Path(__file__).resolve().parent
LAST_MS = data.FIRST_MS + data.MINUTES * 60_000
ROOMS = sorted(set(data.SENSORS.values()))


def main() -> None:
    folder = folder_for("rooms", __doc__ or "")
    data.write(folder)
    millstream(
        "run", HERE / "hot.rq", HERE / "met.rq", "--engine", "embedded",
        "--stream", f"{data.BUILDING}readings={folder / 'readings.trig'}",
        "--stream", f"{data.BUILDING}badges={folder / 'badges.trig'}",
        "--dataset", folder / "rooms.ttl",
        "--output", folder / "answers", "--format", "ndjson",
    )  # fmt: skip
    hot, met = answers(folder / "answers" / "hot.ndjson"), answers(folder / "answers" / "met.ndjson")
    for room, since, until in hot_spans(hot):
        print(f"{minutes(since, data.FIRST_MS)} to {minutes(until, data.FIRST_MS)}  {room} is hot")
    together = {pair: sum(until - since for _, since, until in some) for pair, some in _by_pair(met_spans(met))}
    for pair, length_ms in sorted(together.items(), key=lambda item: -item[1])[:3]:
        print(f"{minutes(length_ms)} minutes together: {pair}")
    draw(hot, met).write(folder / "picture.svg")
    print("drawn:", folder / "picture.svg")


def hot_spans(hot: list[Answer]) -> list[tuple[str, int, int]]:
    return spans([(a.at_ms, a.weight, a.values["room"]) for a in hot], LAST_MS)


def met_spans(met: list[Answer]) -> list[tuple[str, int, int]]:
    return spans(
        [(a.at_ms, a.weight, f"{a.values['a']} and {a.values['b']} in the {a.values['room']}") for a in met], LAST_MS
    )


def _by_pair(some: list[tuple[str, int, int]]) -> list[tuple[str, list[tuple[str, int, int]]]]:
    def pair(span: tuple[str, int, int]) -> str:
        return span[0].partition(" in ")[0]

    return [(name, list(group)) for name, group in groupby(sorted(some, key=pair), pair)]


def draw(hot: list[Answer], met: list[Answer]) -> Picture:
    """Degrees of rooms with the hot times behind them, and below, who was together where."""
    pairs = _by_pair(met_spans(met))
    picture = Picture(860, 330 + 22 * len(pairs))
    axis = TimeAxis(picture, data.FIRST_MS, LAST_MS, 110, 840)
    colours = dict(zip(ROOMS, COLOURS, strict=False))
    picture.text(20, 26, "Hot rooms: the mean of five minutes is above 26 degrees", size=15, bold=True)
    axis.draw(44, 220, 600_000, 60_000, "min")

    def y(degrees: float) -> float:
        return 220 - (degrees - 19) * 15

    for room, since, until in hot_spans(hot):
        picture.rect(
            axis.x(since), 44, axis.x(until) - axis.x(since), 176, colours[room], opacity=0.25, about=f"{room} is hot"
        )
        picture.text(axis.x(since) + 4, 214, f"{room} is hot", size=11)
    for degrees in (20, 26):
        picture.text(100, y(degrees) + 4, f"{degrees}°", size=11, anchor="end")
    picture.line([(110, y(26)), (840, y(26))], INK, width=0.7)
    for room in ROOMS:
        points = [(axis.x(data.FIRST_MS + s * 1000), y(data.degrees(room, s / 60))) for s in range(0, data.MINUTES * 60, 20)]
        picture.line(points, colours[room])
    top = 280
    picture.text(20, top - 10, "Who was together, by room", size=15, bold=True)
    for number, room in enumerate(ROOMS):
        picture.rect(400 + number * 110, top - 21, 12, 12, colours[room])
        picture.text(417 + number * 110, top - 11, room)
    axis.draw(top, top + 22 * len(pairs), 600_000, 60_000, "min")
    for number, (pair, some) in enumerate(pairs):
        picture.text(100, top + 22 * number + 15, pair.replace(" and ", " + "), size=11, anchor="end")
        for name, since, until in some:
            colour = colours[name.rpartition(" ")[2]]
            picture.rect(axis.x(since), top + 22 * number + 4, max(1, axis.x(until) - axis.x(since)), 14, colour, about=name)
    return picture


if __name__ == "__main__":
    main()
