"""ASK: whether there are rows at all."""

import cython

from libc.stdint cimport int64_t

from millstream.kernels.flow.change_rows cimport CHANGE, TICK, WEIGHT, Written
from millstream.kernels.flow.deltas cimport Deltas, Operator, check_widths


@cython.final
cdef class Ask(Operator):
    """One row that says whether the input, which has no columns, has any: the first of two values if not, else the second.
    """

    cdef int64_t truths[2]
    cdef int64_t count
    cdef Deltas given

    def __cinit__(self, inputs, int width, truths):
        (self.given,) = self.inputs
        check_widths(self.inputs, 0)
        check_widths([self.out], 1)
        self.truths[0], self.truths[1] = truths

    cdef void write(self, bint truth, int64_t tick, int64_t change, int64_t weight) noexcept:
        cdef int64_t** columns
        self.out.room(1)
        columns = self.out.rows.columns
        columns[0][self.out.rows.size] = self.truths[truth]
        columns[1 + TICK][self.out.rows.size] = tick
        columns[1 + CHANGE][self.out.rows.size] = change
        columns[1 + WEIGHT][self.out.rows.size] = weight
        self.out.rows.size += 1

    def begin(self, int64_t at_tick, int64_t change):
        self.write(False, at_tick, change, 1)

    cdef int apply(self) except -1:
        cdef Written* given = &self.given.rows
        cdef int64_t i
        cdef bint before
        # Every change is one row.
        for i in range(given.size):
            before = self.count > 0
            self.count += given.columns[WEIGHT][i]
            if before != (self.count > 0):
                self.write(before, given.columns[TICK][i], given.columns[CHANGE][i], -1)
                self.write(not before, given.columns[TICK][i], given.columns[CHANGE][i], 1)
        return 0

    @property
    def stored(self):
        return 1
