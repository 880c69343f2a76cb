"""One turn of a target: seed after seed until its time is over or one fails, each told before it is tried.

`python -m tests.fuzz.turn TARGET SEED SECONDS LIMIT` is what a campaign starts. A case that takes longer than the limit ends
the process, with a traceback of where it is.
"""

from __future__ import annotations

import faulthandler
import importlib
import os
import resource
import sys
import time
from collections.abc import Callable
from random import Random

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
    target = target_of(name)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        os.write(told, b"%d\n" % seed)
        faulthandler.dump_traceback_later(limit_s, exit=True)
        target(Random(seed))
        seed += 1
    faulthandler.cancel_dump_traceback_later()


def target_of(name: str) -> Callable[[Random], None]:
    """One of the targets; or, for tests of campaigns, a function by its module: `module:function`."""
    module, colon, function = name.rpartition(":")
    found: Callable[[Random], None]
    if colon:
        found = getattr(importlib.import_module(module), function)
    else:
        found = importlib.import_module("tests.fuzz.targets").TARGETS[name]
    return found


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))
