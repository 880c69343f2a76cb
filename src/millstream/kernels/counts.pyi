from millstream.kernels.distinct import Distinct
from millstream.kernels.groups import GroupTable

class RowCounts:
    def accumulate(self, table: GroupTable, place: int, operand: int, distinct: Distinct | None, /) -> None: ...

class Counts:
    def accumulate(self, table: GroupTable, place: int, operand: int, distinct: Distinct | None, /) -> None: ...
