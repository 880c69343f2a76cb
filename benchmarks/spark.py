"""Runs the benchmarks of the pipeline on Spark and keeps their results.

usage: python -m benchmarks.spark [--quick] [part ...]

Prints tables, and writes them to benchmarks/results/spark.md, followed by `quick` and the names of the parts if not all of
them ran. Each part has a session of its own.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path

from benchmarks import report
from benchmarks.report import Part, Progress
from benchmarks.timing import Effort

PARTS = ("throughput", "peers", "cells", "latency", "recovery")
RESULTS = Path(__file__).resolve().parent / "results"
HOW = "Times are wall times on two cores unless a table says CPU; start-up is shown apart; only ratios mean something."


def run_part(name: str, effort: Effort, progress: Progress) -> Part:
    """One part; what goes wrong in it is told instead of its tables, unless it is to be seen whether it works."""
    progress.part = name
    began = time.perf_counter()
    module = importlib.import_module(f"benchmarks.spark_{name}")
    try:
        part: Part = module.run(effort, progress)
    except Exception as error:
        if effort == "smoke":
            raise
        part = Part(name, module.ABOUT, missing=[f"all of it, since it failed: {str(error).splitlines()[0][:300]}"])
    part.wall_s = time.perf_counter() - began
    progress.clear()
    return part


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description="Measures the pipeline on Spark.")
    parser.add_argument("parts", nargs="*", metavar="part", help=f"all by default: {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--smoke", action="store_true", help="to see that it works; writes nothing")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder to write to")
    options = parser.parse_args()
    unknown = [name for name in options.parts if name not in PARTS]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    names = [name for name in PARTS if not options.parts or name in options.parts]
    effort: Effort = "smoke" if options.smoke else "quick" if options.quick else "full"
    described, progress = report.machine(), Progress()
    described["packages"] += f", pyspark {version('pyspark')}"
    print(report.header(described, effort, HOW))
    file = "-".join(["spark", *(["quick"] if effort == "quick" else []), *([] if len(names) == len(PARTS) else names)])
    parts: list[Part] = []
    written: list[Path] = []
    for name in names:
        load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
        parts.append(run_part(name, effort, progress))
        parts[-1].text.append(f"load when the part began: {load}; it took {parts[-1].wall_s:.0f} s")
        print(report.markdown(parts[-1]), flush=True)
        if effort != "smoke":
            # After each part: they take minutes.
            written = report.write(options.results, file, described, effort, parts, HOW)
    print(report.summary(parts))
    print("written to " + " and ".join(str(path) for path in written), file=sys.stderr)


if __name__ == "__main__":
    main()
