"""A campaign outlives what it finds: failures, crashes and hangs are told with their seeds, and it goes on."""

from __future__ import annotations

import os
import signal
import time
from random import Random

import pytest

from tests.fuzz.campaign import Campaign


def seed_of(chance: Random) -> int:
    """Which of the first seeds it was made with."""
    first = chance.random()
    return next(seed for seed in range(1000) if Random(seed).random() == first)


def fails(chance: Random) -> None:
    assert seed_of(chance) != 5, "five"


def crashes(chance: Random) -> None:
    if seed_of(chance) == 5:
        os.kill(os.getpid(), signal.SIGKILL)


def hangs(chance: Random) -> None:
    if seed_of(chance) == 5:
        time.sleep(60)


def sound(chance: Random) -> None:
    time.sleep(0.01)


TOLD = [("fails", "AssertionError: five"), ("crashes", "died of signal 9"), ("hangs", "in hangs")]


@pytest.mark.parametrize(("name", "told"), TOLD)
def test_what_goes_wrong_is_told_with_its_seed_and_the_campaign_goes_on(
    name: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target = f"{__name__}:{name}"
    campaign = Campaign([target], seconds=60, first=3, limit_s=2)
    campaign.turn(target, 60)
    campaign.turn(target, 0.1)
    assert campaign.tell() == 1
    out = capsys.readouterr().out
    assert told in out
    assert f"repeat: python -m tests.fuzz --target {target} --seed 5" in out
    _, runs, _, failures = next(line.split() for line in out.splitlines() if line.startswith(f"{target} "))
    assert int(runs.replace(",", "")) > 3
    assert failures == "1"


def test_a_campaign_that_finds_nothing_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert Campaign([f"{__name__}:sound"], seconds=1, first=0, limit_s=5).run() == 0
    assert "failures" in capsys.readouterr().out


def test_a_target_that_does_not_start_is_given_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert Campaign([f"{__name__}:nowhere"], seconds=60, first=0, limit_s=5).run() == 1
    out = capsys.readouterr().out
    assert "has no attribute 'nowhere'" in out
    assert "repeat" not in out
