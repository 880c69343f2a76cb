"""The sources of a run as feeds: how each is read, what times it gets, and standard input."""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator
from fractions import Fraction

from millstream.cli.arguments import GraphSource, StreamSource
from millstream.cli.feeds import Feed, FileFeed, Item, OnRejected, Position, Reader, ThreadFeed
from millstream.cli.options import RunOptions
from millstream.output.files import STANDARD
from millstream.rdf import parse_time_option, read_changes, read_elements
from millstream.rdf.timing import TimeKind

STANDARD_FORMAT = "nquads"
"""What standard input is unless told otherwise."""


def wall_clock_ms() -> int:
    return time.time_ns() // 1_000_000


class StandardInput:
    """Standard input as the readers take it; while nothing comes, somebody else gets a turn, who may raise to stop."""

    name = "<standard input>"

    def __init__(self, while_waiting: Callable[[], None]) -> None:
        self._file = sys.stdin.buffer
        self._while_waiting = while_waiting

    def read1(self, size: int, /) -> bytes:
        try:
            descriptor = self._file.fileno()
        except (OSError, ValueError):
            return self._file.read(size)
        while not select.select([descriptor], [], [], 0.1)[0]:
            self._while_waiting()
        return os.read(descriptor, size)

    def read(self, size: int, /) -> bytes:
        return self.read1(size)


def stream_reader(options: RunOptions) -> Reader:
    """Reads elements with the times that `--time` says; a rate counts on from one file to the next."""
    time_option, rate = _time_and_rate(options.time)

    def read(source: object, first: int, prefix: str, on_rejected: OnRejected) -> Iterator[Item]:
        elements = read_elements(
            source,
            format=options.input_format or (STANDARD_FORMAT if isinstance(source, StandardInput) else None),
            time=time_option,
            element=options.element,
            on_rejected=on_rejected,
            strict=options.strict,
            clock_ms=_clock(rate, first),
            blank_prefix=prefix,
            limits=options.limits,
        )
        return (Item(found.at_ms, found.triples) for found in elements)

    return read


def change_reader(options: RunOptions, source: GraphSource) -> Reader:
    """Reads the changes of a graph."""
    time_option, rate = _time_and_rate(options.changes_time)

    def read(of: object, first: int, prefix: str, on_rejected: OnRejected) -> Iterator[Item]:
        changes = read_changes(
            of,
            time=time_option,
            on_rejected=on_rejected,
            strict=options.strict,
            clock_ms=_clock(rate, first),
            blank_prefix=prefix,
            limits=options.limits,
        )
        for found in changes:
            graph = source.graph if found.graph is None else found.graph.value
            yield Item(found.at_ms, found.triples, found.insert, graph)

    return read


def make_feed(
    source: StreamSource | GraphSource,
    number: int,
    options: RunOptions,
    on_rejected: OnRejected,
    arrived: threading.Event,
    position: Position | None,
) -> Feed:
    """One source of a run; the number keeps its blank nodes apart from those of others."""
    is_stream = isinstance(source, StreamSource)
    read = stream_reader(options) if isinstance(source, StreamSource) else change_reader(options, source)
    prefix = f"s{number}"
    if source.path == STANDARD:
        # What was read before is gone from standard input: it goes on with what is there now.
        first = 0 if position is None else position.taken
        feed = ThreadFeed(lambda: read(StandardInput(_nothing), first, f"{prefix}n{first}", on_rejected), arrived)
        feed.position.taken = first
        return feed
    return FileFeed(
        source.path,
        read,
        on_rejected,
        prefix=prefix,
        any_ending=not is_stream or options.input_format is not None,
        follow=options.follow,
        position=position,
    )


def _nothing() -> None:
    """The thread of standard input ends with the process."""


def _time_and_rate(option: str | None) -> tuple[str | None, Fraction | None]:
    """Rates are told by a clock that counts, so that they go on where an earlier file or run stopped."""
    if option is None:
        return None, None
    found = parse_time_option(option)
    return ("arrival", found.rate) if found.kind is TimeKind.RATE else (option, None)


def _clock(rate: Fraction | None, first: int) -> Callable[[], int]:
    if rate is None:
        return wall_clock_ms
    count = first

    def next_ms() -> int:
        nonlocal count
        at_ms = count * 1000 * rate.denominator // rate.numerator
        count += 1
        return at_ms

    return next_ms
