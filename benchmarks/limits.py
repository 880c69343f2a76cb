"""What may take too long or too much memory, in a process of its own that is ended when it does.

A peer that spends minutes in compiled code hears no signal, and one that needs more memory than there is takes
everything else with it.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
LOOK_S = 0.1
"""How often the other process is looked at."""
PATIENCE = 5


@dataclass(frozen=True, slots=True)
class Limit:
    """What a process may use up."""

    seconds: float
    """Of CPU; by the clock PATIENCE times as many, for who waits uses none."""
    bytes: int
    """Of resident memory."""


UNLIMITED = Limit(math.inf, sys.maxsize)


class LimitError(Exception):
    """A process went beyond its limit, or ended without a word."""


def within(limit: Limit, apart: bool, function: Callable[..., T], *arguments: Any) -> T:
    """What a function of a module gives in a fresh process, unless it takes more than the limit.

    Raises LimitError, with the reason in a few words, and whatever the function raises. What is small is not worth a
    process, and has no limit then.
    """
    if not apart:
        return function(*arguments)
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(there, function, arguments), daemon=True)
    process.start()
    there.close()
    began = time.monotonic()
    try:
        while not here.poll(LOOK_S):
            spent, occupied = _used(process.pid)
            if spent > limit.seconds or time.monotonic() - began > PATIENCE * limit.seconds:
                raise LimitError(f"not done within {limit.seconds:g} CPU seconds")
            if occupied > limit.bytes:
                raise LimitError(f"more than {limit.bytes / 1e9:g} GB of memory")
        try:
            failed, result = here.recv()
        except EOFError:
            process.join()
            raise LimitError(f"ended with code {process.exitcode} and no result") from None
    finally:
        process.kill()
        process.join()
        here.close()
    if failed:
        raise result
    return result  # type: ignore[no-any-return]


def _run(pipe: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        result = (False, function(*arguments))
    except Exception as error:  # handed on, to be raised where it was called
        result = (True, error)
    pipe.send(result)


def _used(pid: int | None) -> tuple[float, int]:
    """CPU seconds and bytes of resident memory of a process, as long as it is there."""
    try:
        # What follows the name, which may have spaces, begins with the third field.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0, 0
    spent = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent, int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
