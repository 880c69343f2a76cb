"""What every source gives: chunks, each with the position behind it, to go on from.

    class Countdown:
        def chunks(self, want, since=None):
            for number in range(int(since or 3), 0, -1):
                triple = f'<http://e/count> <http://e/at> "{number}" .'
                yield want.elements([(triple, 1000 * (3 - number))], position=str(number - 1).encode())

A chunk is encoded when it is taken: so nobody who waits for input holds up an engine, and a source knows no dictionary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeAlias, runtime_checkable

from millstream.ingest.columns import NOTHING, Columns
from millstream.ingest.intake import encoded
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.summary import Summary
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf import OnRejected, Rejections, parse_time_option
from millstream.rdf.changes.changes import check_change_options
from millstream.rdf.grouping import check_element_option
from millstream.rdf.timing import TimeKind, TimeOption, Timing

Encode: TypeAlias = Callable[[Dictionary, Summary | None], Columns]


class Chunk:
    """Some elements of a source, as they were read. Whoever takes one encodes it before asking for the next."""

    def __init__(self, encode: Encode, position: bytes = b"", *, is_single: bool = False, is_idle: bool = False) -> None:
        """`is_single`: each element has one triple, so that none repeats another; `is_idle`: there is nothing new now."""
        self.encode = encode
        self.is_single = is_single
        self.is_idle = is_idle
        self.is_placed = bool(position)
        self._position = position

    @property
    def position(self) -> bytes:
        """Where to go on from once it is taken, known when it is encoded; nothing: where the one before it said."""
        return self._position


def known(position: bytes, *, is_idle: bool = False) -> Chunk:
    """A position that is known without what was read before it."""
    if not isinstance(position, bytes):
        raise ValueError("a position is bytes")
    return Chunk(lambda dictionary, summary: NOTHING, position, is_idle=is_idle)


@dataclass(frozen=True, slots=True)
class Want:
    """What is wanted of a source: what an element is, when it happened, and what to do with what is malformed."""

    format: str | None = None
    time: str | None = None
    element: str | None = None
    base: str | None = None
    clock_ms: Callable[[], int] | None = None
    on_rejected: OnRejected | None = None
    """Where malformed input goes; without it, the first raises."""
    limits: Limits = DEFAULT_LIMITS
    changes: bool = False
    """Whether what comes are changes of graphs, in RDF Patch or SPARQL Update, instead of elements."""
    graphs: bool = False
    """Whether it matters which graph a triple was in."""
    blank_prefix: str | None = None
    """What names blank nodes, so that reading again gives the same."""
    floor_ms: Callable[[], int] | None = None
    """The earliest time that is still taken, if somebody knows: for sources that had rather move than be late."""
    option: TimeOption | None = field(init=False)

    def __post_init__(self) -> None:
        option = None if self.time is None else parse_time_option(self.time)
        check_element_option(self.element)
        if self.changes:
            check_change_options(self.format, self.time)
        if option is not None and option.kind is TimeKind.ARRIVAL:
            Timing(option, self.clock_ms)
        object.__setattr__(self, "option", option)

    def elements(self, elements: Iterable[tuple[object, int]], position: bytes = b"") -> Chunk:
        """Some elements, each as `Engine.push` takes it: triples and a time."""
        return Chunk(partial(encoded, list(elements), Rejections("<elements>", self.on_rejected)), position)

    def read(self, data: object, position: bytes = b"") -> Iterator[Chunk]:
        """A document or table, as anything that `Engine.read` takes; only the last of its chunks has the position."""
        from millstream.ingest.sources import chunks_of  # which is made of sources, and so of this

        for chunk in chunks_of(data, self):
            yield Chunk(chunk.encode, is_single=chunk.is_single)
        yield known(position)


@runtime_checkable
class Source(Protocol):
    """Where elements come from."""

    def chunks(self, want: Want, since: bytes | None = None) -> Iterator[Chunk]:
        """What there is, or comes, behind a position that an earlier chunk had; from the beginning without one."""
