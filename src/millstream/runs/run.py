"""What an engine's runner is handed: the options, where answers go, what to count, and when to stop.

A runner calls `open` once, `emit` with answers, `set_aside` with what it could not use, keeps `counts` up to date and
calls `check` every now and then, wherever it could stop. Whoever made the run closes it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from millstream.rdf import Rejected
from millstream.runs.dead_letters import DeadLetters
from millstream.runs.options import RunOptions
from millstream.runs.outputs import Outputs


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """Somebody asked the run to stop, and it did, between two elements."""


@dataclass(slots=True)
class Counts:
    """How far a run is; `answers` are by query."""

    answers: list[int]
    elements: int = 0
    before: int = 0
    """How many of the elements an earlier run took, from whose checkpoint this one goes on."""
    triples: int | None = 0
    """None where nobody counts them."""
    late: int = 0
    set_aside: int = 0
    at_ms: int | None = None
    """The event time reached; None while there is none."""
    stage: str = ""
    """What goes on before anything can be counted."""


@dataclass(slots=True)
class Run:
    """One run of one or more queries."""

    options: RunOptions
    progress: Callable[[Counts], None] = lambda counts: None
    """Shows how far the run is; called often, so it must be quick."""
    before_output: Callable[[], None] = lambda: None
    """Called before anything goes to standard output."""
    stop: threading.Event = field(default_factory=threading.Event)
    counts: Counts = field(init=False)
    outputs: Outputs | None = field(init=False, default=None)
    dead_letters: DeadLetters = field(init=False)

    def __post_init__(self) -> None:
        self.counts = Counts([0] * len(self.options.queries))
        self.dead_letters = DeadLetters(self.options.dead_letter)

    def open(self, lengths: dict[str, int] | None = None) -> None:
        """Opens what is written to: anew, or cut back to the lengths that `lengths` gave once."""
        self.dead_letters.open(lengths)
        options = self.options
        self.outputs = Outputs(options.queries, options.format, options.output, lengths, self.before_output)

    def emit(self, tables: Sequence[pa.Table]) -> None:
        """Answers of all queries, a table each: at_ms, weight, one column of N-Triples strings a variable."""
        assert self.outputs is not None
        for number, table in enumerate(tables):
            self.counts.answers[number] += table.num_rows
        self.outputs.write_all(tables)

    def set_aside(self, rejected: Rejected) -> None:
        """Keeps what could not be used; counting it is the runner's."""
        self.dead_letters.add(rejected)

    def check(self) -> None:
        """Shows progress, and raises Stopped if the run is to end."""
        self.progress(self.counts)
        if self.stop.is_set():
            raise Stopped

    def flush(self) -> None:
        if self.outputs is not None:
            self.outputs.flush()
        self.dead_letters.flush()

    def lengths(self) -> dict[str, int]:
        """How long each file is now, everything written so far on disk: for a checkpoint."""
        assert self.outputs is not None
        return {**self.outputs.lengths(), **self.dead_letters.lengths()}

    def close(self) -> None:
        try:
            if self.outputs is not None:
                self.outputs.close()
        finally:
            self.dead_letters.close()
