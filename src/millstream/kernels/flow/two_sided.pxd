"""Operators of two inputs, whose deltas are taken as one sequence (layout in two_sided.pyx)."""

from libc.stdint cimport int64_t

from millstream.kernels.flow.change_rows cimport CHANGE, TICK, ChangeRows, Written
from millstream.kernels.flow.deltas cimport Deltas, Operator

cdef enum:
    LEFT = 0
    RIGHT = 1
    NEITHER = 2


cdef inline bint is_before(const Written* one, int64_t i, const Written* other, int64_t j) noexcept nogil:
    """Whether a row's (tick, change) comes before another's."""
    cdef int64_t tick = one.columns[one.width + TICK][i], other_tick = other.columns[other.width + TICK][j]
    if tick != other_tick:
        return tick < other_tick
    return one.columns[one.width + CHANGE][i] < other.columns[other.width + CHANGE][j]


cdef inline int next_side(const Written* left, int64_t i, const Written* right, int64_t j) noexcept nogil:
    """The side of the next row, when so many of each are taken: of one change the left side's rows come first."""
    if i == left.size:
        return NEITHER if j == right.size else RIGHT
    if j == right.size:
        return LEFT
    return RIGHT if is_before(right, j, left, i) else LEFT


cdef inline bint same_change(const Written* rows, int64_t i, int64_t j) noexcept nogil:
    return (rows.columns[rows.width + TICK][i] == rows.columns[rows.width + TICK][j]
            and rows.columns[rows.width + CHANGE][i] == rows.columns[rows.width + CHANGE][j])


cdef class TwoSided(Operator):
    cdef Deltas left
    cdef Deltas right
    cdef ChangeRows group

    cdef int add(self, int side, int64_t row) except -1
