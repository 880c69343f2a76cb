"""Names that Spark's plans and pages show for steps of a job."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

Step = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def named(name: str, step: Step) -> Step:
    """The same step; Spark shows a function's own name, and `partial` says nothing."""

    def call(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return step(batches)

    call.__name__ = call.__qualname__ = name
    return call
