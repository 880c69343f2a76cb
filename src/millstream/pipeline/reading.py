"""A part of a source as columns of ids, chunk by chunk.

A part is a file or a range of one. Its blank nodes are named after the file's path, so that all its parts, whenever
and wherever they are read, have the same nodes. Lines whose times are known without looking at them (`rate:N`,
`arrival`), and N-Quads of graphs that state theirs, go from the file to the scanner kernel; everything else takes the
readers of `millstream.rdf`, with the same elements.

Under `rate:N` a time depends on how many elements came before, which no part knows; so a reading says which of its
part's elements a triple belongs to, and whoever knows the counts of earlier parts tells the times (`times_at_rate`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, repeat

import numpy as np
import numpy.typing as npt
from pyoxigraph import DefaultGraph, Triple

from millstream.engine.graph_log import GraphElements, GraphLog
from millstream.engine.lines import scanned
from millstream.errors import DataError, OptionError
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.scanner import Scanned, Scanner
from millstream.kernels.scanner_summary import Summary
from millstream.pipeline.files import Piece, format_of, is_by_line, open_piece
from millstream.pipeline.parts import Part
from millstream.rdf import Format, OnRejected, Rejected, Rejections, StreamElement, parse_time_option
from millstream.rdf.graphs import MAX_WAITING
from millstream.rdf.inputs import ByteStream
from millstream.rdf.lines import is_message_log
from millstream.rdf.readers import _Elements
from millstream.rdf.sources import Part as InputPart
from millstream.rdf.sources import parts_of
from millstream.rdf.times import MAX_MS
from millstream.rdf.timing import Group, TimeKind, TimeOption

CHUNK_BYTES = 1 << 21
CHUNK_STATEMENTS = 50_000

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Reading:
    """A chunk of a part: the kept triples and the times of all its elements, kept or not, in order.

    `element` is the place of each triple's element among the chunk's. Under `rate:N`, `at_ms` is None and `number` is the
    place of each triple's element among those of the part.
    """

    triples: Ids
    graph: Ids | None
    element: Ids
    at_ms: Ids | None
    number: Ids | None
    elements: int
    rejected: int
    # Whether it ends its part.
    last: bool
    # How many triples there were, kept or not.
    statements: int = 0


def read_part(
    part: Part, dictionary: Dictionary, summary: Summary | None = None, *, on_rejected: OnRejected
) -> Iterator[Reading]:
    """The chunks of a part, one at least; only triples that `summary` keeps are encoded.

    Ids are good until the caller settles the dictionary, which it may do after each chunk.
    """
    counted = Counted(on_rejected)
    with open_piece(part.path, part.start, part.end) as piece:
        counted.piece = piece
        choice = format_of(part.path, part.format)
        option = None if part.time is None else parse_time_option(part.time)
        if option is not None and option.kind is TimeKind.ARRIVAL and part.arrival_ms is None:
            raise OptionError("a part with time 'arrival' needs the time of its arrival")
        timed = option is not None and option.kind in (TimeKind.RATE, TimeKind.ARRIVAL)
        graphs = choice.format is Format.N_QUADS and not choice.messages and part.element in (None, "graph")
        if timed and is_by_line(choice, part.time, part.element):
            stream = ByteStream(piece, Rejections(part.path, counted))
            head = next_chunk(stream)
            # In the middle of a file there is nothing to announce.
            if piece.start or not is_message_log(head):
                yield from _by_scanner(part, head, stream, dictionary, summary, counted, choice.format is Format.N_QUADS)
                return
        if graphs and (option is None or option.kind is TimeKind.PROV):
            stream = ByteStream(piece, Rejections(part.path, counted))
            head = next_chunk(stream)
            if not is_message_log(head):
                yield from _by_graph(part, head, stream, dictionary, counted)
                return
    with open_piece(part.path, part.start, part.end) as piece:
        counted.piece = piece
        yield from _by_readers(part, piece, option, dictionary, summary, counted)


def count_elements(part: Part) -> int:
    """How many elements a part has; what is malformed is not counted, nor told."""
    nothing = Summary([])
    return sum(reading.elements for reading in read_part(part, Dictionary(), nothing, on_rejected=lambda _: None))


def times_at_rate(numbers: Ids, rate: Fraction) -> Ids:
    """The times of elements by their numbers, from 0 over all of a stream; -1 where it would not fit."""
    if len(numbers) and max(int(numbers.max()) * 1000 * rate.denominator, rate.numerator) >= 1 << 63:
        numbers = numbers.astype(object)
    exact = numbers * (1000 * rate.denominator) // rate.numerator
    return np.where(exact > MAX_MS, -1, exact).astype(np.int64)


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
        self._receiver(Rejected(rejected.source, line, rejected.column, rejected.reason, rejected.text))

    def take(self) -> int:
        """How many since the last call."""
        count, self._count = self._count, 0
        return count


def scope_of(part: Part) -> str:
    """What names the blank nodes of a part's file."""
    return "x" + hashlib.blake2b(f"{part.source} {part.path}".encode(), digest_size=8).hexdigest()


def _by_scanner(
    part: Part,
    head: bytes,
    stream: ByteStream,
    dictionary: Dictionary,
    summary: Summary | None,
    counted: Counted,
    graphs: bool,
) -> Iterator[Reading]:
    # The label behind the scope as the readers name it: the same nodes whichever way a file takes.
    scope, literal_bytes = scope_of(part) + "l", part.limits.literal_bytes
    scanner = Scanner(dictionary, graphs=graphs, summary=summary, scope=scope, literal_bytes=literal_bytes)
    arrival_ms = None if part.rate is not None else part.arrival_ms
    for found, before, last in scan(scanner, head, stream, part, counted):
        elements = scanner.statements - before
        yield Reading(
            triples=np.column_stack([found.s, found.p, found.o]),
            graph=found.g,
            element=found.index - before,
            at_ms=None if arrival_ms is None else np.full(elements, arrival_ms),
            number=found.index if arrival_ms is None else None,
            elements=elements,
            rejected=counted.take(),
            last=last,
            statements=elements,
        )


def _by_graph(part: Part, head: bytes, stream: ByteStream, dictionary: Dictionary, counted: Counted) -> Iterator[Reading]:
    # Without a summary: only who sees every quad knows where a graph ends.
    scanner = Scanner(dictionary, graphs=True, scope=scope_of(part) + "l", literal_bytes=part.limits.literal_bytes)
    log = GraphLog(dictionary, Rejections(part.path, counted))
    for found, *_ in scan(scanner, head, stream, part, counted):
        yield _reading(log.take(found), counted.take(), last=False)
    yield _reading(log.finish(), counted.take(), last=True)


def scan(
    scanner: Scanner, head: bytes, stream: ByteStream, part: Part, on_rejected: OnRejected
) -> Iterator[tuple[Scanned, int, bool]]:
    """What a scanner finds in a head and all that follows it, as `scanned` has it."""
    chunks = chain((head,) if head else (), iter(lambda: next_chunk(stream), b""))
    return scanned(chunks, scanner, part.limits, Rejections(part.path, on_rejected))


def _reading(found: GraphElements, rejected: int, *, last: bool) -> Reading:
    elements = len(found.at_ms)
    return Reading(
        found.triples, found.graph, found.element, found.at_ms, None, elements, rejected, last, len(found.triples)
    )


def next_chunk(stream: ByteStream) -> bytes:
    """The next bytes, as many as make a chunk: compressed files come in smaller bites."""
    pieces: list[bytes] = []
    length = 0
    while length < CHUNK_BYTES and (text := stream.read(CHUNK_BYTES - length)):
        pieces.append(text)
        length += len(text)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _by_readers(
    part: Part,
    piece: Piece,
    option: TimeOption | None,
    dictionary: Dictionary,
    summary: Summary | None,
    counted: Counted,
) -> Iterator[Reading]:
    rated = option is not None and option.kind is TimeKind.RATE
    choice = format_of(part.path, part.format)
    # Ranges of documents number their blank nodes each from the start.
    scope = scope_of(part) if piece.start == 0 else f"{scope_of(part)}r{piece.start}"
    # Tables are better read from their path than from bytes.
    source: object = part.path if choice.format.is_table else piece
    format = part.format or choice.format
    with_graphs = choice.format.has_graphs or choice.format.is_table
    reader = _Groups(option, part.element, None if part.arrival_ms is None else repeat(part.arrival_ms).__next__)
    parts = parts_of(source, format=format, base=part.base, receiver=counted, blank_prefix=scope, limits=part.limits)
    elements = reader.read(parts)
    before = 0
    waiting = _Waiting(with_graphs)
    for element in _up_to_fault(elements, part, counted):
        # Only once there is another element is it known that this chunk is not the last.
        if len(waiting.lines) >= CHUNK_STATEMENTS or waiting.size >= CHUNK_BYTES:
            yield waiting.encode(part, dictionary, summary, counted, before if rated else None, last=False)
            before += len(waiting.times)
            waiting = _Waiting(with_graphs)
        waiting.add(element.triples, element.at_ms, reader.group)
    yield waiting.encode(part, dictionary, summary, counted, before if rated else None, last=True)


def _up_to_fault(elements: Iterator[StreamElement], part: Part, counted: Counted) -> Iterator[StreamElement]:
    """The elements of a file, as far as it can be read at all: one that is no table must not stop all the others."""
    try:
        yield from elements
    except DataError as error:
        counted(Rejected(error.source or part.path, error.line, error.column, error.reason, error.text))


class _Groups(_Elements):
    """Elements, and the quads that the last one was made of: elements do not say which graph a triple was in."""

    def __init__(self, option: TimeOption | None, element: str | None, clock_ms: Callable[[], int] | None) -> None:
        super().__init__(option, element, clock_ms, MAX_WAITING)
        self.group = Group([], None)

    def _of_table(self, part: InputPart, option: TimeOption) -> Iterator[Group]:
        return self._noted(super()._of_table(part, option))

    def _of_events(self, part: InputPart, events: Iterator[object], option: TimeOption, messages: bool) -> Iterator[Group]:
        return self._noted(super()._of_events(part, events, option, messages))  # type: ignore[arg-type]

    def _noted(self, groups: Iterator[Group]) -> Iterator[Group]:
        for group in groups:
            self.group = group
            yield group


class _Waiting:
    """Elements to be encoded together."""

    def __init__(self, with_graphs: bool) -> None:
        self.lines: list[str] = []
        self.size = 0
        self.sizes: list[int] = []
        self.times: list[int] = []
        self.graphs: list[str | None] | None = [] if with_graphs else None

    def add(self, triples: tuple[Triple, ...], at_ms: int, group: Group) -> None:
        lines = [f"{triple} .\n" for triple in triples]
        self.lines += lines
        self.size += sum(map(len, lines))
        self.sizes.append(len(triples))
        self.times.append(at_ms)
        if self.graphs is not None:
            # The first quad of a triple names its graph, as the first of repeated triples stays.
            named = {quad.triple: quad.graph_name for quad in reversed(group.quads)}
            for triple in triples:
                graph = named[triple]
                self.graphs.append(None if isinstance(graph, DefaultGraph) else str(graph))

    def encode(
        self,
        part: Part,
        dictionary: Dictionary,
        summary: Summary | None,
        counted: Counted,
        before: int | None,
        *,
        last: bool,
    ) -> Reading:
        """The chunk; `before` is how many elements of the part came before it, if times follow a rate."""
        found = Scanner(dictionary, summary=summary).feed("".join(self.lines).encode(), True)
        for _, _, reason, text in found.errors:
            Rejections(part.path, counted).reject(reason, text=text)
        # Each statement is one line, so lines tell statements apart even where one was refused.
        row = found.line - 1
        place = np.repeat(np.arange(len(self.sizes)), self.sizes)[row]
        return Reading(
            triples=np.column_stack([found.s, found.p, found.o]),
            graph=None if self.graphs is None else _encoded([self.graphs[i] for i in row], dictionary),
            element=place,
            at_ms=np.array(self.times, np.int64) if before is None else None,
            number=None if before is None else place + before,
            elements=len(self.times),
            rejected=counted.take(),
            last=last,
            statements=len(self.lines),
        )


def _encoded(graphs: list[str | None], dictionary: Dictionary) -> Ids:
    """The ids of graphs, -1 for the default graph, as the scanner has it."""
    ids = {graph: dictionary.encode_one(graph) for graph in set(graphs) if graph is not None}
    return np.array([-1 if graph is None else ids[graph] for graph in graphs], np.int64)
