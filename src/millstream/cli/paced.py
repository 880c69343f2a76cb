"""An engine that pauses: between the parts of a source that `read` takes at full speed, somebody else gets a turn."""

from __future__ import annotations

from collections.abc import Callable

from millstream.engine import Engine
from millstream.engine.batch import ElementBatch
from millstream.engine.core import Happening, Stream


class PacedEngine(Engine):
    """Calls `pause` when an element or a batch has reached all queries: answers can be taken there, or reading stopped."""

    pause: Callable[[], None] | None = None

    def _offer(self, at_ms: int, what: Happening) -> None:
        super()._offer(at_ms, what)
        if self.pause is not None:
            self.pause()

    def _offer_batch(self, stream: Stream, batch: ElementBatch, elements: int) -> None:
        super()._offer_batch(stream, batch, elements)
        if self.pause is not None:
            self.pause()
