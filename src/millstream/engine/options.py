"""What an engine is made with, and the checks of what callers pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from millstream.errors import DataError, OptionError
from millstream.language.algebra import Output
from millstream.language.iris import DEFAULT_BASE, resolve
from millstream.operators.rows import MOST_MS


@dataclass(frozen=True, slots=True)
class Options:
    """See `Engine`; all of them are part of a snapshot."""

    lateness_ms: int
    t0_ms: int
    max_pending: int
    strict: bool
    summary: bool
    lazy: bool
    adaptive: bool

    def __post_init__(self) -> None:
        checked_time(self.t0_ms)
        if self.lateness_ms < 0:
            raise OptionError(f"lateness_ms must not be negative, got {self.lateness_ms}.")
        if self.max_pending < 1:
            raise OptionError(f"max_pending must be at least 1, got {self.max_pending}.")


def checked_time(at_ms: object) -> int:
    """A time in milliseconds, or a DataError that says what is wrong with it."""
    if isinstance(at_ms, bool) or not isinstance(at_ms, int | np.integer):
        raise DataError(f"a time is a whole number of milliseconds, got {at_ms!r}")
    value = int(at_ms)
    if not -MOST_MS <= value <= MOST_MS:
        raise DataError(f"a time lies between -2^59 and 2^59 milliseconds, got {value}")
    return value


def output_named(name: str) -> Output:
    try:
        return Output(name.lower())
    except (ValueError, AttributeError):
        names = ", ".join(o.value for o in Output)
        raise OptionError(f"output is one of {names}, got {name!r}.") from None


def graph_iri(graph: str | None) -> str | None:
    return None if graph is None else resolve(DEFAULT_BASE, graph)
