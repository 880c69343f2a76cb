"""The examples: each runs by its one command, prints what its README shows, and draws the picture that is beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from millstream.cli.check import ENDING
from millstream.testing import read_spec
from tests.test_documentation import blocks_of

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
# The one on Spark is in tests/pipeline/job/test_taxi_example.py, which shares a session.
HERE = ["cascade", "fraud", "rooms", "sbom"]


def folders() -> list[Path]:
    return sorted(path.parent for path in EXAMPLES.glob("*/__main__.py"))


@pytest.mark.parametrize("name", HERE)
def test_an_example_prints_what_its_readme_shows_and_draws_its_picture(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", f"examples.{name}", "--folder", str(tmp_path)]
    found = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert found.returncode == 0, found.stderr[-2000:]
    shown = [block.text for block in blocks_of(EXAMPLES / name / "README.md") if block.kind == ""]
    assert shown[0] == f"python -m examples.{name}\n"
    assert shown[1] in found.stdout
    assert (tmp_path / "picture.svg").read_text() == (EXAMPLES / name / "picture.svg").read_text()


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_an_example_has_all_it_needs(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    assert {"README.md", "data.py", "__main__.py", "picture.svg"} <= names
    assert any(name.endswith(".rq") for name in names)
    assert f"]({folder.name}/README.md)" in (EXAMPLES / "README.md").read_text("utf-8")


@pytest.mark.parametrize("spec", sorted(EXAMPLES.rglob(f"*{ENDING}")), ids=lambda spec: f"{spec.parent.name}-{spec.name}")
def test_specs_of_examples_pass(spec: Path) -> None:
    read_spec(spec).check()


def test_all_examples_are_run() -> None:
    assert [folder.name for folder in folders()] == sorted([*HERE, "taxis"])
