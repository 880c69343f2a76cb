"""Runs benchmarks one after another and keeps what each found: what `millstream bench` calls.

Every benchmark gets a report as soon as it has ended, for they take minutes. One that fails is reported as such and the
others go on.
"""

from __future__ import annotations

import shlex
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from benchmarks import catalogue, charts, report
from benchmarks.catalogue import Benchmark
from benchmarks.report import PROJECT, Part, Progress
from benchmarks.timing import Effort

KEPT = PROJECT / "docs" / "benchmarks"
"""Where full runs of a whole group go, unless told otherwise; all others are not kept."""
PASSING = PROJECT / "build" / "bench"


def run_one(benchmark: Benchmark, effort: Effort, progress: Progress) -> Part:
    """What one benchmark finds, at the largest size it has if a huge one is wanted; a huge one has a name of its own."""
    module = benchmark.module()
    if effort == "huge" and effort not in getattr(module, "SIZES", ()):
        effort = "full"
    progress.begin(benchmark.name)
    began = time.perf_counter()
    try:
        part: Part = module.run(effort, progress)
    finally:
        progress.end()
    part.name = f"{benchmark.name}-huge" if effort == "huge" else benchmark.name
    part.wall_s = time.perf_counter() - began
    return part


def run(benchmarks: Sequence[Benchmark], effort: Effort, output: Path | None = None) -> list[Part]:
    """Runs all of them, prints tables, writes reports."""
    group = catalogue.whole_group(benchmarks)
    folder = output or (KEPT if group and effort in ("full", "huge") else PASSING)
    parts: list[Part] = []
    with Progress(len(benchmarks)) as progress:
        for benchmark in benchmarks:
            described = {**report.machine(), "command": command(), "effort": effort}
            try:
                part = run_one(benchmark, effort, progress)
            except Exception as error:  # whatever it is, the others go on and the report says so
                traceback.print_exc()
                part = failed(benchmark, error)
            parts.append(part)
            how = report.WALL_TIMES if benchmark.group == catalogue.SPARK else report.CPU_TIMES
            text, _ = report.write(folder, part, described, how, charts.draw(part, folder))
            with progress.paused():
                print(report.markdown(part), flush=True)
                print(f"written to {text}", file=sys.stderr)
    print(report.summary(parts))
    if group:
        write_index(folder, group, effort, parts)
    return parts


def failed(benchmark: Benchmark, error: Exception) -> Part:
    """A report without results."""
    reason = str(error).strip().splitlines()[:1] or [type(error).__name__]
    return Part(benchmark.name, benchmark.module().ABOUT, failed=f"{type(error).__name__}: {reason[0][:300]}")


def write_index(folder: Path, group: str, effort: Effort, parts: Sequence[Part]) -> None:
    """One page for a whole group: what there is, what it says, and every target."""
    described = {**report.machine(), "command": command(), "effort": effort}
    whole = sum(part.wall_s for part in parts)
    how = f"All of them took {whole / 60:,.0f} minutes."
    lines = [report.header(f"Benchmarks: {catalogue.GROUPS[group]}", described, how)]
    for part in parts:
        verdict = f" **Failed**: {part.failed}" if part.failed else ""
        lines.append(f"- [{part.name}]({part.name}.md), {part.wall_s:,.0f} s: {part.about}{verdict}")
    (folder / f"{group}.md").write_text("\n".join([*lines, "", report.summary(parts)]).rstrip() + "\n")


def command() -> str:
    """What was typed, without folders that mean nothing elsewhere."""
    return shlex.join(["millstream", *sys.argv[1:]])
