"""What a run is asked to do, checked and in plain values: either engine can run it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from millstream.language import algebra
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.runs.formats import OutputFormat

STANDARD = "-"
"""A path that means standard input or output."""


@dataclass(frozen=True, slots=True)
class RunQuery:
    """A query, its file's name without the ending, and what was read."""

    name: str
    text: str
    query: algebra.Query

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(variable.value for variable in self.query.columns)


@dataclass(frozen=True, slots=True)
class StreamSource:
    """Where the elements of a stream are: a file, folder, glob or `-`."""

    iri: str
    path: str


@dataclass(frozen=True, slots=True)
class GraphSource:
    """Where the triples of a graph, or its changes, are; None is the default graph."""

    graph: str | None
    path: str


@dataclass(frozen=True, slots=True)
class RunOptions:
    """See docs/command-line.md for what each means."""

    queries: tuple[RunQuery, ...]
    streams: tuple[StreamSource, ...] = ()
    datasets: tuple[GraphSource, ...] = ()
    changes: tuple[GraphSource, ...] = ()
    time: str | None = None
    changes_time: str | None = None
    element: str | None = None
    input_format: str | None = None
    """The format of the streams' sources, where their names do not tell."""
    follow: bool = False
    idle_ms: int = 10_000
    lateness_ms: int = 0
    max_jump_ms: int | None = None
    checkpoint: Path | None = None
    checkpoint_every_ms: int = 10_000
    output: str | None = None
    format: OutputFormat = OutputFormat.CSV
    dead_letter: str | None = None
    strict: bool = False
    cells: int | None = None
    master: str = "local[2]"
    limits: Limits = DEFAULT_LIMITS
