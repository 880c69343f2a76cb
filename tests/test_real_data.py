"""Experiments on real data: each says in its report what it ran on, and what of it was not at hand."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.experiments import challenge, events, incremental, lubm, windows
from benchmarks.report import Part, Progress
from tests.suites import suite

SUITES: dict[str, tuple[ModuleType, str, str]] = {
    "windows": (windows, "lubm", "103,074 triples"),
    "lubm": (lubm, "lubm", "103,074 triples"),
    "events": (events, "ldbc-snb", "4,230 graphs"),
    "incremental": (incremental, "ldbc-snb", "4,230 updates"),
    "challenge": (challenge, "debs2015", "10,004 of them"),
}
pytestmark = [pytest.mark.slow, pytest.mark.parametrize("name", SUITES)]


def run_small(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Part:
    """As a quick run does it, at the smallest sizes, for the smallest run has no real data."""
    monkeypatch.setitem(module.SIZES, "quick", module.SIZES["smoke"])
    part: Part = module.run("quick", Progress())
    return part


def test_a_report_says_which_suite_is_not_at_hand(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, folder, _ = SUITES[name]
    monkeypatch.setenv("MILLSTREAM_SUITES", str(tmp_path))
    part = run_small(module, monkeypatch)
    assert [line for line in part.missing if f"there is no suite {folder}; --suites" in line]
    assert all("seeded" in line for line in part.data)


def test_a_report_says_on_which_real_data_it_ran(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, folder, what = SUITES[name]
    suite(folder)
    part = run_small(module, monkeypatch)
    assert [line for line in part.data if "seeded" not in line and what in line]
    assert not [line for line in part.missing if "there is no suite" in line]
