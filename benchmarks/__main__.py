"""Runs benchmarks and keeps their results.

usage: python -m benchmarks [--quick] [part ...]

Prints tables, and writes them to benchmarks/results: `full` or `quick`, followed by the names of the parts if not all of
them ran.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path

from benchmarks import report
from benchmarks.report import Part, Progress
from benchmarks.timing import Effort

PARTS = ("join", "scan", "parse", "answers", "push", "memory", "scaling", "hubs", "taxi")
MODULES = {"join": "kernels", "scan": "scanning", "parse": "parsing", "push": "pushes"}
RESULTS = Path(__file__).resolve().parent / "results"


def run_part(name: str, effort: Effort, progress: Progress) -> Part:
    """One part; what goes wrong in it is reported instead of its tables."""
    progress.part = name
    began = time.perf_counter()
    module = importlib.import_module(f"benchmarks.{MODULES.get(name, name)}")
    part: Part = module.run(effort, progress)
    part.wall_s = time.perf_counter() - began
    progress.clear()
    return part


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures millstream beside its peers.")
    parser.add_argument("parts", nargs="*", metavar="part", help=f"all by default: {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes, under a minute")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder to write to")
    options = parser.parse_args()
    unknown = [name for name in options.parts if name not in PARTS]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    names = [name for name in PARTS if not options.parts or name in options.parts]
    effort: Effort = "quick" if options.quick else "full"
    described, progress = report.machine(), Progress()
    print(report.header(described, effort))
    parts = []
    for name in names:
        part = run_part(name, effort, progress)
        parts.append(part)
        print(report.markdown(part), flush=True)
    print(report.summary(parts))
    file = "-".join([effort] if len(names) == len(PARTS) else [effort, *names])
    written = report.write(options.results, file, described, effort, parts)
    print("written to " + " and ".join(str(path) for path in written), file=sys.stderr)


if __name__ == "__main__":
    main()
