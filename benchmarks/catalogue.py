"""Which benchmarks there are.

A module of `benchmarks/experiments` is an experiment of the group `papers` by being there, named after its file. The parts
that measure the engine alone, those beside engines in Rust, and those on Spark, are listed. Each is a module with `ABOUT`,
`run(effort, progress)` and mostly `SIZES`, a size an effort.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

EXPERIMENTS = Path(__file__).resolve().parent / "experiments"
PAPERS, ENGINE, PEERS, SPARK, SERVER = "papers", "engine", "incremental-peers", "spark", "server"
GROUPS = {
    PAPERS: "the experiments of the source papers, beside peers",
    ENGINE: "parts of the engine alone, beside prototypes and a store",
    PEERS: "beside incremental engines in Rust, which cargo builds",
    SPARK: "the pipeline on Spark",
    SERVER: "the server, over HTTP on this machine",
}
_PARTS = {
    "join": "kernels",
    "scan": "scanning",
    "parse": "parsing",
    "answers": "answers",
    "push": "pushes",
    "singles": "singles",
    "footprint": "footprint",
    "scaling": "scaling",
    "hubs": "hubs",
    "counted": "counted",
    "registering": "registering",
    "labelled": "labelled",
    "kafka": "kafka",
    "sharing": "sharing",
}
_PEER_PARTS = ("joins", "edits", "counts")
_SERVER_PARTS = ("pushes", "subscribers")
_SPARK_PARTS = ("throughput", "peers", "cells", "latency", "recovery")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Something that can be run by its name."""

    name: str
    group: str
    path: str

    def module(self) -> ModuleType:
        return importlib.import_module(self.path)


def benchmarks() -> dict[str, Benchmark]:
    """All there are, by name, group after group."""
    files = sorted(path.stem for path in EXPERIMENTS.glob("*.py") if path.stem != "__init__")
    found = [Benchmark(stem.replace("_", "-"), PAPERS, f"benchmarks.experiments.{stem}") for stem in files]
    found += [Benchmark(name, ENGINE, f"benchmarks.{module}") for name, module in _PARTS.items()]
    found += [Benchmark(f"peers-{name}", PEERS, f"benchmarks.peers_{name}") for name in _PEER_PARTS]
    found += [Benchmark(f"spark-{name}", SPARK, f"benchmarks.spark_{name}") for name in _SPARK_PARTS]
    found += [Benchmark(f"server-{name}", SERVER, f"benchmarks.server_{name}") for name in _SERVER_PARTS]
    return {benchmark.name: benchmark for benchmark in found}


def chosen(names: Sequence[str]) -> list[Benchmark]:
    """What names of benchmarks and groups stand for, each once; none stand for the experiments of the papers.

    Raises KeyError for the first name that means nothing.
    """
    known = benchmarks()
    found: dict[str, Benchmark] = {}
    for name in names or (PAPERS,):
        members = [b for b in known.values() if b.group == name] if name in GROUPS else [known[name]]
        found.update({benchmark.name: benchmark for benchmark in members})
    return list(found.values())


def whole_group(benchmarks_run: Sequence[Benchmark]) -> str | None:
    """The group of which these are all, if they are."""
    groups = {benchmark.group for benchmark in benchmarks_run}
    [group, *others] = groups
    return group if not others and len(benchmarks_run) == len(chosen([group])) else None
