"""How large a query's views are, relative to each other: counted in the first piece of each source's files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.summary import Summary
from millstream.pipeline.exchange.routing import Router
from millstream.pipeline.job.specification import JobSpec
from millstream.pipeline.source.files import list_files
from millstream.pipeline.source.reading import read_part
from millstream.pipeline.source.splits import Split

_ENOUGH_BYTES = 4 << 20


def sampled_sizes(
    spec: JobSpec, sources: Sequence[tuple[Sequence[str], Mapping[str, str]] | None]
) -> dict[int, float] | None:
    """For each pattern of streams how many triples match it in the samples; None if there is nothing to sample."""
    counts = np.zeros(len(spec.patterns), np.int64)
    for described, source in zip(spec.sources, sources, strict=True):
        if source is None or described.changes:
            continue
        paths, options = source
        files = list_files(tuple(paths), any_ending="format" in options, outside=None)
        if not files:
            continue
        dictionary = Dictionary()
        router = Router(spec, dictionary)
        matchers = router.matchers(described)
        part = Split(
            path=files[0].path,
            format=options.get("format"),
            end=files[0].size,
            time=options.get("time"),
            element=options.get("element"),
            arrival_ms=0,
        )
        read = 0
        for reading in read_part(part, dictionary, Summary(router.constants(described)), on_rejected=lambda _: None):
            for matcher in matchers:
                _, pattern = matcher.match(reading.columns.triples)
                counts += np.bincount(pattern, minlength=len(counts))
            read += max(reading.columns.elements, 1) * 100
            if read >= _ENOUGH_BYTES:
                break
    if not counts.any():
        return None
    # A pattern without a match in the sample may still have some; and graphs count as little as that.
    return {number: float(max(count, 1)) for number, count in zip(spec.numbers, counts.tolist(), strict=True)}
