"""What an engine sets aside instead of taking it: malformed input, and input whose time is late or implausible."""

from __future__ import annotations

import numpy as np

from millstream.engine.core import Core
from millstream.engine.input.input_events import Element, InputEvent, triples_of
from millstream.errors import DataError, LateElementError
from millstream.ingest.ordering import Ordering
from millstream.rdf import Rejected

_MOST = 100_000


class Aside:
    """Keeps it, with its reason, until somebody asks; what is beyond the most that is kept is only counted."""

    def __init__(self, core: Core, ordering: Ordering[InputEvent], *, strict: bool) -> None:
        self._core = core
        self._ordering = ordering
        self._strict = strict
        self._rejected: list[Rejected] = []

    def take(self) -> list[Rejected]:
        """What was set aside since the last call."""
        found, self._rejected = self._rejected, []
        return found

    def malformed(self, rejected: Rejected) -> None:
        """Something that cannot be read; also called by readers that run without the lock."""
        with self._core.lock:
            self._core.counts["rejected"] += 1
            self._keep(rejected)

    def untimely(self, at_ms: int, what: InputEvent) -> None:
        """Something whose time cannot be taken."""
        source = what.stream if isinstance(what, Element) else f"graph {what.graph or 'default'}"
        reason, is_late = self._ordering.reason(at_ms), self._ordering.is_late(at_ms)
        assert reason is not None
        if self._strict:
            raise LateElementError(f"{source}: {reason}") if is_late else DataError(reason, source=source)
        self._core.counts["late" if is_late else "rejected"] += 1
        decode = self._core.dictionary.decode
        rows = [decode(np.ascontiguousarray(row)).to_pylist() for row in triples_of(what).triples[:10]]
        text = "\n".join(" ".join(map(str, row)) + " ." for row in rows)
        self._keep(Rejected(source, None, None, reason, text))

    def _keep(self, rejected: Rejected) -> None:
        if len(self._rejected) < _MOST:
            self._rejected.append(rejected)
