"""How far a run of benchmarks is: bars on a terminal, lines in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

EVERY_S = 10.0
"""How often a pipe is told of a step."""


class Progress:
    """How far a run is, on standard error: a bar a run and one an experiment on a terminal; in a pipe a line now and then.

    An experiment that knows how often it will call says so with `expect`; each call is a step then.
    """

    def __init__(self, experiments: int = 1, *, tells: bool = False) -> None:
        """`tells`: also in a pipe."""
        columns = (TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn())
        self._bars = Bars(
            *columns, transient=True, disable=not sys.stderr.isatty(), console=Console(stderr=True), redirect_stdout=False
        )
        self._run = self._bars.add_task("experiments", total=experiments)
        self._tells = tells and not sys.stderr.isatty()
        self._experiments, self._ended = experiments, 0
        self._began = self._told = time.monotonic()
        self._steps: int | None = None
        self._begun = 0
        self._part: TaskID | None = None
        self.part = ""

    def __enter__(self) -> Progress:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Makes room on the terminal: what is printed would run into the bars."""
        self._bars.stop()
        yield
        self._bars.start()

    def begin(self, part: str) -> None:
        self.part, self._steps, self._begun = part, None, 0
        self._part = self._bars.add_task(part, total=None)
        self._say(f"{part}, {self._ended + 1} of {self._experiments}")

    def expect(self, steps: int) -> None:
        """How many calls will follow."""
        self._steps, self._begun = steps, 0
        if self._part is not None:
            self._bars.update(self._part, total=steps, completed=0)

    def __call__(self, doing: str) -> None:
        self._begun += 1
        if time.monotonic() - self._told >= EVERY_S:
            of = f" ({self._begun} of {self._steps})" if self._steps else ""
            self._say(f"{self.part}: {doing}{of}")
        if self._part is not None:
            # A step is done when the next begins.
            done = 0 if self._steps is None else self._begun - 1
            self._bars.update(self._part, description=f"{self.part}: {doing}"[:60], completed=done)

    def _say(self, what: str) -> None:
        if self._tells:
            self._told = time.monotonic()
            print(f"[{self._told - self._began:7.1f} s] {what}", file=sys.stderr, flush=True)

    def end(self) -> None:
        self._ended += 1
        if self._part is not None:
            self._bars.remove_task(self._part)
            self._part = None
        self._bars.advance(self._run)
