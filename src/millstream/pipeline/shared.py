"""Bytes that every worker needs, sent once: by Spark's broadcast, or as they are where there is no Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyspark import SparkContext


class Shared(Protocol):
    """Something with bytes."""

    @property
    def value(self) -> bytes: ...


def share(context: SparkContext, data: bytes) -> Shared:
    """Makes bytes known to all workers of a session."""
    return context.broadcast(data)
