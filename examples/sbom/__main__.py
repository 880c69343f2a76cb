"""Vulnerable dependencies over a changing graph: python -m examples.sbom [--folder FOLDER]"""

from __future__ import annotations

from pathlib import Path

import millstream as ms
from examples.sbom import data
from examples.shared.commands import folder_for
from examples.shared.svg import COLOURS, FAINT, INK, Picture, TimeAxis, spans

HERE = Path(__file__).resolve().parent
DAY_MS = 86_400_000
Change = tuple[int, int, str]
"""A time, a weight, and who is vulnerable by what: `shop: CVE-A in log-1`."""


def main() -> None:
    folder = folder_for("sbom", __doc__ or "")
    data.write(folder)
    changes = run(folder)
    for at_ms, weight, name in changes:
        print(f"day {at_ms // DAY_MS:>2}  {weight:+}  {name}")
    draw(changes).write(folder / "picture.svg")
    print("drawn:", folder / "picture.svg")


def run(folder: Path) -> list[Change]:
    """The query over the graph of the first day, then each change on its day."""
    engine = ms.Engine()
    engine.load(folder / "first_day.nt")
    query = engine.register((HERE / "vulnerable.rq").read_text("utf-8"))
    for day, op, *names in data.CHANGES:
        change = engine.insert if op == "insert" else engine.delete
        change(data.triple(*names), at_ms=day * DAY_MS)
    found = []
    for answer in query.take():
        values = {name: term.value.removeprefix(data.SBOM) for name, term in answer.bindings.items()}
        name = f"{values['application']}: {values['advisory']} in {values['package']}"
        found.append((answer.at_ms, answer.weight, name))
    return sorted(found, key=lambda change: (change[0], change[2]))


def draw(changes: list[Change]) -> Picture:
    """The graph of the first day, and when which application was vulnerable."""
    bars = spans(changes, data.DAYS * DAY_MS)
    picture = Picture(860, 600)
    picture.text(20, 26, "What depends on what, on the first day", size=15, bold=True)
    places = _layers()
    affected = {names[2] for names in ((s, p, o) for _, op, s, p, o in data.CHANGES if op == "insert" and p == "affects")}
    for one, others in data.FIRST.items():
        for other in others:
            picture.arrow(*places[one], *places[other], "#9aa7af", width=1.2, short=22)
    for name, (x, y) in places.items():
        colour = COLOURS[0] if name in data.APPLICATIONS else COLOURS[1] if name in affected else FAINT
        picture.rect(x - 34, y - 12, 68, 24, colour, opacity=0.35, about=name)
        picture.text(x, y + 4, name, anchor="middle", size=11)
    picture.rect(600, 14, 12, 12, COLOURS[1], opacity=0.35)
    picture.text(617, 24, "gets an advisory in these thirty days", size=11)
    top = 370
    picture.text(20, top - 14, "Who is vulnerable, and by what", size=15, bold=True)
    axis = TimeAxis(picture, 0, data.DAYS * DAY_MS, 110, 820)
    axis.draw(top, top + 180, 5 * DAY_MS, DAY_MS, "d")
    advisories = sorted({name.split()[1] for name, _, _ in bars})
    for number, application in enumerate(data.APPLICATIONS):
        picture.text(100, top + 45 * number + 26, application, anchor="end")
        lanes: list[int] = []
        for name, since, until in sorted(bars, key=lambda bar: bar[1]):
            if not name.startswith(application + ":"):
                continue
            lane = next((lane for lane, busy in enumerate(lanes) if busy <= since), len(lanes))
            lanes[lane : lane + 1] = [until]
            y = top + 45 * number + 6 + 16 * lane
            colour = COLOURS[1 + advisories.index(name.split()[1])]
            picture.rect(axis.x(since), y, axis.x(until) - axis.x(since), 14, colour, about=name)
    for number, advisory in enumerate(advisories):
        picture.rect(110 + number * 100, top + 206, 12, 12, COLOURS[1 + number])
        picture.text(127 + number * 100, top + 216, advisory, size=11)
    picture.line([(110, top), (110, top + 180)], INK, width=1)
    return picture


def _layers() -> dict[str, tuple[float, float]]:
    """Where a package stands: below all that depend on it."""
    depth = dict.fromkeys(data.APPLICATIONS, 0)
    for _ in range(len(data.FIRST)):
        for one, others in data.FIRST.items():
            for other in others:
                depth[other] = max(depth.get(other, 0), depth.get(one, 0) + 1)
    places = {}
    for layer in range(max(depth.values()) + 1):
        names = [name for name in depth if depth[name] == layer]
        for number, name in enumerate(names):
            places[name] = (90 + 740 * (number + 0.5) / len(names) - 20, 66 + layer * 70)
    return places


if __name__ == "__main__":
    main()
