"""How far a run of benchmarks is, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars


class Progress:
    """How far a run is: a bar a run and one an experiment on a terminal; nothing in a pipe.

    An experiment that knows how often it will call says so with `expect`; each call is a step then.
    """

    def __init__(self, experiments: int = 1) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn())
        self._bars = Bars(
            *columns, transient=True, disable=not sys.stderr.isatty(), console=Console(stderr=True), redirect_stdout=False
        )
        self._run = self._bars.add_task("experiments", total=experiments)
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

    def expect(self, steps: int) -> None:
        """How many calls will follow."""
        self._steps, self._begun = steps, 0
        if self._part is not None:
            self._bars.update(self._part, total=steps, completed=0)

    def __call__(self, doing: str) -> None:
        self._begun += 1
        if self._part is not None:
            # A step is done when the next begins.
            done = 0 if self._steps is None else self._begun - 1
            self._bars.update(self._part, description=f"{self.part}: {doing}"[:60], completed=done)

    def end(self) -> None:
        if self._part is not None:
            self._bars.remove_task(self._part)
            self._part = None
        self._bars.advance(self._run)
