"""What an engine's runner is handed: the options, the sinks that answers go to, what to count, and when to stop.

A runner calls `open` once, `emit` with answers, `set_aside` with what it could not use, `commit` where it could go on
from, keeps `counts` up to date and calls `check` every now and then, wherever it could stop. Whoever made the run closes it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from pyoxigraph import Literal

from millstream.cli.run.options import RunOptions, RunQuery
from millstream.connect.kafka.options import is_address, shown
from millstream.language.algebra import Form
from millstream.output import DeadLetters, Sink
from millstream.output.files import STANDARD
from millstream.output.formats import sink_of
from millstream.output.sink import NUMBERS, TransactionalSink
from millstream.rdf import Rejected


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
    sinks: list[Sink] = field(init=False, default_factory=list)
    """One a query, or one for all; none before it is opened."""
    dead_letters: DeadLetters = field(init=False)
    _paths: list[str] = field(init=False)
    _positions: dict[str, str] | None = field(init=False, default=None)
    """Where all outputs are, as long as nothing has been written since."""

    def __post_init__(self) -> None:
        self.counts = Counts([0] * len(self.options.queries))
        self.dead_letters = _dead_letters(self.options.dead_letter)
        self._paths = self.options.outputs

    def open(self, positions: Mapping[str, str] | None = None) -> None:
        """Opens what is written to: anew, or at the positions of an earlier commit."""
        found = {name: position.encode("latin-1") for name, position in (positions or {}).items()}
        self.dead_letters.open(found.get(_LETTERS))
        queries = self.options.queries
        for path, of in zip(self._paths, [queries] if self._is_shared else [[query] for query in queries], strict=True):
            # Where queries mean different things by a prefix, the first that is listed has it.
            prefixes = {prefix: iri for query in reversed(of) for prefix, iri in query.query.prefixes}
            sink: Sink
            if is_address(path):
                sink = _topic_sink(path, of[0], transactional=self.options.checkpoint is not None)
            else:
                sink = sink_of(self.options.format, path, _columns(of), prefixes)
            sink.open(found.get(shown(path)))
            self.sinks.append(sink)

    @property
    def _is_shared(self) -> bool:
        """Whether the answers of all queries go to one sink."""
        return len(self._paths) < len(self.options.queries)

    def emit(self, answers: Mapping[int, pa.Table]) -> None:
        """Answers by the number of their query: at_ms, weight, one column of N-Triples strings a variable."""
        answers = {number: table for number, table in answers.items() if table.num_rows}
        if not answers:
            return
        self._positions = None
        for number, table in answers.items():
            self.counts.answers[number] += table.num_rows
        if self._paths == [STANDARD]:
            self.before_output()
        if self._is_shared:
            answers = {0: _shared(self.options.queries, answers)}
        for number, table in answers.items():
            self.sinks[number].write(table)

    def set_aside(self, rejected: Rejected) -> None:
        """Keeps what could not be used; counting it is the runner's."""
        self._positions = None
        self.dead_letters.add(rejected)

    def check(self) -> None:
        """Shows progress, and raises Stopped if the run is to end."""
        self.progress(self.counts)
        if self.stop.is_set():
            raise Stopped

    def commit(self) -> dict[str, str]:
        """Has everything written so far last; gives where each output is, for a checkpoint."""
        if self._positions is None:
            found = {shown(path): sink.commit() for path, sink in zip(self._paths, self.sinks, strict=True)}
            found[_LETTERS] = self.dead_letters.commit()
            self._positions = {name: position.decode("latin-1") for name, position in found.items()}
        return self._positions

    def settle(self) -> None:
        """What the last commit gave is kept: outputs that waited for it may show what it covers."""
        for sink in self.sinks:
            if isinstance(sink, TransactionalSink):
                sink.settle()

    def close(self) -> None:
        """Completes all outputs, also where some cannot be completed."""
        if self.sinks and self._paths == [STANDARD]:
            self.before_output()
        with ExitStack() as stack:
            stack.callback(self.dead_letters.close)
            for sink in self.sinks:
                stack.callback(sink.close)


_LETTERS = "dead letters"


def _dead_letters(path: str | None) -> DeadLetters:
    if path is None or not is_address(path):
        return DeadLetters(path)
    from millstream.connect.kafka.dead_letters import TopicDeadLetters

    return TopicDeadLetters(path)


def _topic_sink(path: str, query: RunQuery, *, transactional: bool) -> Sink:
    from millstream.connect.kafka.sink import kafka_sink

    return kafka_sink(path, query.variables, construct=query.query.form is Form.CONSTRUCT, transactional=transactional)


def _columns(queries: Sequence[RunQuery]) -> tuple[str, ...]:
    """What a sink of these queries gets: which query it is comes first, if there are several."""
    names = dict.fromkeys(name for query in queries for name in query.variables)
    return (*(("query",) if len(queries) > 1 else ()), *NUMBERS, *names)


def _shared(queries: Sequence[RunQuery], answers: Mapping[int, pa.Table]) -> pa.Table:
    """Answers of several queries in one table, in order of time; what a query does not select is unbound."""
    columns = _columns(queries)
    parts = []
    for number, table in answers.items():
        query, rows, start = queries[number], table.num_rows, len(NUMBERS)
        found = dict(zip(query.variables, table.columns[start:], strict=True))
        terms = [found.get(name, pa.nulls(rows, pa.string())) for name in columns[1 + start :]]
        names = pa.array([str(Literal(query.name))] * rows, pa.string())
        parts.append(pa.table([names, *table.columns[:start], *terms], names=list(columns)))
    together = pa.concat_tables(parts)
    return together.take(np.argsort(together.column("at_ms").to_numpy(), kind="stable"))
