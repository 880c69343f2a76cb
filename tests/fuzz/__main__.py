"""`python -m tests.fuzz --seconds 60 [--target join] [--seed 7]`: feeds garbage until the time is over."""

from __future__ import annotations

import argparse
import time
import traceback
from random import Random

from tests.fuzz.targets import TARGETS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Feeds garbage, says which seed fails.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--target", choices=TARGETS, action="append", help="all of them by default")
    parser.add_argument("--seed", type=int, help="only this one, once")
    chosen = parser.parse_args()
    names = chosen.target or list(TARGETS)
    seed = time.time_ns() if chosen.seed is None else chosen.seed
    until = time.monotonic() + chosen.seconds
    runs = failures = 0
    while time.monotonic() < until:
        for name in names:
            try:
                TARGETS[name](Random(seed))
            except Exception:
                failures += 1
                traceback.print_exc()
                print(f"{name}: failed with --target {name} --seed {seed}", flush=True)
            runs += 1
        if chosen.seed is not None or failures >= 10:
            break
        seed += 1
    print(f"{runs} runs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
