"""One call at a time: the monitor that serialises what threads ask of one engine.

Kernels and operators are for one thread at a time. So every public call of an engine, and of its queries, holds the
engine's lock while it touches state. Callbacks are called once the lock is free again: a callback may wait for another
thread that calls the engine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from millstream.engine.output.answers import Answer

if TYPE_CHECKING:
    from millstream.engine.core import Core


class CallbackQueue(deque[tuple[Callable[[Answer], object], Answer]]):
    """Answers on their way to callbacks, in the order in which they were emitted.

    One thread delivers at a time, or the order would be lost. Others leave theirs to it and go on.
    """

    def __init__(self) -> None:
        super().__init__()
        self._delivering = RLock()

    def deliver(self) -> None:
        """Calls back; what is left by a callback that raises is delivered next time."""
        # Asked again after the turn is given back: another thread may have left something just before.
        while self and self._delivering.acquire(blocking=False):
            try:
                while self:
                    callback, answer = self.popleft()
                    callback(answer)
            finally:
                self._delivering.release()


class _OfCore(Protocol):
    @property
    def _core(self) -> Core: ...


S = TypeVar("S", bound=_OfCore)
P = ParamSpec("P")
R = TypeVar("R")


def serialised(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """A method that holds the lock of its engine."""

    @wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._core.lock:
            return method(self, *args, **kwargs)

    return call


def delivering(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """A method after which the callbacks hear what it brought."""

    @wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        result = method(self, *args, **kwargs)
        self._core.callbacks.deliver()
        return result

    return call
