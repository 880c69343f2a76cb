"""A part of a source as columns of ids, chunk by chunk.

A part is a file or a range of one. Its blank nodes are named after the file's path, so that all its parts, whenever
and wherever they are read, have the same nodes.

Under `rate:N` a time depends on how many elements came before, which no part knows; so whoever knows the counts of earlier
parts tells the times.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from millstream.errors import DataError
from millstream.ingest import Chunk, Columns, Want
from millstream.ingest.columns import NOTHING
from millstream.ingest.parts import Part as InputPart
from millstream.ingest.parts import chosen_format
from millstream.ingest.readers.dispatch import Timings
from millstream.ingest.readers.dispatch import read_part as chunks_of_part
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.summary import Summary
from millstream.pipeline.source.files import Piece, open_piece
from millstream.pipeline.source.splits import Split
from millstream.rdf import BlankScope, Format, OnRejected, Rejected, Rejections
from millstream.rdf.timing import FixedClock


@dataclass(frozen=True, slots=True)
class Reading:
    """A chunk of a part, and how much was set aside in it."""

    columns: Columns
    rejected: int


def read_part(
    part: Split, dictionary: Dictionary, summary: Summary | None = None, *, on_rejected: OnRejected
) -> Iterator[Reading]:
    """The chunks of a part, one at least; only triples that `summary` keeps are encoded.

    Ids are good until the caller settles the dictionary, which it may do after each chunk.
    """
    with opened(part, scope_of(part), on_rejected) as (described, want, counted):
        empty = True
        for chunk in up_to_fault(chunks_of_part(described, want, Timings(want)), part, counted):
            columns = chunk.encode(dictionary, summary)
            if columns.elements or counted.waiting:
                yield Reading(columns, counted.take())
                empty = False
        if empty or counted.waiting:
            yield Reading(NOTHING if part.rate is None else replace(NOTHING, at_ms=None), counted.take())


@contextmanager
def opened(part: Split, scope: str, on_rejected: OnRejected) -> Iterator[tuple[InputPart, Want, Counted]]:
    """A part as readers take it, what is wanted of it, and who counts what is set aside; `scope` names its blank nodes."""
    counted = Counted(on_rejected)
    with open_piece(part.path, part.start, part.end) as piece:
        counted.piece = piece
        choice = None if part.changes else chosen_format(part.path, part.format)
        if piece.start and not (choice is not None and choice.format in (Format.N_TRIPLES, Format.N_QUADS)):
            # Ranges of documents number their blank nodes each from the start.
            scope = f"{scope}r{piece.start}"
        described = InputPart(
            choice,
            Rejections(part.path, counted),
            BlankScope(scope),
            part.base,
            open=lambda: piece,
            path=Path(part.path),
            is_range=piece.start > 0,
            limits=part.limits,
        )
        clock_ms = None if part.arrival_ms is None else FixedClock(part.arrival_ms)
        want = Want(
            part.format,
            part.time,
            part.element,
            part.base,
            clock_ms,
            counted,
            part.limits,
            changes=part.changes,
            graphs=True,
        )
        yield described, want, counted


def up_to_fault(chunks: Iterator[Chunk], part: Split, on_rejected: OnRejected) -> Iterator[Chunk]:
    """The chunks of a file, as far as it can be read at all: one that is no table must not stop all the others."""
    try:
        yield from chunks
    except DataError as error:
        on_rejected(Rejected(error.source or part.path, error.line, error.column, error.reason, error.text))


def count_elements(part: Split) -> int:
    """How many elements a part has; what is malformed is not counted, nor told."""
    readings = read_part(part, Dictionary(), Summary([]), on_rejected=lambda _: None)
    return sum(reading.columns.elements for reading in readings)


class Counted:
    """Counts what is set aside, and tells lines as those of the file."""

    def __init__(self, receiver: OnRejected) -> None:
        self.piece: Piece | None = None
        self._receiver = receiver
        self._count = 0
        self._before: int | None = None

    def __call__(self, rejected: Rejected) -> None:
        self._count += 1
        line = rejected.line
        if line is not None and self.piece is not None and self.piece.start:
            if self._before is None:
                self._before = self.piece.lines_before()
            line += self._before
        self._receiver(rejected if line == rejected.line else replace(rejected, line=line))

    @property
    def waiting(self) -> bool:
        """Whether there were any since the last call of `take`."""
        return self._count > 0

    def take(self) -> int:
        """How many since the last call."""
        count, self._count = self._count, 0
        return count


def scope_of(part: Split) -> str:
    """What names the blank nodes of a part's file."""
    return "x" + hashlib.blake2b(f"{part.source} {part.path}".encode(), digest_size=8).hexdigest()
