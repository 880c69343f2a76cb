"""RDF Patch on the scanner kernel: plain lines go from bytes to columns, others are read one by one and put between them.

Each change is one triple. Those of a transaction that is open at the end of a chunk wait for what becomes of it, held in the
dictionary, since ids of terms that nobody holds are given to others. Messages that are patches are read many at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import groupby
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from millstream.errors import DataError
from millstream.ingest.chunk import Chunk, Want
from millstream.ingest.columns import Columns, Ids
from millstream.ingest.messages import MessageFaults, Messages
from millstream.ingest.parts import Part
from millstream.ingest.readers.scanning import CHUNK_BYTES, Piece, pieces_of
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.patch_scanner import PatchScanner
from millstream.kernels.scanning.scanner import Scanner
from millstream.kernels.scanning.summary import Summary
from millstream.limits import Limits
from millstream.rdf import BlankScope, Change, Rejections
from millstream.rdf.changes.patches import Patch, Transaction, not_committed
from millstream.rdf.inputs import ByteStream
from millstream.rdf.readers.bounds import Cut, bounded_lines, too_long
from millstream.rdf.timing import TimeKind, readings_of

_PAST = -(1 << 62)


def read_patch(part: Part, stream: ByteStream, want: Want) -> Iterator[Chunk]:
    """The changes of an RDF Patch."""
    reader = _PatchReader(part, want)
    for piece in bounded_lines(pieces_of(part, stream, CHUNK_BYTES), part.limits.statement_bytes):
        yield Chunk(partial(reader.encode, piece, False))
    yield Chunk(partial(reader.encode, b"", True))


def encode_patches(
    messages: Messages,
    places: Sequence[int],
    base: str | None,
    limits: Limits,
    faults: MessageFaults,
    dictionary: Dictionary,
) -> tuple[Columns, Ids]:
    """The changes of messages, each a patch by itself, and for each the place of its message; they have no times yet."""
    scanner = PatchScanner(dictionary, graphs=True, literal_bytes=limits.literal_bytes)
    values = [messages.values[place] for place in places]
    found, sizes, others = scanner.messages(values, lambda number: messages.scope(places[number]) + "l", False)
    origin, ends, odd = np.repeat(places, sizes), np.cumsum(sizes).tolist(), _Odd()
    for number, lines in groupby(cast("list[Any]", others), key=lambda other: other[0]):
        place = places[number]
        patch = Patch(BlankScope(messages.scope(place)), base=base, limits=limits)
        for _, line, behind, text in lines:
            if (reason := odd.take(patch, line, text, behind)) is not None:
                faults.report(place, reason, line=line, column=1, text=text, whole=True)
        odd.origin += [place] * (len(odd.changes) - len(odd.origin))
        if patch.began is not None:
            end = ends[number] + len(odd.changes)
            reason = not_committed(end - odd.marks[-1][1])
            faults.report(place, reason, line=patch.began, column=1, text="TX .", whole=True)
            odd.marks.append((Transaction.ABORT, end))
    assert found.g is not None
    changes = _Changes(found.triples, found.g, scanner.signs, found.index, scanner.statements)
    if odd.changes:
        changes = _merged(changes, odd, _scan_odd(odd.changes, Rejections("messages", faults.tell), dictionary, None))
        origin = np.insert(origin, odd.behind, odd.origin)
    kept = ~np.isin(origin, list(faults.refused))
    for (_, begin), (mark, end) in zip(odd.marks[::2], odd.marks[1::2], strict=True):
        if mark is Transaction.ABORT:
            kept[begin:end] = False
    changes = changes if kept.all() else changes.among(kept)
    return changes.columns(), origin[kept]


@dataclass(slots=True)
class _Changes:
    """Changes in order: those that are kept as columns, with their places among all, and how many there are."""

    triples: Ids
    graph: Ids
    sign: Ids
    place: Ids
    count: int

    def pick(self, rows: Ids | npt.NDArray[np.bool_], place: Ids, count: int) -> _Changes:
        """Some of them, at other places."""
        return _Changes(self.triples[rows], self.graph[rows], self.sign[rows], place, count)

    def among(self, kept: npt.NDArray[np.bool_]) -> _Changes:
        """Those at some places."""
        rows = kept[self.place]
        return self.pick(rows, (np.cumsum(kept) - 1)[self.place[rows]], int(kept.sum()))

    def columns(self, at_ms: Ids | None = None, rate: Fraction | None = None, fault: DataError | None = None) -> Columns:
        sign = np.ones(self.count, np.int64)
        sign[self.place] = self.sign
        return Columns(self.triples, self.place, self.count, at_ms, None, self.graph, sign, rate=rate, fault=fault)


def _joined(parts: list[_Changes]) -> _Changes:
    """Changes one after the other."""
    starts = np.cumsum([0, *(part.count for part in parts)])
    return _Changes(
        np.concatenate([part.triples for part in parts]),
        np.concatenate([part.graph for part in parts]),
        np.concatenate([part.sign for part in parts]),
        np.concatenate([part.place + start for part, start in zip(parts, starts, strict=False)]),
        int(starts[-1]),
    )


@dataclass(slots=True)
class _Odd:
    """What the lines that are not plain say."""

    changes: list[Change] = field(default_factory=list)
    behind: list[int] = field(default_factory=list)
    """For each change how many plain ones of the chunk are before it."""
    marks: list[tuple[Transaction, int]] = field(default_factory=list)
    """With how many changes are before them."""
    origin: list[int] = field(default_factory=list)
    """For each change its message, where there are several."""

    def take(self, patch: Patch, line: int, text: bytes, behind: int) -> str | None:
        """A line behind so many plain changes; gives what is wrong with it."""
        try:
            said = patch.take(line, text)
        except DataError as error:
            return error.reason
        if isinstance(said, Change):
            self.changes.append(said)
            self.behind.append(behind)
        elif said is not None:
            self.marks.append((said, behind + len(self.changes)))
        return None


class _PatchReader:
    """The state of one patch between chunks."""

    def __init__(self, part: Part, want: Want) -> None:
        self._part = part
        self._want = want
        self._patch = Patch(part.scope, base=part.base, limits=part.limits)
        self._scanner: PatchScanner | None = None
        self._waiting: list[_Changes] = []
        """Those of the open transaction that earlier chunks had."""

    def encode(self, piece: Piece, last: bool, dictionary: Dictionary, summary: Summary | None) -> Columns:
        """The changes that a piece of the text completes."""
        part, scanner, fault = self._part, self._scanner, None
        if scanner is None:
            scope, limit = part.scope.prefix + "l", part.limits.literal_bytes
            scanner = PatchScanner(dictionary, graphs=True, summary=summary, scope=scope, literal_bytes=limit)
            self._scanner = scanner
        was_open, before, odd = self._patch.began is not None, scanner.statements, _Odd()
        if isinstance(piece, Cut):
            fault = self._reject(too_long(part.limits), scanner.lines + 1, scanner.abandon())
            piece = b""
        found = scanner.feed(piece, last)
        assert found.g is not None
        changes = _Changes(found.triples, found.g, scanner.signs, found.index - before, scanner.statements - before)
        others = cast("list[tuple[int, int, bytes]]", found.errors)
        for line, behind, text in others if fault is None else ():
            reason = odd.take(self._patch, line, text, behind - before)
            fault = None if reason is None else self._reject(reason, line, text)
            if fault is not None:
                # Nothing is set aside: what came before the fault is there, and nothing comes after it.
                changes = changes.among(np.arange(changes.count) < behind - before)
                break
        if odd.changes:
            changes = _merged(changes, odd, _scan_odd(odd.changes, part.rejections, dictionary, summary))
        if was_open or odd.marks:
            changes = self._settled(changes, odd.marks, dictionary, was_open=was_open)
        if last and self._patch.began is not None and fault is None:
            fault = self._reject(not_committed(sum(w.count for w in self._waiting)), self._patch.began, "TX .")
            self._drop(dictionary)
        return self._columns(changes, fault)

    def _reject(self, reason: str, line: int, text: str | bytes) -> DataError | None:
        """Sets something aside; gives what ends the reading, if nobody wants that."""
        try:
            self._part.rejections.reject(reason, line=line, column=1, text=text)
        except DataError as error:
            return error
        return None

    def _settled(
        self, changes: _Changes, marks: list[tuple[Transaction, int]], dictionary: Dictionary, *, was_open: bool
    ) -> _Changes:
        """The changes that come now: those of no transaction, and those of transactions that were committed."""
        kept = np.ones(changes.count, np.bool_)
        begin = 0 if was_open else None
        committed: list[_Changes] = []
        for mark, place in marks:
            if mark is Transaction.BEGIN:
                begin = place
                continue
            if mark is Transaction.COMMIT:
                committed += self._waiting
            else:
                kept[begin:place] = False
            self._drop(dictionary)
            begin = None
        if begin is not None:
            waits = kept & (np.arange(changes.count) >= begin)
            tail = changes.among(waits)
            dictionary.hold(tail.columns().terms)
            self._waiting.append(tail)
            kept &= ~waits
        now = changes if kept.all() else changes.among(kept)
        return _joined([*committed, now]) if committed else now

    def _drop(self, dictionary: Dictionary) -> None:
        """Lets go of what waits; ids are good until the chunk is taken."""
        for some in self._waiting:
            dictionary.release(some.columns().terms, _PAST)
        self._waiting = []

    def _columns(self, changes: _Changes, fault: DataError | None) -> Columns:
        option, at_ms = self._want.option, None
        if option is not None and option.kind is TimeKind.ARRIVAL:
            assert self._want.clock_ms is not None
            at_ms = readings_of(self._want.clock_ms, changes.count)
        return changes.columns(at_ms, None if option is None else option.rate, fault)


def _scan_odd(changes: list[Change], rejections: Rejections, dictionary: Dictionary, summary: Summary | None) -> _Changes:
    """Changes that were parsed; blank nodes have their names already."""
    lines = [f"{change.triples[0]} {change.graph or ''} .\n" for change in changes]
    found = Scanner(dictionary, graphs=True, summary=summary).feed("".join(lines).encode(), True)
    for _, _, reason, text in found.errors:
        rejections.reject(reason, text=text)
    assert found.g is not None
    sign = np.array([1 if change.insert else -1 for change in changes], np.int64)
    place = found.line - 1
    return _Changes(found.triples, found.g, sign[place], place, len(changes))


def _merged(plain: _Changes, odd: _Odd, others: _Changes) -> _Changes:
    """Plain changes, and others between them."""
    behind = np.array(odd.behind, np.int64)
    place = np.concatenate(
        [plain.place + np.searchsorted(behind, plain.place, "right"), (behind + np.arange(len(behind)))[others.place]]
    )
    both = _joined([plain, others])
    order = np.argsort(place, kind="stable")
    return both.pick(order, place[order], both.count)
