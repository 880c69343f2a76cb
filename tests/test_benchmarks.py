"""The benchmarks still run: each part at its smallest, its own checks of answers included. No time is asserted."""

import json
from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.__main__ import PARTS, run_part


@pytest.mark.parametrize("name", PARTS)
def test_a_part_gives_tables_or_text_that_can_be_written(name: str, tmp_path: Path) -> None:
    part = run_part(name, "smoke", report.Progress())
    assert part.tables or part.text
    text, data = report.write(tmp_path, "smoke", report.machine(), "smoke", [part])
    assert part.about in text.read_text()
    assert json.loads(data.read_text())["parts"][0]["name"] == name


def test_a_target_that_is_missed_says_so() -> None:
    missed, reached = report.at_least("speed", 3.0, 2.9), report.at_most("growth", 3.0, 2.9)
    text = report.markdown(report.Part("part", "About it.", targets=[missed, reached]))
    assert "NOT REACHED: speed: 2.90 (target >= 3.00)" in text
    assert "- reached: growth" in text
