"""Rows in an order, for what reads or shows some of them (layout in row_order.pyx)."""

from libc.stdint cimport int32_t, int64_t, uint64_t

from millstream.kernels.containers.keyed cimport Keyed, keyed_at
from millstream.kernels.containers.ordered_tree cimport Spot, Tree
from millstream.kernels.order.loose_rows cimport LooseRows
from millstream.kernels.order.term_order cimport Anchor, TermOrder


cdef enum:
    # What is kept of a row behind its ids.
    COUNT = 0
    PENDING = 1
    PLACE = 2                   # among loose rows, -1 for one that is not loose
    KEY = 3                     # the first key


cdef struct Level:
    int32_t place
    int32_t how


cdef class RowOrder:
    cdef int level_count
    cdef int key_count
    cdef int64_t end
    cdef Level* levels
    cdef TermOrder order
    cdef Keyed rows
    cdef Tree tree
    cdef LooseRows loose
    cdef Anchor* anchors        # by key
    cdef int64_t* ids           # of the row at hand
    cdef uint64_t* keys

    cdef int make_keys(self, int first, int last) except -1
    cdef int near(self, int32_t number, int* level) noexcept nogil
    cdef int compare(self, int32_t number) except -2
    cdef int descend(self, Spot* spot, int64_t* rank) except -1
    cdef int64_t spare(self) noexcept nogil
    cdef bint is_far_behind(self) except -1
    cdef void loosen(self, int32_t number, int64_t weight) noexcept nogil
    cdef void fasten(self, int32_t number, int64_t weight) noexcept nogil
    cdef void shorten(self, int64_t least) noexcept nogil
    cdef int lengthen(self, int64_t least) except -1

    cdef inline int64_t* kept(self, int64_t number) noexcept nogil:
        return keyed_at(&self.rows, number) + self.rows.width

    cdef inline uint64_t* keys_of(self, int64_t number) noexcept nogil:
        return <uint64_t*>(self.kept(number) + KEY)
