"""Retention: until when what came for a cell still matters, no longer than the longest window of its source."""

from __future__ import annotations

from collections.abc import Sequence

from millstream.operators.ticks import FOREVER, GRID, tick
from millstream.pipeline.exchange.blobs import Header, write_bare
from millstream.pipeline.job.specification import JobSpec


class Retention:
    """The ends of what the sources of a job bring."""

    def __init__(self, spec: JobSpec) -> None:
        self._lengths = _window_lengths(spec)

    def needed(
        self, blobs: Sequence[bytes], seen: Sequence[tuple[list[Header], int | None]], passed: int
    ) -> tuple[list[bytes], int]:
        """What of a trigger must be kept, and from which tick on all of it is over: rows that are over already need not.

        `seen` has for each blob its headers and the largest time of its rows that were taken.
        """
        needed, last, bare = [], passed, []
        for blob, (headers, largest_ms) in zip(blobs, seen, strict=True):
            end = passed
            if largest_ms is not None:
                length = self._lengths[headers[0].source]
                end = FOREVER if length is None else tick(largest_ms + length, GRID)
            if end > passed:
                needed.append(blob)
            else:
                bare += headers
            last = max(last, end)
        return [*needed, write_bare(bare)] if bare else needed, last


def _window_lengths(spec: JobSpec) -> list[int | None]:
    """For each source how long after its time a row can matter at most; None: nobody knows."""
    lengths: list[int | None] = []
    for source in spec.sources:
        if source.changes or spec.cells.whole:
            lengths.append(None)
            continue
        kept = [w.window.kept_ms for w in spec.query.windows if w.stream.value == source.name]
        lengths.append(None if None in kept else max((n for n in kept if n is not None), default=0))
    return lengths
