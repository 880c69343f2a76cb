"""Filters of solutions, where these are."""

from libc.stdint cimport int64_t, uint8_t

from millstream.kernels.conjunctions.time_merge cimport Rows
from millstream.kernels.rows.row_program cimport RowProgram


cdef class SolutionFilter:
    """Which solutions pass."""

    cdef RowProgram program
    cdef object test
    cdef int width
    cdef uint8_t* outcomes
    cdef int64_t capacity

    cdef int sift(self, Rows* rows) except -1
    cdef int decide(self, Rows* rows, int64_t undecided) except -1
