"""Makes an hour of payments between accounts: most of them small and to anybody, and three rings among them.

python -m examples.fraud.data FOLDER [PAYMENTS]
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

BANK = "http://example.org/bank/"
FIRST_MS = 1_767_603_600_000
"""2026-01-05T09:00:00Z."""
MINUTES = 60
ACCOUNTS = 60
PAYMENTS = 3000
# When a ring begins, in minutes, and who is in it.
RINGS = ((11, ("a07", "a31", "a55")), (34, ("a02", "a18", "a44")), (49, ("a12", "a31", "a40")))


def payments(count: int) -> list[tuple[int, str, str, int]]:
    """Times in milliseconds, from whom, to whom, how much; in the order of time."""
    chance = random.Random(3)
    names = [f"a{number:02d}" for number in range(ACCOUNTS)]
    found = []
    for number in range(count):
        start, end = chance.sample(names, 2)
        found.append((MINUTES * 60_000 * number // count, start, end, int(chance.lognormvariate(4.5, 0.8))))
    for minute, ring in RINGS:
        for step in range(3):
            at_ms = (minute * 60 + step * 150 + chance.randrange(60)) * 1000
            found.append((at_ms, ring[step], ring[(step + 1) % 3], 1000 + chance.randrange(400)))
    return sorted(found)


def write(folder: Path, count: int = PAYMENTS) -> Path:
    """A file payments.trig, in which each named graph is a payment."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"@prefix : <{BANK}> .\n@prefix prov: <http://www.w3.org/ns/prov#> .\n"]
    for number, (at_ms, start, end, amount) in enumerate(payments(count)):
        triples = f":p{number} :from :{start} ; :to :{end} ; :amount {amount} ."
        lines.append(f":e{number} {{ {triples} }} :e{number} prov:generatedAtTime {FIRST_MS + at_ms} .\n")
    path = folder / "payments.trig"
    path.write_text("".join(lines))
    return path


if __name__ == "__main__":
    write(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
