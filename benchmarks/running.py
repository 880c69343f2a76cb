"""Runs benchmarks one after another and keeps what each found: what `millstream bench` calls.

Every benchmark gets a report as soon as it has ended, for they take minutes. One that fails is reported as such and the
others go on. When a run is stopped, the benchmark under way is reported as far as it came.
"""

from __future__ import annotations

import shlex
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    report.BEGUN.clear()
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
    stopped: KeyboardInterrupt | None = None
    with stoppable(), Progress(len(benchmarks), tells=True) as progress:
        for benchmark in benchmarks:
            described = {**report.machine(), "command": command(), "effort": effort}
            try:
                part = run_one(benchmark, effort, progress)
            except Exception as error:  # whatever it is, the others go on and the report says so
                traceback.print_exc()
                part = failed(benchmark, error)
            except KeyboardInterrupt as error:
                stopped, part = error, unfinished(benchmark)
                folder = output or PASSING
            parts.append(part)
            how = report.WALL_TIMES if benchmark.group in (catalogue.SPARK, catalogue.SERVER) else report.CPU_TIMES
            text, _ = report.write(folder, part, described, how, charts.draw(part, folder))
            with progress.paused():
                print(report.markdown(part), flush=True)
                print(f"written to {text}", file=sys.stderr)
            if stopped:
                break
    print(report.summary(parts))
    if stopped:
        print(f"stopped after {len(parts) - 1} of {len(benchmarks)} benchmarks", file=sys.stderr)
        raise stopped
    if group:
        write_index(folder, group, effort, parts)
    return parts


@contextmanager
def stoppable() -> Iterator[None]:
    """Lets SIGTERM stop a run as Ctrl-C does."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop) if threading.current_thread() is threading.main_thread() else None
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def unfinished(benchmark: Benchmark) -> Part:
    """What the benchmark under way has found so far. It is not kept where whole runs are."""
    part = next(iter(report.BEGUN), None) or Part(benchmark.name, benchmark.module().ABOUT)
    part.missing.append("the rest: the run was stopped")
    return part


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
