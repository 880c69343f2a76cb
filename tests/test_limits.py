"""Processes with a limit: what comes back, and what is said of those that go beyond it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.limits import UNLIMITED, Limit, LimitError, within


def double(number: int) -> int:
    return 2 * number


def fail(_: int) -> None:
    raise ValueError("answers differ")


def occupy(size: int) -> int:
    held = bytearray(os.urandom(1024) * (size // 1024))
    time.sleep(30)
    return len(held)


def spin(_: int) -> None:
    while True:
        pass


def leave(code: int) -> None:
    os._exit(code)


@pytest.mark.parametrize("apart", [True, False], ids=["apart", "here"])
def test_what_a_function_gives_or_raises_comes_back(apart: bool) -> None:
    assert within(UNLIMITED, apart, double, 21) == 42
    with pytest.raises(ValueError, match="answers differ"):
        within(UNLIMITED, apart, fail, 0)


@pytest.mark.parametrize(
    ("limit", "function", "argument", "reason"),
    [
        (Limit(2, 10**12), spin, 0, "not done within 2 CPU seconds"),
        (Limit(0.2, 10**12), time.sleep, 30, "not done within 0.2 CPU seconds"),
        (Limit(20, 200_000_000), occupy, 400_000_000, "more than 0.2 GB of memory"),
        (UNLIMITED, leave, 3, "ended with code 3 and no result"),
    ],
    ids=["work", "waiting", "memory", "silence"],
)
def test_a_process_that_goes_too_far_is_ended_with_the_reason(
    limit: Limit, function: Callable[..., Any], argument: int, reason: str
) -> None:
    with pytest.raises(LimitError, match=reason):
        within(limit, True, function, argument)
