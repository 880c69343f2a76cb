"""Back-pressure: a call that might make more answers wait than may is tried on a copy of the engine first.

The copy refuses as soon as it has too many, so the engine itself stays as it was and nothing large is built up. A copy
costs as much as the engine holds; it is only made where the limit may be reached.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from millstream.engine.windows.window_operators import NEVER
from millstream.kernels.engine.processing import Stream
from millstream.kernels.matching.elements import Elements
from millstream.operators.ticks import Column

if TYPE_CHECKING:
    from millstream.engine.engine import Engine

R = TypeVar("R")


class PendingGuard:
    """Tries out calls for the engine it belongs to."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._is_copy = False

    def may_overflow(self, at_ms: int | None = None) -> bool:
        """Whether what happens next, at a time or now, might make too many answers wait; asked before everything."""
        return self._engine._core.pending.may_overflow() or (at_ms is not None and self.has_gap(at_ms))

    def has_gap(self, at_ms: int) -> bool:
        """Whether until something that comes now so much is emitted again that it might be too much."""
        core, ordering = self._engine._core, self._engine._ordering
        if not core.repeating or not ordering.takes(at_ms):
            return False
        reached_ms = at_ms - ordering.lateness_ms
        return core.has_gap((reached_ms, reached_ms))

    def take(self, call: Callable[[Engine], R], at_ms: int | None, ids: Column | None = None) -> R:
        """Makes a call for something that comes at a time, or now; `ids` are terms that nobody else has."""
        return self._made(call, self.may_overflow(at_ms), ids)

    def take_batch(self, stream: Stream, batch: Elements, elements: int) -> None:
        """Takes elements in time order, in one go."""

        def take(engine: Engine) -> None:
            engine._core.process_batch(engine._core.stream(stream.iri), batch, elements)

        core, times_ms = self._engine._core, (batch.first_ms, batch.last_ms)
        near = core.pending.may_overflow()
        near = near or (bool(core.repeating) and core.has_gap(times_ms, len(batch), batch.rows))
        self._made(take, near, batch.triples.ravel() if near else None)

    def pass_time(self, call: Callable[[Engine], None], until_ms: int) -> None:
        """Makes a call that lets time pass."""
        core = self._engine._core
        near = core.pending.may_overflow()
        self._made(call, near or core.has_gap((until_ms, until_ms)), None)

    def _made(self, call: Callable[[Engine], R], near: bool, ids: Column | None) -> R:
        """Makes a call, after it was tried out if need be."""
        if not near or ids is None:
            if near:
                self.try_out(call)
            return call(self._engine)
        # Making a copy lets the dictionary forget what nobody holds yet.
        dictionary = self._engine._core.dictionary
        dictionary.hold(ids)
        try:
            self.try_out(call)
            return call(self._engine)
        finally:
            dictionary.release(ids, NEVER)

    def try_out(self, call: Callable[[Engine], object]) -> None:
        """Makes a call on a copy, which raises if that brings too many answers."""
        if self._is_copy:
            return
        engine = self._engine
        copy = engine.restore(engine.snapshot())
        copy._pending_guard._is_copy = True
        copy._core.pending.refuse()
        for query, tried in zip(engine._core.registry.queries, copy._core.registry.queries, strict=True):
            if not query.keeps:
                tried.only_count()
        call(copy)
        copy._core.catch_up_all()
