"""The tutorial: scripts and SPECs of examples/tutorial are those of its pages, and print what the pages show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_documentation import ROOT, Block, blocks_of

EXAMPLES = ROOT / "examples" / "tutorial"
STEPS = sorted((ROOT / "docs" / "tutorial").glob("[1-9]-*.md"))
each_step = pytest.mark.parametrize("page", STEPS, ids=lambda page: page.stem)


def shown(page: Path) -> list[Block]:
    """The blocks of a step, without its exercises."""
    text = page.read_text("utf-8")
    end = text[: text.index("## Exercises")].count("\n")
    return [block for block in blocks_of(page) if block.line <= end]


def script_of(page: Path) -> Path:
    return EXAMPLES / f"{page.stem.replace('-', '_')}.py"


def lines(text: str) -> list[str]:
    """Without empty lines: their number depends on what stands around."""
    return [line for line in text.splitlines() if line]


def test_there_are_six_steps_and_a_script_for_each() -> None:
    assert [page.name[0] for page in STEPS] == list("123456")
    assert sorted(EXAMPLES.glob("*.py")) == [script_of(page) for page in STEPS]


@each_step
def test_a_script_is_the_python_of_its_page(page: Path) -> None:
    script = lines(script_of(page).read_text("utf-8"))
    assert script[0].startswith('"""Step ')
    assert script[1:] == lines("".join(block.text for block in shown(page) if block.kind == "python"))


@each_step
def test_a_script_prints_what_its_page_shows(page: Path, tmp_path: Path) -> None:
    found = subprocess.run([sys.executable, script_of(page)], cwd=tmp_path, capture_output=True, check=False, timeout=300)
    assert found.returncode == 0, found.stderr.decode()[-2000:]
    assert found.stdout.decode() == "".join(block.text for block in shown(page) if block.kind == "text")


@each_step
def test_specs_are_those_of_the_page(page: Path) -> None:
    on_page = [block.text for block in shown(page) if block.kind == "check"]
    spec = EXAMPLES / f"{page.stem}.check"
    assert on_page == ([spec.read_text("utf-8")] if spec.exists() else [])


def test_two_steps_at_least_have_a_spec() -> None:
    assert len(list(EXAMPLES.glob("*.check"))) >= 2


@each_step
def test_exercises_have_solutions(page: Path) -> None:
    exercises = page.read_text("utf-8").partition("## Exercises")[2]
    assert "<summary>Solutions</summary>" in exercises
    assert any(block.line > len(shown(page)) and block.kind == "python" for block in blocks_of(page))
