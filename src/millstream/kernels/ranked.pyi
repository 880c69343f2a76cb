from enum import IntEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from millstream.kernels.dictionary import Dictionary
from millstream.kernels.distinct import Distinct
from millstream.kernels.groups import GroupTable

Column = NDArray[np.int64]

class Rank(IntEnum):
    FIRST = 0
    LAST = 1
    MIDDLE = 2
    ALL = 3

class Terms(Protocol):
    def key_of(self, term_id: int) -> Any: ...
    def is_number(self, term_id: int) -> bool: ...
    def halve(self, left: int, right: int) -> int: ...
    def join(self, ids: Column, counts: Column) -> int: ...

class Ranked:
    def __init__(self, dictionary: Dictionary, terms: Terms, which: int, by_value: bool) -> None: ...
    def accumulate(self, table: GroupTable, place: int, operand: int, distinct: Distinct | None, /) -> None: ...
