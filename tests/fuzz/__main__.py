"""`python -m tests.fuzz --minutes 30 [--target join]`: a campaign. With `--seed 7`: one case, here, to look at it."""

from __future__ import annotations

import argparse
import time
from random import Random

from tests.fuzz.campaign import Campaign
from tests.fuzz.targets import TARGETS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Feeds garbage, says which seed fails.")
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--target", choices=TARGETS, action="append", help="all of them by default")
    parser.add_argument("--seed", type=int, help="only this one, once, in this process; needs a target")
    parser.add_argument("--from", type=int, dest="first", help="the first seed of each target; new ones by default")
    parser.add_argument("--limit", type=float, default=60, help="how many seconds a case may take")
    chosen = parser.parse_args()
    if chosen.seed is not None:
        if not chosen.target:
            parser.error("--seed needs a --target")
        for name in chosen.target:
            TARGETS[name](Random(chosen.seed))
            print(f"{name}: seed {chosen.seed} is fine")
        return 0
    first = int(time.time()) * 1_000_000 if chosen.first is None else chosen.first
    return Campaign(chosen.target or list(TARGETS), chosen.minutes * 60, first, chosen.limit).run()


if __name__ == "__main__":
    raise SystemExit(main())
