"""A campaign: targets take turns, each turn in a process of its own, so that a crash or a hang costs one case.

A turn (`tests.fuzz.turn`) tells each seed before it tries it. If its process dies, or says nothing for longer than a case
may take, the last seed told is the one that did it, and the next turn goes on behind it.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

MOST_FAILURES = 5
"""A target that has failed as often is not tried again: it is the same fault, most likely."""
LONGEST_TURN_S = 60.0
SHARES = {"sessions": 5, "alone": 4, "cells": 3, "flow": 3, "readers": 2}
"""What gets more time than others: a case takes long, or there is most to find."""
_STARTING_S = 600.0
"""A process that has not begun is no fault of its target: a busy machine takes long to start one."""


@dataclass
class Tally:
    """What became of one target."""

    next_seed: int
    runs: int = 0
    seconds: float = 0.0
    failures: int = 0


class Campaign:
    """All targets, for a time."""

    def __init__(self, names: list[str], seconds: float, first: int, limit_s: float) -> None:
        self._tallies = {name: Tally(first) for name in names}
        self._seconds = seconds
        self._first = first
        self._limit_s = limit_s

    def run(self) -> int:
        """Until the time is over, or somebody has seen enough; 1 if anything failed."""
        print(f"{len(self._tallies)} targets, {self._seconds / 60:g} minutes, seeds from {self._first}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            self._take_turns(time.monotonic() + self._seconds)
        return self.tell()

    def _take_turns(self, until: float) -> None:
        while (left := until - time.monotonic()) > 0:
            names = [name for name, tally in self._tallies.items() if tally.failures < MOST_FAILURES]
            if not names:
                return
            # Who had least of its share is next, so that slow starts and long cases are made up for.
            name = min(names, key=lambda n: self._tallies[n].seconds / SHARES.get(n, 1))
            self.turn(name, min(LONGEST_TURN_S, max(1.0, self._seconds / len(names) / 2), left))

    def turn(self, name: str, seconds: float) -> None:
        """One target, until it fails or its time is over, which begins when it has started."""
        tally = self._tallies[name]
        before, began = tally.runs, time.monotonic()
        with tempfile.TemporaryFile() as complaints:
            command = [sys.executable, "-m", "tests.fuzz.turn", name, str(tally.next_seed), str(seconds), str(self._limit_s)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=complaints) as process:
                ended = self._listen(process, tally)
            tally.seconds += time.monotonic() - began
            failed = ended if ended or process.returncode == 0 else _cause(process.returncode)
            if failed:
                tally.failures += 1
                complaints.seek(0)
                print(complaints.read().decode("utf-8", "replace")[-6000:])
                print(f"{name}: {failed}")
                if tally.runs > before:
                    print(f"repeat: {repeated(name, tally.next_seed - 1)}", flush=True)

    def _listen(self, process: subprocess.Popen[bytes], tally: Tally) -> str:
        """Counts what a turn tells until it ends; gives why it had to be ended."""
        assert process.stdout is not None
        pipe, rest, patience_s = process.stdout.fileno(), b"", _STARTING_S
        while True:
            if not select.select([pipe], [], [], patience_s)[0]:
                process.kill()
                return f"hangs: nothing for {patience_s:g} s"
            data = os.read(pipe, 1 << 16)
            if not data:
                return ""
            patience_s = self._limit_s + 30
            *lines, rest = (rest + data).split(b"\n")
            if lines:
                tally.runs += len(lines)
                tally.next_seed = int(lines[-1]) + 1

    def tell(self) -> int:
        """What became of all targets; 1 if anything failed."""
        print(f"{'target':<20} {'runs':>10} {'seconds':>9} {'failures':>9}")
        for name, tally in sorted(self._tallies.items()):
            print(f"{name:<20} {tally.runs:>10,} {tally.seconds:>9.0f} {tally.failures:>9}")
        failures = sum(tally.failures for tally in self._tallies.values())
        runs, seconds = (sum(x) for x in zip(*((t.runs, t.seconds) for t in self._tallies.values()), strict=True))
        print(f"{'all':<20} {runs:>10,} {seconds:>9.0f} {failures:>9}", flush=True)
        return 1 if failures else 0


def _cause(code: int) -> str:
    return f"died of signal {-code}" if code < 0 else "failed"


def repeated(name: str, seed: int) -> str:
    """The command that tries a case again, in the same build."""
    words = f"--target {name} --seed {seed}"
    return f'make fuzz-asan FUZZ="{words}"' if in_asan() else f"python -m tests.fuzz {words}"


def in_asan() -> bool:
    """Whether this is the build with AddressSanitizer."""
    return "asan" in os.environ.get("LD_PRELOAD", "")
