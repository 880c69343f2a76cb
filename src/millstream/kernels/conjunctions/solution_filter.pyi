from millstream.kernels.rows.row_program import RowProgram

class SolutionFilter:
    def __init__(self, width: int, program: RowProgram) -> None: ...
