"""Money that goes round: python -m examples.fraud [--folder FOLDER]"""

from __future__ import annotations

import math
from pathlib import Path

from examples.fraud import data
from examples.shared.commands import Answer, answers, folder_for, millstream, minutes
from examples.shared.svg import COLOURS, FAINT, Picture

HERE = Path(__file__).resolve().parent


def main() -> None:
    folder = folder_for("fraud", __doc__ or "")
    payments = data.write(folder)
    millstream(
        "run", HERE / "ring.rq", "--engine", "embedded", "--stream", f"{data.BANK}payments={payments}",
        "--output", folder / "rings.ndjson",
    )  # fmt: skip
    rings = answers(folder / "rings.ndjson")
    for ring in rings:
        print(f"{minutes(ring.at_ms, data.FIRST_MS)}  {' to '.join(accounts(ring))} to {ring.values['a']}")
    draw(rings).write(folder / "picture.svg")
    print("drawn:", folder / "picture.svg")


def accounts(ring: Answer) -> list[str]:
    return [ring.values[name] for name in "abc"]


def draw(rings: list[Answer]) -> Picture:
    """Accounts on a circle, payments faint, and the rings that were found."""
    picture = Picture(620, 640)
    picture.text(20, 26, f"{data.PAYMENTS + 9:,} payments, {len(rings)} rings", size=15, bold=True)
    names = [f"a{number:02d}" for number in range(data.ACCOUNTS)]
    places = {}
    for number, name in enumerate(names):
        angle = 2 * math.pi * number / len(names) - math.pi / 2
        places[name] = (310 + 250 * math.cos(angle), 330 + 250 * math.sin(angle))
        picture.text(310 + 272 * math.cos(angle), 334 + 272 * math.sin(angle), name, size=10, anchor="middle")
    for _, start, end, _ in data.payments(data.PAYMENTS)[::4]:
        picture.line([places[start], places[end]], FAINT, width=0.4)
    for x, y in places.values():
        picture.circle(x, y, 3, "#8a97a0")
    for number, ring in enumerate(rings):
        colour, members = COLOURS[number % len(COLOURS)], accounts(ring)
        for start, end in zip(members, [*members[1:], members[0]], strict=True):
            picture.arrow(*places[start], *places[end], colour, width=3, short=5)
        picture.rect(20, 44 + number * 20, 12, 12, colour)
        picture.text(38, 55 + number * 20, f"after {minutes(ring.at_ms, data.FIRST_MS).strip()}", size=11)
    return picture


if __name__ == "__main__":
    main()
