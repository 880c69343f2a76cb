"""Bytes that every worker needs: broadcast once by Spark, or sent with every task where it cannot, on Spark Connect.

Spark also opens a stateful processor in a process of the driver, to which nothing is broadcast. So what travels with it is
only the broadcast's number, and the bytes are looked up when somebody asks for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from millstream.errors import OptionError
from millstream.pipeline.runtime.connect import is_connect

if TYPE_CHECKING:
    from pyspark.core.broadcast import Broadcast
    from pyspark.sql import SparkSession

MOST_CARRIED_BYTES = 100 << 20
"""Servers of Spark Connect refuse plans of more than 128 MB."""


class BroadcastBytes(Protocol):
    """Something with bytes."""

    @property
    def value(self) -> bytes: ...


def broadcast(spark: SparkSession, data: bytes) -> BroadcastBytes:
    """Makes bytes known to all workers of a session."""
    if not is_connect(spark):
        return _Sent(spark.sparkContext.broadcast(data))
    # Files of a Connect session do not come to the workers of a streaming query.
    if len(data) > MOST_CARRIED_BYTES:
        raise OptionError(
            f"what the query reads of datasets is {len(data) >> 20} MB, and Spark Connect takes at most "
            f"{MOST_CARRIED_BYTES >> 20} MB: run the query with a session of its own Spark."
        )
    return _Carried(data)


class _Carried:
    """Bytes that are sent along."""

    def __init__(self, value: bytes) -> None:
        self.value = value


class _Sent:
    """A broadcast where it was made."""

    def __init__(self, broadcast: Broadcast[bytes]) -> None:
        self._broadcast = broadcast

    @property
    def value(self) -> bytes:
        return self._broadcast.value

    def __reduce__(self) -> tuple[Any, ...]:
        # Spark sends the broadcasts that were pickled with a function; this one is told so, and left out.
        _, (number,) = self._broadcast.__reduce__()
        return _Arrived, (number,)


class _Arrived:
    """A broadcast in a worker, by its number."""

    def __init__(self, number: int) -> None:
        self._number = number

    @property
    def value(self) -> bytes:
        from pyspark.core import broadcast as broadcasts

        value: bytes = broadcasts._broadcastRegistry[self._number].value
        return value
