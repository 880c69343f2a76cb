"""How many rows a query may make of what comes at once: a bound on intermediate results, shared by all operators.

Operators cannot be unwound in the middle of a change. Whoever sets a bound says what becomes of them when it is exceeded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from millstream.errors import ChangeLimitError
from millstream.kernels.flow.deltas import Bound

UNBOUNDED = 1 << 62


class RowBound(Bound):
    """Raises where a step makes more rows than it may."""

    def __init__(self, most: int = UNBOUNDED, on_exceeded: Callable[[ChangeLimitError], None] | None = None) -> None:
        """`on_exceeded` is told before the error is raised, unless somebody undoes what was begun."""
        self.most = self.limit = min(most, UNBOUNDED)
        self._on_exceeded = on_exceeded
        self._is_undone = False

    def check(self, rows: int) -> None:
        if rows > self.most:
            self.exceed(
                f"a query makes more than {self.most:,} rows of what comes at once; "
                f"connect its patterns, or raise the limit change_rows, which is {self.limit:,}."
            )

    def exceed(self, message: str) -> NoReturn:
        """Raises in the middle of a change."""
        error = ChangeLimitError(message)
        if self._on_exceeded is not None and not self._is_undone:
            self._on_exceeded(error)
        raise error

    @contextmanager
    def undoing(self) -> Iterator[None]:
        """Within, who is told undoes what was begun."""
        self._is_undone = True
        try:
            yield
        finally:
            self.most, self._is_undone = self.limit, False
