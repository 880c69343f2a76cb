"""What every delta operator is: deltas of its inputs in, deltas of its output out, the work in proportion to the change.

The deltas between operators are in order of (tick, change), and each change is consolidated. What an operator keeps
follows from what its inputs hold now, never from how it came about: so answers do not depend on how the input was cut, and
a restored engine builds its operators anew from the contents of its windows and graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from millstream.operators.rows import Deltas


class Operator(Protocol):
    """A node of the dataflow at work."""

    def begin(self, at_tick: int, change: int) -> Deltas:
        """What it gives while its inputs are empty, as the first change."""
        ...

    @property
    def apply(self) -> Callable[..., Deltas]:
        """What changes of its inputs, one argument each, make of its output."""
        ...

    def close(self, at_tick: int) -> None:
        """Lets go of the terms it keeps."""
        ...
