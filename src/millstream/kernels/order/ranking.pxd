"""Rows in an order, for the operators that show a slice of it (layout in ranking.pyx)."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from millstream.kernels.containers.growing cimport Numbers
from millstream.kernels.containers.keyed cimport Keyed, keyed_at
from millstream.kernels.containers.ordered_tree cimport Spot, Tree
from millstream.kernels.flow.change_rows cimport Written
from millstream.kernels.order.term_order cimport Anchor, TermOrder


cdef enum:
    KEY = 2                     # the place of a row's first key in what is kept behind its ids
    AHEAD = 8                   # rows that are looked for before they are taken; a power of two


cdef struct Level:
    int32_t place
    int32_t how


cdef class Ranking:
    cdef int level_count
    cdef int key_count
    cdef int64_t offset
    cdef int64_t end
    cdef uint64_t edge          # rows with a greater first key lie behind the slice
    cdef Level* levels
    cdef TermOrder order
    cdef Keyed rows
    cdef Tree tree
    cdef Anchor* anchors        # by key
    cdef int64_t* ids           # of the row at hand
    cdef uint64_t* keys
    cdef Numbers touched        # rows with something pending
    cdef Numbers gone           # rows whose weight became 0
    cdef bint looks_ahead
    cdef uint32_t hashes[AHEAD]

    cdef int make_keys(self) except -1
    cdef int near(self, int32_t number, int* level) noexcept nogil
    cdef int compare(self, int32_t number) except -2
    cdef int descend(self, Spot* spot, int64_t* rank) except -1
    cdef void note(self, int32_t number, int64_t weight) noexcept nogil
    cdef void walk(self, int64_t first, int64_t last, int sign) noexcept nogil
    cdef void shift(self, int32_t number, int64_t rank, int64_t weight, int sign) noexcept nogil
    cdef void find_edge(self) noexcept nogil
    cdef int add(self, uint32_t hash, int64_t weight) except -1
    cdef int take(self, uint32_t hash, int64_t weight) except -1
    cdef void look_ahead(self, const Written* rows, int64_t row) noexcept nogil
    cdef int change_ahead(self, const Written* rows, int64_t row) except -1
    cdef int change(self, const Written* rows, int64_t row) except -1
    cdef void finish(self, Written* into, int64_t tick, int64_t change) noexcept nogil
    cdef int read_slice(self, Written* into, int64_t offset, int64_t limit) except -1

    cdef inline int64_t* kept(self, int64_t number) noexcept nogil:
        return keyed_at(&self.rows, number) + self.rows.width

    cdef inline uint64_t* keys_of(self, int64_t number) noexcept nogil:
        return <uint64_t*>(self.kept(number) + KEY)
