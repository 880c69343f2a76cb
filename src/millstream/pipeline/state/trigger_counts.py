"""Typed counts beside the blobs: every cell and bucket adds one row of them a trigger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from millstream.pipeline.exchange.blobs import Header
    from millstream.pipeline.state.clock import Clock

SUMS = ("elements", "triples", "kept", "answers", "set_aside", "state_bytes")
MOST = ("watermark_ms", "newest_ms")
COLUMNS = (*SUMS, *MOST, "late")
SCHEMA = ", ".join([*(f"{name} long" for name in (*SUMS, *MOST)), "late array<long>"])
_TYPES: Any = {**dict.fromkeys((*SUMS, *MOST), pa.int64()), "late": pa.list_(pa.int64())}
_ODD = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)


@dataclass(frozen=True, slots=True)
class Counts:
    """What a cell, a bucket or a matcher of elements tells of one trigger; None: another one tells."""

    elements: int | None = None
    triples: int | None = None
    kept: int | None = None
    """Triples that match a pattern of the query."""
    answers: int | None = None
    set_aside: int | None = None
    state_bytes: int | None = None
    watermark_ms: int | None = None
    newest_ms: int | None = None
    late: list[int] | None = None
    """A number for each late element, the same in all cells, since several have triples of it."""


NOTHING = Counts()


def counts_of(headers: Sequence[Header], clock: Clock) -> Counts:
    """What came with a trigger, and how far the job is after it."""
    return Counts(
        elements=sum(header.elements for header in headers),
        triples=sum(header.triples for header in headers),
        kept=sum(header.kept for header in headers),
        set_aside=sum(header.set_aside for header in headers),
        watermark_ms=clock.at_ms,
        newest_ms=max((s.largest_ms for s in clock.sources if s.largest_ms is not None), default=None),
    )


def late_numbers(late: pa.Table | None) -> list[int] | None:
    """Elements of late triples as numbers that tell them apart."""
    if late is None or not late.num_rows:
        return None
    source, part, element = (late[name].to_numpy().astype(np.uint64) for name in ("source", "part", "element"))
    found = np.unique((source * np.uint64(_ODD[0]) + part) * np.uint64(_ODD[1]) + element)
    return [int(number) for number in found.astype(np.int64)]


def arrays_of(rows: list[Counts]) -> list[pa.Array[Any]]:
    """The columns beside those of blobs."""
    return [pa.array([getattr(row, name) for row in rows], _TYPES[name]) for name in COLUMNS]
