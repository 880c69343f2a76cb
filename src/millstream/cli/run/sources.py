"""The sources of a run: files, followed or not, and standard input, which is read in a thread of its own."""

from __future__ import annotations

import os
import queue
import select
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from millstream.cli.run.arguments import GraphSource, StreamSource
from millstream.cli.run.options import RunOptions
from millstream.connect.kafka.options import is_address
from millstream.connect.kafka.source import kafka_source
from millstream.ingest import Chunk, Files, Source, Want
from millstream.ingest.sources import Position, Reading, parts_in
from millstream.output.files import STANDARD
from millstream.rdf import OnRejected
from millstream.rdf.times import now_ms

STANDARD_FORMAT = "nquads"
"""What standard input is unless told otherwise."""


def want_of(source: StreamSource | GraphSource, number: int, options: RunOptions, on_rejected: OnRejected) -> Want:
    """What is wanted of a source; the number keeps its blank nodes apart from those of others."""
    is_stream, said = isinstance(source, StreamSource), dict[str, Any]()
    # What the address of a topic says comes first; what is said of all streams is about those that can have it.
    if not is_address(source.path):
        standard = STANDARD_FORMAT if source.path == STANDARD else None
        said = {"time": options.time if is_stream else options.changes_time, "clock_ms": now_ms}
        if is_stream:
            said |= {"format": options.input_format or standard, "element": options.element}
    return Want(
        **said,
        on_rejected=None if options.strict else on_rejected,
        limits=options.limits,
        changes=not is_stream,
        graphs=not is_stream,
        blank_prefix=f"s{number}",
    )


def source_of(source: StreamSource | GraphSource, options: RunOptions, arrived: threading.Event) -> Source:
    """Where a source's chunks come from; `arrived` is set when some have come that were waited for."""
    if is_address(source.path):
        defaults = {"format": options.input_format, "time": options.time, "element": options.element}
        return kafka_source(source.path, defaults, follow=options.follow, idle_s=options.idle_ms / 1000)
    return StandardSource(arrived) if source.path == STANDARD else Files(source.path, follow=options.follow)


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


@dataclass(frozen=True, slots=True)
class StandardSource:
    """Standard input as a source. What was read before is gone from it: it goes on with what is there now."""

    arrived: threading.Event

    def chunks(self, want: Want, since: bytes | None = None) -> Iterator[Chunk]:
        """What has come; empty chunks while nothing has."""
        before = Position.of(since, want.blank_prefix)
        count = before.before + before.taken
        reading = Reading(want, Position(f"{want.blank_prefix}n{count}", before=count))
        # The thread reads on when a chunk was encoded, and ends with the process.
        waiting: queue.Queue[Chunk | BaseException | None] = queue.Queue()
        encoded = threading.Semaphore(0)

        def read() -> None:
            try:
                for part in parts_in(StandardInput(lambda: None), want, reading):
                    for chunk in reading.chunks(part):
                        waiting.put(chunk)
                        self.arrived.set()
                        encoded.acquire()
                waiting.put(None)
            except BaseException as error:  # it is raised where chunks are taken
                waiting.put(error)
            self.arrived.set()

        threading.Thread(target=read, daemon=True).start()
        while True:
            try:
                found = waiting.get_nowait()
            except queue.Empty:
                yield reading.nothing(is_idle=True)
                continue
            if isinstance(found, BaseException):
                raise found
            if found is None:
                return
            yield found
            encoded.release()
