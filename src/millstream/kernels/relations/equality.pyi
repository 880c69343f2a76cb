from collections.abc import Callable, Sequence

from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.flow.deltas import Deltas, Operator

class EqualityKey(Operator):
    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        place: int,
        dictionary: Dictionary,
        references: TermReferences,
        rest: Callable[[int], str | None],
    ) -> None: ...
