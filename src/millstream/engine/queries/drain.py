"""The drain: how long time goes on once input has ended, where queries construct streams that others read.

It goes on until everything has ended that a query sees. What is constructed on the way may last longer, and more may come
of that. But RSTREAM answers at every instant of a grid, for empty windows as well, and queries that feed each other can
keep each other awake: neither ever ends. So only what comes of input keeps time going. What comes of it:

- all that came or was constructed while there was input;
- what a query constructs no later than the last of that ends in its windows, unless it is there by way of the query's own
  answers.

With the last end of what comes of input, input is over: what is constructed up to then is waited for as well, nothing that
is constructed later. In streams that feed no circle each query thus waits for a bounded time after those it reads, and on a
circle each for those outside of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from millstream.engine.windows.window_operators import NEVER
from millstream.operators.ticks import time_of

if TYPE_CHECKING:
    from millstream.engine.output.emitter import Emitter
    from millstream.engine.queries.run import QueryRun


class Drain:
    """What comes of input after it has ended."""

    def __init__(self, runs: Sequence[QueryRun]) -> None:
        self._runs = runs
        self._ends = {run: run.contents.last_end() for run in runs}
        """The last ends of what comes of input and is not there by way of a run's own answers."""
        self._end = max(self._ends.values(), default=NEVER)
        """The last end of what comes of input."""

    def prolonged_by(self, emitter: Emitter, at_ms: int) -> bool:
        """Whether what a query constructs at a time is waited for."""
        stream = emitter.derives
        if stream is not None and at_ms <= time_of(self._ends[emitter.run]):
            for run in self._runs:
                end = run.contents.end_of(stream, at_ms)
                self._end = max(self._end, end)
                if stream not in self._own_streams(run):
                    self._ends[run] = max(self._ends[run], end)
        return at_ms <= time_of(self._end)

    def _own_streams(self, run: QueryRun) -> set[str]:
        """The streams of what a run constructs, and of what others construct of that."""
        found: set[str] = set()
        ways = [emitter.derives for emitter in run.emitters]
        while ways:
            stream = ways.pop()
            if stream is not None and stream not in found:
                found.add(stream)
                ways.extend(
                    emitter.derives for other in self._runs for emitter in other.emitters if stream in emitter.streams
                )
        return found
