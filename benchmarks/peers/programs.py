"""Incremental engines in Rust: the programs in `rust`, one an engine, that speak the protocol of adapters.

They are built by cargo where that is at hand, each by itself, so that one which does not build leaves the others in. A run
that is only to see that things work uses what is built already.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from benchmarks.progress import Progress
from benchmarks.timing import Effort

SOURCES = Path(__file__).resolve().parent / "rust"
PROGRAMS = {"differential-dataflow": "differential-peer", "dbsp": "dbsp-peer"}
"""By engine."""


def commands(effort: Effort, progress: Progress) -> tuple[dict[str, list[str]], list[str]]:
    """What to run for each engine that is there, and what a report says of those that are not."""
    cargo = shutil.which("cargo")
    found: dict[str, list[str]] = {}
    missing: list[str] = []
    for engine, program in PROGRAMS.items():
        if why := _built(cargo, program, effort, progress):
            missing.append(f"{engine}: {why}")
        else:
            found[engine] = [str(_path(program))]
    return found, missing


def _path(program: str) -> Path:
    return SOURCES / "target" / "release" / program


def _built(cargo: str | None, program: str, effort: Effort, progress: Progress) -> str:
    """Builds a program; why it is not there, if it is not."""
    if effort == "smoke":
        return "" if _path(program).exists() else "not built, which longer runs do where there is cargo"
    if cargo is None:
        return "" if _path(program).exists() else "not built: there is no cargo"
    progress(f"building {program}, minutes the first time")
    command = [cargo, "build", "--release", "--locked", "--package", program]
    done = subprocess.run(command, cwd=SOURCES, capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if line.startswith("error")]
    return f"not built: {(lines or ['cargo failed'])[0][:200]}" if done.returncode else ""
