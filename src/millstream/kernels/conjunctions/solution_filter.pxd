"""Filters of solutions, where these are."""

from millstream.kernels.conjunctions.time_merge cimport Rows
from millstream.kernels.rows.row_program cimport RowProgram


cdef class SolutionFilter:
    """Which solutions pass."""

    cdef RowProgram program
    cdef int width

    cdef int sift(self, Rows* rows) except -1
