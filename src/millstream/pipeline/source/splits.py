"""Splits of a source, as planners hand them to tasks: apart from what reads them, since Spark plans in several processes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf import parse_time_option


@dataclass(frozen=True, slots=True)
class Split:
    """What one task reads at a time: the lines of a file that begin in [start, end), or nothing but news of the source."""

    path: str = ""
    format: str | None = None
    start: int = 0
    end: int = 0
    # Which stream it is of, and its place among all parts of that stream.
    source: int = 0
    sequence: int = 0
    time: str | None = None
    element: str | None = None
    base: str | None = None
    # The time of elements under `arrival`: when the file was found, so that reading it again gives it again.
    arrival_ms: int | None = None
    # Whether the file holds changes of graphs instead of elements.
    changes: bool = False
    # Without data: the source has ended, or is idle.
    ended: bool = False
    beat: bool = False
    # Whether a source that has ended may have more in a later run.
    open: bool = False
    limits: Limits = DEFAULT_LIMITS

    @property
    def rate(self) -> Fraction | None:
        """The rate its times follow, if they do."""
        return None if self.time is None else parse_time_option(self.time).rate

    @property
    def has_data(self) -> bool:
        """Whether there is a file to read."""
        return not (self.ended or self.beat)
