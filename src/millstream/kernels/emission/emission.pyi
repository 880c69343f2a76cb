from collections.abc import Callable
from typing import Any

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.emission.answer_set import AnswerSet
from millstream.kernels.emission.pending import PendingRows, Receiver
from millstream.kernels.flow.deltas import Deltas

APPEARS: int
DISAPPEARS: int
BOTH: int

class Reporter:
    emit: Callable[[Deltas], None]
    receiver: Receiver | None
    answers: AnswerSet | None

    def report(self, deltas: Deltas, upto: int) -> None: ...
    def hold_waiting(self) -> None: ...
    def close(self) -> None: ...
    def dump(self) -> Any: ...
    def load(self, state: Any, width: int, dictionary: Dictionary) -> None: ...

class Closing(Reporter):
    waiting: PendingRows
    closes_at: int
    most_waiting: int

class Selection(Reporter):
    def __init__(self, sign: int, seen: int, emit: Callable[[Deltas], None], t0_tick: int, on_grids: bool) -> None: ...

def selected(rows: Deltas, sign: int) -> Deltas: ...
def parted(rows: Deltas) -> list[tuple[int, Deltas]]: ...
