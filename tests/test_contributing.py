"""What contributors are told is so: files, commands and workflows that are named exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def test_files_that_the_guide_names_exist() -> None:
    named = re.findall(
        r"`((?:src|tests|docs|benchmarks|packaging|console|\.github)/[^`\s*]+|[A-Z_]+\.md|mkdocs\.yml)`", GUIDE
    )
    assert len(named) > 40
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "README.md", "docs/concepts/README.md", ".ci/run"])
def test_targets_that_are_named_can_be_made(page: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    named = re.findall(r"(?:^|`)make ((?:[a-z-]+ ?)+)", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    assert named
    assert {word for words in named for word in words.split()} <= targets


def test_the_licence_of_the_citation_and_its_version_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (cited["license"], cited["version"]) == (project["license"], project["version"])
    assert len(cited["references"]) == 5
    assert all(paper["title"] and paper["authors"] for paper in cited["references"])


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda path: path.name)
def test_workflows_make_what_can_be_made(path: Path) -> None:
    yaml.safe_load(path.read_text("utf-8"))
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    asked = re.findall(r"run: make ([a-z -]+)", path.read_text("utf-8"))
    assert {word for words in asked for word in words.split()} <= targets
