"""Three CONSTRUCT queries, each reading the stream of the one before: python -m examples.cascade [--folder FOLDER]"""

from __future__ import annotations

from pathlib import Path

from examples.cascade import data
from examples.shared.commands import Answer, answers, folder_for, millstream, minutes
from examples.shared.svg import COLOURS, INK, Picture, TimeAxis

HERE = Path(__file__).resolve().parent
STAGES = ("means", "alarms", "incidents")
LAST_MS = data.MINUTES * 60_000


def main() -> None:
    folder = folder_for("cascade", __doc__ or "")
    data.write(folder)
    millstream(
        "run", *(HERE / f"{stage}.rq" for stage in STAGES), "--engine", "embedded",
        "--stream", f"{data.PLANT}vibration={folder / 'vibration.trig'}", "--dataset", folder / "machines.ttl",
        "--output", folder / "answers", "--format", "ndjson",
    )  # fmt: skip
    found = {stage: answers(folder / "answers" / f"{stage}.ndjson") for stage in STAGES}
    print(f"{len(data.samples()):,} samples, then", ", then ".join(f"{len(found[stage])} {stage}" for stage in STAGES))
    for answer in found["incidents"]:
        print(f"{minutes(answer.at_ms)}  {' '.join(answer.values.values())}")
    draw(found).write(folder / "picture.svg")
    print("drawn:", folder / "picture.svg")


def draw(found: dict[str, list[Answer]]) -> Picture:
    """One below the other: samples, their means, alarms, incidents."""
    picture = Picture(860, 520)
    axis = TimeAxis(picture, 0, LAST_MS, 110, 840)
    colours = dict(zip(data.LINES, COLOURS, strict=False))
    axis.draw(40, 480, 5 * 60_000, 60_000, "min")
    for number, (machine, colour) in enumerate(colours.items()):
        picture.rect(330 + number * 85, 14, 12, 12, colour)
        picture.text(347 + number * 85, 24, f"{machine}, {data.LINES[machine]}", size=11)

    def y(value: float, bottom: float) -> float:
        return bottom - value * 16

    picture.text(20, 60, "samples", bold=True)
    for at_ms, machine, value in data.samples()[::7]:
        picture.circle(axis.x(at_ms), y(value, 190), 1.2, colours[machine])
    picture.text(20, 220, "1  means", bold=True)
    for machine, colour in colours.items():
        points = [a for a in found["means"] if a.values["subject"] == machine]
        picture.line([(axis.x(a.at_ms), y(float(a.values["object"]), 330)) for a in points], colour)
    picture.line([(110, y(5, 330)), (840, y(5, 330))], INK, width=0.7)
    picture.text(104, y(5, 330) + 4, "5", size=11, anchor="end")
    picture.text(20, 370, "2  alarms", bold=True)
    for answer in found["alarms"]:
        machine = answer.values["subject"]
        picture.circle(axis.x(answer.at_ms), 366, 8, colours[machine], about=f"{machine} at {minutes(answer.at_ms)}")
        picture.text(axis.x(answer.at_ms), 392, machine, size=11, anchor="middle")
    picture.text(20, 440, "3  incidents", bold=True)
    by_time: dict[int, list[Answer]] = {}
    for answer in found["incidents"]:
        by_time.setdefault(answer.at_ms, []).append(answer)
    for at_ms, some in by_time.items():
        who = " and ".join(a.values["object"] for a in some)
        picture.rect(axis.x(at_ms) - 9, 427, 18, 18, COLOURS[1], about=who)
        picture.text(axis.x(at_ms) + 14, 440, f"{some[0].values['subject']}: {who}", size=11)
    return picture


if __name__ == "__main__":
    main()
