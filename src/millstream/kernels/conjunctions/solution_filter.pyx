"""Filters of solutions: a row program says which pass. These move up where they are."""

from libc.stdint cimport int64_t

from millstream.kernels.conjunctions.time_merge cimport Rows
from millstream.kernels.rows.row_program cimport KEPT, RowProgram


cdef class SolutionFilter:
    """A filter over `width` columns."""

    def __cinit__(self, int width, RowProgram program not None):
        if program.width != width:
            raise ValueError(f"expected a program over {width} columns, got {program.width}")
        self.width = width
        self.program = program

    cdef int sift(self, Rows* rows) except -1:
        """Leaves those that pass, in order."""
        cdef int64_t i, kept = 0
        cdef int column
        if rows.size == 0:
            return 0
        if rows.width != self.width:
            raise ValueError(f"expected {self.width} columns, got {rows.width}")
        for i in range(rows.size):
            if self.program.run_row(rows.columns, i) != KEPT:
                continue
            if kept < i:
                for column in range(rows.width):
                    rows.columns[column][kept] = rows.columns[column][i]
                rows.change[kept] = rows.change[i]
                rows.now[kept] = rows.now[i]
                rows.start[kept] = rows.start[i]
                rows.until[kept] = rows.until[i]
                rows.weight[kept] = rows.weight[i]
            kept += 1
        rows.size = kept
        return 0
