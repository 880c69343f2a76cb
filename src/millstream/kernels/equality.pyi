from collections.abc import Callable, Sequence

from millstream.kernels.deltas import Deltas, Operator
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.keeping import Keeper

class EqualityKey(Operator):
    def __init__(
        self,
        inputs: Sequence[Deltas],
        width: int,
        place: int,
        dictionary: Dictionary,
        keeper: Keeper,
        rest: Callable[[int], str | None],
    ) -> None: ...
