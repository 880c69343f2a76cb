"""`python -m tests.fuzz --minutes 30 [--target join]`: a campaign. With `--seed 7`: one case, here, to look at it."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from random import Random

from tests.fuzz.campaign import Campaign, in_asan
from tests.fuzz.targets import TARGETS

KILLS = "kills"
"""Whole runs and jobs, killed: a campaign of its own, `tests.fuzz.kills`, with a tenth of the time if there is enough."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Feeds garbage, says which seed fails.")
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--target", choices=[*TARGETS, KILLS], action="append", help="all of them by default")
    parser.add_argument("--seed", type=int, help="only this one, once, in this process; needs a target")
    parser.add_argument("--from", type=int, dest="first", help="the first seed of each target; new ones by default")
    parser.add_argument("--limit", type=float, default=60, help="how many seconds a case may take")
    chosen = parser.parse_args()
    if chosen.seed is not None:
        if not chosen.target:
            parser.error("--seed needs a --target")
        return max(_once(name, chosen.seed) for name in chosen.target)
    names = chosen.target or [*TARGETS, *([KILLS] if chosen.minutes >= 10 and not in_asan() else [])]
    others = [name for name in names if name != KILLS]
    seconds = chosen.minutes * 60
    kills_s = 0.0 if KILLS not in names else 0.1 * seconds if others else seconds
    first = int(time.time()) * 1_000_000 if chosen.first is None else chosen.first
    failed = Campaign(others, seconds - kills_s, first, chosen.limit).run() if others else 0
    return max(failed, _kill("--seconds", str(kills_s)) if kills_s else 0)


def _once(name: str, seed: int) -> int:
    if name == KILLS:
        return _kill("--seed", str(seed))
    TARGETS[name](Random(seed))
    print(f"{name}: seed {seed} is fine")
    return 0


def _kill(*arguments: str) -> int:
    return subprocess.run([sys.executable, "-m", f"tests.fuzz.{KILLS}", *arguments], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
