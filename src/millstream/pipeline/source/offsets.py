"""How far a stream of files has been read: offsets, and how one moves on.

An offset names the pieces of files of the batch that ends with it, so that a restart reads exactly the same batch again,
whatever has come since. What was read before is known by a digest of each name, kept as long as the file is there:
times of files say nothing reliable about when they came.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from millstream.pipeline.source.files import Found

_DIGEST = 12
# Names of files that are gone are forgotten only when there are many, and not when a folder seems empty for a moment.
_MANY = 1000


@dataclass(frozen=True, slots=True)
class Slice:
    """Pieces of one file that follow each other: they begin and end at `cuts`; `counts` are their elements, where needed."""

    path: str
    size: int
    cuts: tuple[int, ...]
    counts: tuple[int, ...] = ()

    @property
    def pieces(self) -> list[tuple[int, int]]:
        """Where each begins and ends."""
        return list(zip(self.cuts[:-1], self.cuts[1:], strict=True))


@dataclass(frozen=True, slots=True)
class Offset:
    """A place in a stream of files."""

    # Parts so far, those of this batch included; parts without data count too.
    sequence: int = 0
    batch: tuple[Slice, ...] = ()
    # What is left of a file that the batch did not finish.
    rest: tuple[Slice, ...] = ()
    seen: str = ""
    # Elements so far, where times follow a rate and rows are read.
    elements: int = 0
    # When the batch was found, where that is the time of its elements.
    arrival_ms: int | None = None
    # Whether the batch says that the source is idle.
    idle: bool = False
    # The run in which it says that the source has ended, if it does.
    ended: str = ""
    # Of which job it is, in short; None for a source whose rows any job may read.
    job: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As Spark keeps it."""
        return asdict(self)

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> Offset:
        """From what `to_json` gave."""
        return cls(**{**kept, "batch": _slices(kept["batch"]), "rest": _slices(kept["rest"])})


def _slices(kept: Iterable[dict[str, Any]]) -> tuple[Slice, ...]:
    return tuple(Slice(s["path"], s["size"], tuple(s["cuts"]), tuple(s["counts"])) for s in kept)


@lru_cache(maxsize=1 << 18)
def digest(path: str) -> str:
    """What a name is remembered by: 72 bits, so that no two names of a folder share one."""
    return base64.urlsafe_b64encode(
        hashlib.blake2b(path.encode("utf-8", "surrogateescape"), digest_size=9).digest()
    ).decode()


def names_in(seen: str) -> Iterator[str]:
    """The digests in an offset."""
    return (seen[i : i + _DIGEST] for i in range(0, len(seen), _DIGEST))


def unread(offset: Offset, listing: list[Found]) -> list[Found]:
    """The files of a listing that were not begun."""
    seen = set(names_in(offset.seen))
    return [file for file in listing if digest(file.path) not in seen]


def move_on(
    offset: Offset,
    listing: list[Found],
    cut: Callable[[Found], list[int]],
    *,
    max_files: int | None = None,
    max_bytes: int | None = None,
) -> tuple[Offset, bool]:
    """The offset behind the next batch, and whether it reads all there is; the batch is empty if there is nothing new."""
    taken: list[Slice] = []
    rest: tuple[Slice, ...] = ()
    begun: list[str] = []
    left = max_bytes
    fresh = unread(offset, listing)
    waiting: list[Slice | Found] = [*offset.rest, *fresh]
    for number, file in enumerate(waiting):
        if (max_files is not None and number >= max_files) or (left is not None and left <= 0):
            break
        if isinstance(file, Found):
            begun.append(digest(file.path))
            file = Slice(file.path, file.size, tuple(cut(file)))
        fitting = len(file.pieces)
        if left is not None:
            # One piece at least, or nothing would ever be read.
            while fitting > 1 and file.cuts[fitting] - file.cuts[0] > left:
                fitting -= 1
            left -= max(1, file.cuts[fitting] - file.cuts[0])
        taken.append(replace(file, cuts=file.cuts[: fitting + 1]))
        if fitting < len(file.pieces):
            rest = (replace(file, cuts=file.cuts[fitting:]),)
            break
    complete = not rest and len(taken) == len(waiting)
    if not taken:
        return replace(offset, batch=(), idle=False, arrival_ms=None), complete
    parts = sum(len(slice.pieces) for slice in taken)
    seen = _remembered(offset.seen, listing) + "".join(begun)
    moved = replace(
        offset, sequence=offset.sequence + parts, batch=tuple(taken), rest=rest, seen=seen, arrival_ms=None, idle=False
    )
    return moved, complete


def _remembered(seen: str, listing: list[Found]) -> str:
    if len(seen) <= _MANY * _DIGEST or not listing:
        return seen
    there = {digest(file.path) for file in listing}
    kept = [name for name in names_in(seen) if name in there]
    return "".join(kept) if 2 * len(kept) * _DIGEST < len(seen) else seen
