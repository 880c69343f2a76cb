"""The change log of a cell: what came is kept in slices, one a trigger, and a lost cell is made again by replaying them.

The cell itself lives in a worker's memory. The store holds the truth: for each trigger a slice with its blobs and the clock
before it, under a random token, and a ledger of the slices that still matter. A cell in memory is used only if its
version and token are those of the ledger; one that is behind on the same line reads what it missed; everything else (a
worker that died, an attempt that was never committed) is thrown away and made again. Going through slices emits nothing.

The end of all sources is not kept: what it brings is given, and whoever goes on does so as if there had been no end.

Of a trigger's blobs only those with rows that can still matter are kept whole; slices whose rows have all ended are
dropped. Where rows have no known end, or there are too many slices, the cell's whole state becomes the first of them.
The second stage is kept in the same way; its rows have no known end.
"""

from __future__ import annotations

import json
import secrets
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from millstream.engine.snapshot import pack, taken_as_damage, unpack
from millstream.operators.ticks import FOREVER
from millstream.pipeline.datasets.static import StaticData
from millstream.pipeline.exchange.checksums import damaged, packed, sealed, unpacked, unsealed
from millstream.pipeline.job.same_job import check_same
from millstream.pipeline.job.specification import JobSpec
from millstream.pipeline.state.bucket import Bucket
from millstream.pipeline.state.cell import Cell, Outcome

MOST_SLICES = 128
PIECE_BYTES = 8 << 20
_COMPACT_BYTES = 4 << 20
_COMPACT_TIMES = 4
_FIELDS = {"spread", "version", "token", "slices"}


class Store(Protocol):
    """What a state store offers a cell."""

    def ledger(self) -> str | None:
        """The ledger as it was committed last."""

    def keep_ledger(self, text: str) -> None: ...

    def piece(self, version: int, number: int) -> bytes | None: ...

    def keep_piece(self, version: int, number: int, data: bytes) -> None: ...

    def drop_piece(self, version: int, number: int) -> None: ...


class Replayable(Protocol):
    """What is kept: a cell, or the second stage. What a trigger does to it follows from its state and the blobs alone."""

    def take(self, blobs: list[bytes]) -> Outcome:
        """The blobs of one trigger, in any order."""

    def parted(self, blobs: list[bytes]) -> tuple[list[bytes], list[bytes]]:
        """The blobs of a trigger without those with which everything ends, and those."""

    @property
    def passed(self) -> int:
        """The tick up to which everything has happened."""

    def mark(self) -> dict[str, Any]:
        """What a slice needs to know of the time before it."""

    def go_on_from(self, mark: dict[str, Any]) -> None:
        """Begins at the time of a slice, of whose earlier ones nothing matters any more."""

    def dump(self) -> dict[str, Any]:
        """Its whole state."""


T = TypeVar("T", bound=Replayable)


@dataclass(slots=True)
class Slice:
    """One trigger, or all triggers up to one."""

    version: int
    token: str
    pieces: int
    bytes: int
    end: int
    """The tick from which on nothing of it matters."""
    whole: bool = False
    """Whether it is the cell's whole state."""


@dataclass(slots=True)
class Ledger:
    spec: str
    slices: list[Slice] = field(default_factory=list)
    version: int = 0
    token: str = ""

    def to_json(self) -> str:
        rows = [[s.version, s.token, s.pieces, s.bytes, s.end, s.whole] for s in self.slices]
        fields = {"spread": self.spec, "version": self.version, "token": self.token, "slices": rows}
        return json.dumps({**fields, "check": _check(fields)})

    @classmethod
    def from_json(cls, text: str) -> Ledger:
        try:
            fields = json.loads(text)
            # A ledger of an earlier layout has no check; it is only read to tell what changed.
            check = fields.pop("check", None)
            sound = set(fields) == _FIELDS and check in (None, _check(fields))
        except (ValueError, AttributeError, TypeError):
            sound = False
        if not sound:
            raise damaged("the ledger of a cell is not what was written")
        return cls(fields["spread"], [Slice(*row) for row in fields["slices"]], fields["version"], fields["token"])


@dataclass(slots=True)
class InMemory(Generic[T]):
    """A cell in memory, and which state of it."""

    version: int
    token: str
    cell: T


@dataclass(slots=True)
class StateReport:
    """What a trigger had to do besides its own work."""

    replayed: int = 0
    rebuilt: bool = False
    stored_bytes: int = 0
    state_bytes: int = 0
    """All that is kept of the cell."""
    flushed: Outcome | None = None
    """What the end of all sources brought, if they ended."""


class ChangeLog(Generic[T]):
    """Takes triggers for one cell, whatever happened to it in between."""

    def __init__(self, spec: JobSpec, make: Callable[[], T], load: Callable[[dict[str, Any]], T]) -> None:
        self._make = make
        self._load = load
        self._text = spec.to_json()

    def take(
        self, store: Store, in_memory: InMemory[T] | None, blobs: list[bytes]
    ) -> tuple[Outcome, InMemory[T], StateReport]:
        """One trigger: brings the cell to the state that was committed, moves it on, and keeps what it needs to."""
        report = StateReport()
        text = store.ledger()
        ledger = Ledger(self._text) if text is None else Ledger.from_json(text)
        check_same(ledger.spec, self._text)
        cell = self._current(store, ledger, in_memory, report)
        mark = cell.mark()
        blobs, end = cell.parted(blobs)
        outcome = cell.take(blobs)
        token = secrets.token_hex(8)
        ledger.version, ledger.token = ledger.version + 1, token
        slice = Slice(ledger.version, token, 0, 0, outcome.end)
        self._write(store, slice, _written(mark, outcome.needed))
        ledger.slices.append(slice)
        report.stored_bytes = slice.bytes
        self._tidy(store, ledger, cell)
        report.state_bytes = sum(s.bytes for s in ledger.slices)
        store.keep_ledger(ledger.to_json())
        if not end:
            return outcome, InMemory(ledger.version, token, cell), report
        report.flushed = cell.take(end)
        # A cell behind the end is nothing to go on with.
        return outcome, InMemory(ledger.version, "", cell), report

    def _current(self, store: Store, ledger: Ledger, in_memory: InMemory[T] | None, report: StateReport) -> T:
        """The cell as the ledger has it."""
        if in_memory is not None:
            if (in_memory.version, in_memory.token) == (ledger.version, ledger.token):
                return in_memory.cell
            behind = [s for s in ledger.slices if s.version == in_memory.version and s.token == in_memory.token]
            missed = [s for s in ledger.slices if s.version > in_memory.version]
            if behind and not any(s.whole for s in missed):
                for slice in missed:
                    self._replay(store, slice, in_memory.cell, report)
                return in_memory.cell
        report.rebuilt = bool(ledger.slices)
        slices = list(ledger.slices)
        if slices and slices[0].whole:
            data = self._read(store, slices.pop(0))
            with taken_as_damage():
                cell = self._load(unpack(data))
        else:
            cell = self._make()
            if slices:
                mark, _ = _unwritten(self._read(store, slices[0]))
                cell.go_on_from(mark)
        for slice in slices:
            self._replay(store, slice, cell, report)
        return cell

    def _replay(self, store: Store, slice: Slice, cell: T, report: StateReport) -> None:
        _, blobs = _unwritten(self._read(store, slice))
        cell.take(blobs)
        report.replayed += 1

    def _tidy(self, store: Store, ledger: Ledger, cell: T) -> None:
        """Drops what has ended; where that is not enough, puts the whole state first."""
        while ledger.slices and ledger.slices[0].end <= cell.passed and len(ledger.slices) > 1:
            self._drop(store, ledger.slices.pop(0))
        first, *others = ledger.slices
        later = sum(s.bytes for s in others) if first.whole else sum(s.bytes for s in ledger.slices)
        grown = later > max(_COMPACT_BYTES, _COMPACT_TIMES * (first.bytes if first.whole else 0))
        endless = any(s.end >= FOREVER for s in ledger.slices)
        if len(ledger.slices) > MOST_SLICES or (endless and grown):
            whole = Slice(ledger.version, ledger.token, 0, 0, FOREVER, whole=True)
            # The last slice has the version of the whole state, and its pieces make room for it.
            for slice in ledger.slices:
                self._drop(store, slice)
            self._write(store, whole, pack(cell.dump(), compress=False))
            ledger.slices = [whole]

    def _write(self, store: Store, slice: Slice, data: bytes) -> None:
        pieces = [data[i : i + PIECE_BYTES] for i in range(0, len(data), PIECE_BYTES)]
        for number, piece in enumerate(pieces):
            store.keep_piece(slice.version, number, piece)
        slice.pieces, slice.bytes = len(pieces), len(data)

    def _read(self, store: Store, slice: Slice) -> bytes:
        pieces = [store.piece(slice.version, number) for number in range(slice.pieces)]
        data = b"".join(piece for piece in pieces if piece is not None)
        if None in pieces or len(data) != slice.bytes:
            raise damaged(f"of {slice.bytes} bytes there are {len(data)}")
        return data

    def _drop(self, store: Store, slice: Slice) -> None:
        for number in range(slice.pieces):
            store.drop_piece(slice.version, number)


def cell_log(spec: JobSpec, number: int, static: StaticData | None = None) -> ChangeLog[Cell]:
    """For one of a job's cells."""
    return ChangeLog(spec, partial(Cell, spec, number, static), partial(Cell.load, spec, number))


def bucket_log(spec: JobSpec) -> ChangeLog[Bucket]:
    """For a job's second stage."""
    return ChangeLog(spec, partial(Bucket, spec), partial(Bucket.load, spec))


def _written(mark: dict[str, Any], blobs: list[bytes]) -> bytes:
    """A slice: the time before it, and its blobs."""
    return packed([sealed(json.dumps(mark).encode()), *blobs])


def _unwritten(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    mark, *blobs = unpacked(data) or [b""]
    found: dict[str, Any] = json.loads(unsealed(mark).tobytes())
    return found, blobs


def _check(fields: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(fields).encode())
