"""What the examples have in common: a folder for what they make, `millstream` as a command, answers as it wrote them."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Answer(NamedTuple):
    """A line of `--format ndjson`, with values as plain text."""

    at_ms: int
    weight: int
    values: dict[str, str]


def folder_for(example: str, about: str) -> Path:
    """The folder that the command line names, or build/examples/NAME; it is made."""
    parser = argparse.ArgumentParser(prog=f"python -m examples.{example}", description=about)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "examples" / example, help="for data and answers")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    return Path(os.path.relpath(folder))


def millstream(*arguments: str | Path) -> None:
    """Shows a command and runs it."""
    shown = [os.path.relpath(a) if isinstance(a, Path) else a for a in arguments]
    print("$ millstream", *shown, file=sys.stderr, flush=True)
    subprocess.run([sys.executable, "-m", "millstream", *map(str, arguments)], check=True)


def answers(path: Path) -> list[Answer]:
    """The answers in a file of NDJSON, IRIs without their namespace."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        answer = json.loads(line)
        values = {name: term["value"].rpartition("/")[2] for name, term in answer["bindings"].items()}
        found.append(Answer(answer["at_ms"], answer["weight"], values))
    return found


def minutes(at_ms: int, first_ms: int = 0) -> str:
    """A time since the first, as people read it."""
    seconds = (at_ms - first_ms) // 1000
    return f"{seconds // 60:>3}:{seconds % 60:02d}"
