"""Runs the benchmarks of the source tree, which are no part of what is installed."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import typer

import millstream
from millstream.cli.terminal import fail

FAILED = 1
"""The exit code when a benchmark failed; the others have run all the same."""
_ABSENT = "the benchmarks are not part of the installed package: run this from a clone of millstream"


def source_tree() -> Path | None:
    """The folder that holds the benchmarks: beside the package in a clone, or the current one."""
    beside = Path(millstream.__file__).resolve().parents[2]
    return next((folder for folder in (beside, Path.cwd()) if (folder / "benchmarks" / "running.py").is_file()), None)


def run_benchmarks(names: list[str], effort: str, output: str | None, suites: str | None) -> None:
    """Runs what is named; unknown names are a usage error."""
    catalogue, running = _modules()
    try:
        chosen = catalogue.chosen(names)
    except KeyError as error:
        known = ", ".join([*catalogue.GROUPS, *catalogue.benchmarks()])
        fail(f"there is no benchmark {error.args[0]}; there are {known}")
    if suites is not None:
        if not Path(suites).is_dir():
            fail(f"--suites {suites}: there is no such folder")
        os.environ["MILLSTREAM_SUITES"] = str(Path(suites).resolve())
    parts = running.run(chosen, effort, None if output is None else Path(output))
    if any(part.failed for part in parts):
        raise typer.Exit(FAILED)


def list_benchmarks() -> None:
    """What can be run: groups, and what belongs to each."""
    catalogue, _ = _modules()
    for group, about in catalogue.GROUPS.items():
        typer.echo(f"{group}: {about}")
        for benchmark in catalogue.chosen([group]):
            typer.echo(f"  {benchmark.name:<18} {benchmark.module().ABOUT}")


def _modules() -> tuple[Any, Any]:
    folder = source_tree()
    if folder is None:
        fail(_ABSENT)
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    return importlib.import_module("benchmarks.catalogue"), importlib.import_module("benchmarks.running")
