"""Bytes that every worker needs, sent once by Spark's broadcast.

Spark also opens a stateful processor in a process of the driver, to which nothing is broadcast. So what travels with it is
only the broadcast's number, and the bytes are looked up when somebody asks for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from pyspark.core import broadcast as broadcasts

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.core.broadcast import Broadcast


class Shared(Protocol):
    """Something with bytes."""

    @property
    def value(self) -> bytes: ...


def share(context: SparkContext, data: bytes) -> Shared:
    """Makes bytes known to all workers of a session."""
    return _Sent(context.broadcast(data))


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
        value: bytes = broadcasts._broadcastRegistry[self._number].value
        return value
