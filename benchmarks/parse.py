"""Time from query text to algebra, beside rdflib's `prepareQuery`, which does the same for SPARQL without stream clauses.

    python -m benchmarks.parse [repeats]

Prints, for each group of queries, the median CPU milliseconds a query and the ratio, each query timed alone and the best
half of its repeats kept. Ours reads each query as it is written; rdflib reads its plain form, where windows are named
graphs. The first query of a process is timed apart, in processes of their own: it pays for imports and for the parser's
tables. Queries come from ../shared/suites, or the folder MILLSTREAM_SUITES names, and from the paper on the DEBS
challenge of 2015.
"""

from __future__ import annotations

import gc
import os
import platform
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from rdflib.plugins.sparql import prepareQuery

from millstream.errors import QueryError
from millstream.language import parse_query
from tests.language.test_paper_queries import LEGAL_Q2, PREFIX
from tests.plain_sparql import plain
from tests.suites import suites_root

FIRST = {
    "millstream": ("from millstream.language import parse_query", "parse_query(text)"),
    "rdflib": ("from rdflib.plugins.sparql import prepareQuery", "prepareQuery(text)"),
}
NOTHING_YET = "SELECT ?s WHERE { ?s ?p ?o }"


def groups() -> dict[str, list[str]]:
    """Ordinary queries, by where they come from."""
    root = suites_root()
    patterns = {
        "conference": ["cqels-conference/*.cqels"],
        "citybench": ["citybench/csparql_query/Q*.txt", "citybench/cqels_query/Q*.txt", "citybench/rspql/q*.rspql"],
        "srbench": ["srbench-queries/*/*.sparql"],
        "W3C 1.1": [f"w3c/sparql/sparql11/{f}/*.rq" for f in ("aggregates", "bind", "exists", "property-path", "subquery")],
        "lubm": ["lubm/**/*.sparql", "lubm/**/*.rq"],
    }
    found = {name: [p.read_text("utf-8") for g in globs for p in sorted(root.glob(g))] for name, globs in patterns.items()}
    return {name: texts for name, texts in found.items() if texts} | {"DEBS Q2": [PREFIX + LEGAL_Q2]}


def both(text: str) -> tuple[str, str] | None:
    """A query as it is and in plain SPARQL, if both sides read it."""
    try:
        other = plain(text).text
        prepareQuery(other)
    except (QueryError, ValueError):
        return None
    except Exception as error:  # rdflib raises its parser's exceptions and plain ones alike
        print(f"rdflib does not read: {str(error).splitlines()[0][:90]}", file=sys.stderr)
        return None
    return text, other


def milliseconds(run: Callable[[str], object], text: str, repeats: int) -> float:
    times = []
    gc.disable()
    for _ in range(repeats):
        began = time.process_time()
        run(text)
        times.append((time.process_time() - began) * 1000)
    gc.enable()
    return statistics.median(sorted(times)[: (repeats + 1) // 2])


def first_query(imports: str, call: str) -> tuple[float, float]:
    """CPU milliseconds of a fresh process for its imports and for its first query."""
    clock = "print(time.process_time())"
    program = "; ".join(["import time", f"text = {NOTHING_YET!r}", clock, imports, clock, call, clock])
    runs = []
    for _ in range(5):
        printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        began, imported, read = (float(line) * 1000 for line in printed.split())
        runs.append((imported - began, read - imported))
    return statistics.median(r[0] for r in runs), statistics.median(r[1] for r in runs)


def machine() -> str:
    model = next((line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")), platform.machine())
    return f"{model}, {os.cpu_count()} CPUs, Python {platform.python_version()}, {platform.system()}"


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def main() -> None:
    warnings.simplefilter("ignore")
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(machine())
    print(f"{'':12}{'queries':>8}{'characters':>12}{'millstream':>12}{'rdflib':>10}{'ratio':>8}   (median CPU ms a query)")
    ratios = []
    for name, texts in groups().items():
        pairs = [pair for pair in map(both, texts) if pair is not None]
        if not pairs:
            continue
        ours = [milliseconds(parse_query, text, repeats) for text, _ in pairs]
        theirs = [milliseconds(prepareQuery, text, max(3, repeats // 4)) for _, text in pairs]
        ratios += [t / o for o, t in zip(ours, theirs, strict=True)]
        size = statistics.median(len(text) for text, _ in pairs)
        a, b = statistics.median(ours), statistics.median(theirs)
        print(f"{name:12}{len(pairs):>8}{size:>12.0f}{a:>12.2f}{b:>10.2f}{b / a:>7.1f}x")
    middle = statistics.median(ratios)
    print(f"of {len(ratios)} queries, the ratio is {min(ratios):.1f} to {max(ratios):.1f}, median {middle:.1f}")
    for name, (imports, call) in FIRST.items():
        importing, reading = first_query(imports, call)
        print(f"first query of a process, {name}: imports {importing:.0f} ms, query {reading:.0f} ms of CPU")


if __name__ == "__main__":
    main()
