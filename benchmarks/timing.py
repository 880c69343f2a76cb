"""How things are measured: CPU time, in turns, and where memory counts in a process of its own."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import millstream as ms

Effort = Literal["smoke", "quick", "full", "huge"]
"""A few seconds in all, to see that it works; about a minute; all of it; sizes of the papers, as far as memory allows.

A benchmark without a huge size is run at its full one.
"""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Timed(Generic[T]):
    """The median CPU seconds of a run, and what it gave last."""

    seconds: float
    result: T
    each: Sequence[float] = ()
    """Of every round."""


def take_turns(runs: Mapping[str, Callable[[], T]], rounds: int) -> dict[str, Timed[T]]:
    """Runs all of them in every round, so that a busy machine slows them alike."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    results: dict[str, T] = {}
    for _ in range(rounds):
        for name, run in runs.items():
            results.pop(name, None)
            gc.collect()
            began = time.process_time()
            results[name] = run()
            seconds[name].append(time.process_time() - began)
    return {name: Timed(statistics.median(seconds[name]), results[name], seconds[name]) for name in runs}


def take_turns_by_their_own_clock(runs: Mapping[str, Callable[[], tuple[float, T]]], rounds: int) -> dict[str, Timed[T]]:
    """The same for runs that tell their seconds themselves, since not all they do is to be timed."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    results: dict[str, T] = {}
    gc.collect()
    # What is there already would be gone through at every collection: the stream that is measured with, above all.
    gc.freeze()
    for _ in range(rounds):
        for name, run in runs.items():
            results.pop(name, None)
            gc.collect()
            spent, results[name] = run()
            seconds[name].append(spent)
    gc.unfreeze()
    return {name: Timed(statistics.median(seconds[name]), results[name], seconds[name]) for name in runs}


def apart(effort: Effort, function: Callable[..., T], *arguments: Any) -> T:
    """What a function of a module gives in a fresh process; to see that it works, this one will do."""
    if effort == "smoke":
        return function(*arguments)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def resident() -> int:
    """Bytes of memory this process occupies now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_resident() -> int:
    """The most bytes that this process ever occupied."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def resident_trimmed() -> int:
    """The same once freed memory was given back, or what was freed before would be used again unseen."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    return resident()


class Sampler:
    """Looks at an engine whenever it has taken a chunk of a stream, for calls that take a whole one.

    It is the engine's housekeeping that tells, which ends every chunk: a thread that looks now and then would see other
    places in every run.
    """

    def __init__(self, engine: ms.Engine) -> None:
        self._core = engine._core
        self.samples: list[Sample] = []

    def __enter__(self) -> Sampler:
        housekeeping = self._core.housekeeping

        def observed() -> None:
            housekeeping()
            stats = self._core.dictionary.stats()
            self.samples.append(Sample(self._core.totals["triples"], time.process_time(), resident(), stats["live"]))

        self._core.housekeeping = observed  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        del self._core.housekeeping

    def at(self, triples: int) -> Sample:
        """The first sample at or after so many triples."""
        return next(sample for sample in self.samples if sample.triples >= triples)


@dataclass(frozen=True, slots=True)
class Sample:
    """How far an engine had come, with what."""

    triples: int
    cpu_s: float
    resident: int
    terms: int
