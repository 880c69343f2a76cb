"""Pieces: rows of windows' and graphs' contents that change, as columns, before their changes are numbered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from millstream.operators.rows import FOREVER, Column


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of a window's content that change, in no particular order."""

    pattern: Column
    triples: npt.NDArray[np.int64]
    now: Column
    until: Column
    op: Column
    order: Column

    def __len__(self) -> int:
        return len(self.pattern)


FIELDS = tuple(Piece.__dataclass_fields__)


def without_end(pattern: Column, triples: npt.NDArray[np.int64], now: Column, order: Column, op: int) -> Piece:
    """Rows without a known end."""
    size = len(pattern)
    return Piece(pattern, triples, now, np.full(size, FOREVER, np.int64), np.full(size, op, np.int64), order)


def concatenated(pieces: list[Piece]) -> Piece:
    """All rows of several, one after the other."""
    return Piece(*(np.concatenate([getattr(piece, name) for piece in pieces]) for name in FIELDS))


def taken(piece: Piece, which: Column | npt.NDArray[np.bool_]) -> Piece:
    """Some of its rows."""
    return Piece(*(getattr(piece, name)[which] for name in FIELDS))


def is_ordered(piece: Piece) -> bool:
    """Whether its rows are by tick and order."""
    if len(piece) < 2:
        return True
    earlier = piece.now[1:] < piece.now[:-1]
    return not bool((earlier | ((piece.now[1:] == piece.now[:-1]) & (piece.order[1:] < piece.order[:-1]))).any())


def in_order(piece: Piece) -> Piece:
    """Its rows by tick and order."""
    # Stable: within a change, a feed's own order stands, as do the ends and begins of a union.
    return taken(piece, np.lexsort((piece.order, piece.now)))
