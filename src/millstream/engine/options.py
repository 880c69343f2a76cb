"""What an engine is made with, and the checks of what callers pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from pyoxigraph import NamedNode

from millstream.errors import DataError, OptionError
from millstream.language.translation.iris import DEFAULT_BASE, resolve
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.operators.ticks import MOST_MS
from millstream.rdf.times import OUT_OF_RANGE


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
    limits: Limits = DEFAULT_LIMITS
    max_jump_ms: int | None = None

    def __post_init__(self) -> None:
        checked_time(self.t0_ms)
        if not isinstance(self.limits, Limits):
            raise OptionError(f"limits must be millstream.Limits, got {self.limits!r}.")
        if not _is_whole(self.lateness_ms) or not 0 <= self.lateness_ms <= MOST_MS:
            raise OptionError(f"lateness_ms must be a whole number from 0 to 2^59, got {self.lateness_ms!r}.")
        if self.max_jump_ms is not None and (not _is_whole(self.max_jump_ms) or not 0 <= self.max_jump_ms <= MOST_MS):
            raise OptionError(f"max_jump_ms must be a whole number from 0 to 2^59 or None, got {self.max_jump_ms!r}.")
        if not _is_whole(self.max_pending) or self.max_pending < 1:
            raise OptionError(f"max_pending must be a whole number of at least 1, got {self.max_pending!r}.")


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def checked_time(at_ms: object) -> int:
    """A time in milliseconds, or a DataError that says what is wrong with it."""
    if type(at_ms) is int and -MOST_MS <= at_ms <= MOST_MS:
        return at_ms
    if not _is_whole(at_ms):
        raise DataError(f"a time is a whole number of milliseconds, got {at_ms!r}")
    value = int(at_ms)
    if not -MOST_MS <= value <= MOST_MS:
        raise DataError(f"{OUT_OF_RANGE}, got {value}")
    return value


def graph_iri(graph: str | None) -> str | None:
    return None if graph is None else named_iri(graph, "graph")


def named_iri(name: object, of: str) -> str:
    """The IRI that a caller gives a stream or a graph; a relative one is completed as in queries."""
    if not isinstance(name, str):
        raise OptionError(f"the name of a {of} is an IRI as text, got {name!r}.")
    try:
        return NamedNode(resolve(DEFAULT_BASE, name)).value
    except ValueError as error:
        raise OptionError(f"the name of a {of} is an IRI, got {name!r}: {error}.") from None
