"""One turn of a target: seed after seed until its time is over or one fails, each told before it is tried.

`python -m tests.fuzz.turn TARGET SEED SECONDS LIMIT` is what a campaign starts. A case that takes longer than the limit ends
the process, with a traceback of where it is.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import sys
import time
from random import Random

from tests.fuzz.targets import TARGETS

MOST_BYTES = 6 << 30
"""A small input that becomes as large is a fault like any other."""


def main(name: str, seed: int, seconds: float, limit_s: float) -> None:
    faulthandler.enable()
    if "asan" not in os.environ.get("LD_PRELOAD", ""):
        # The sanitizer maps terabytes that it never uses.
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    # What a case prints is a complaint, not a seed.
    told = os.dup(1)
    os.dup2(2, 1)
    target = TARGETS[name]
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        os.write(told, b"%d\n" % seed)
        faulthandler.dump_traceback_later(limit_s, exit=True)
        target(Random(seed))
        seed += 1
    faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))
