"""Filters of solutions: a row program decides most, and whoever knows all of SPARQL the others. What passes moves up where
it is.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t

from millstream.kernels.conjunctions.time_merge cimport Rows
from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.rows.row_program cimport KEPT, UNDECIDED, RowProgram

cnp.import_array()


cdef class SolutionFilter:
    """Filters over `width` columns. `test` says of columns (rows by width) which rows pass; without a program, of all of
    them.
    """

    def __cinit__(self, int width, RowProgram program, test):
        if program is not None and program.width != width:
            raise ValueError(f"expected a program over {width} columns, got {program.width}")
        self.width = width
        self.program = program
        self.test = test

    def __dealloc__(self):
        block_free(self.outcomes, self.capacity)

    cdef int sift(self, Rows* rows) except -1:
        """Leaves those that pass, in order."""
        cdef int64_t i, kept = 0, undecided = 0
        cdef int column
        if rows.size == 0:
            return 0
        if rows.width != self.width:
            raise ValueError(f"expected {self.width} columns, got {rows.width}")
        if rows.size > self.capacity:
            self.outcomes = <uint8_t*>block_resize(self.outcomes, self.capacity, rows.size)
            self.capacity = rows.size
        for i in range(rows.size):
            self.outcomes[i] = UNDECIDED if self.program is None else self.program.run_row(rows.columns, i)
            undecided += self.outcomes[i] == UNDECIDED
        if undecided:
            self.decide(rows, undecided)
        for i in range(rows.size):
            if self.outcomes[i] != KEPT:
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

    cdef int decide(self, Rows* rows, int64_t undecided) except -1:
        """Asks about those that no program decides."""
        cdef int64_t i, at = 0
        cdef int column
        columns = np.empty((self.width, undecided), np.int64)
        cdef int64_t* into = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>columns)
        for i in range(rows.size):
            if self.outcomes[i] == UNDECIDED:
                for column in range(self.width):
                    into[column * undecided + at] = rows.columns[column][i]
                at += 1
        passed = np.asarray(self.test(columns.T), np.bool_)
        if passed.shape != (undecided,):
            raise ValueError(f"expected a truth for each of {undecided} rows")
        at = 0
        for i in range(rows.size):
            if self.outcomes[i] == UNDECIDED:
                self.outcomes[i] = KEPT if passed[at] else KEPT + 1
                at += 1
        return 0
