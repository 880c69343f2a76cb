"""Each target, for a moment and always with the same garbage; see `tests.fuzz` for longer runs."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz.targets import TARGETS

RUNS = {
    "scanner": 1500,
    "join": 1500,
    "merge": 1500,
    "flow": 60,
    "engine": 200,
    "queries": 60,
    "readers": 150,
    "lines": 200,
    "mapping": 500,
    "snapshot": 100,
    "values": 300,
    "checkpoint": 10,
    "blobs": 100,
    "static": 200,
    "sessions": 20,
    "alone": 8,
    "cells": 6,
}


@pytest.mark.parametrize("name", TARGETS)
def test_garbage_is_taken_or_refused(name: str) -> None:
    for seed in range(RUNS[name]):
        try:
            TARGETS[name](Random(seed))
        except Exception as error:
            raise AssertionError(f"python -m tests.fuzz --target {name} --seed {seed}") from error
