"""Rows in an order, for what reads or shows some of them (layout in row_order.pyx)."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from millstream.kernels.containers.hash_index cimport Index, words_hash
from millstream.kernels.containers.ordered_tree cimport Spot, Tree
from millstream.kernels.containers.records cimport Records
from millstream.kernels.order.loose_rows cimport LooseRows
from millstream.kernels.order.term_order cimport Anchor, TermOrder


cdef enum:
    # Words of a record.
    COUNT = 0
    PENDING = 1
    PLACE = 2                   # among loose rows, -1 for one that is not loose
    KEY = 3                     # the first key


cdef struct Level:
    int32_t place
    int32_t how


cdef class RowOrder:
    cdef int width
    cdef int level_count
    cdef int key_count
    cdef int64_t stride
    cdef int64_t end
    cdef Level* levels
    cdef TermOrder order
    cdef Records records
    cdef Index index
    cdef Tree tree
    cdef LooseRows loose
    cdef Anchor* anchors        # by key
    cdef int64_t* wanted        # keys and ids of the row at hand

    cdef int32_t find(self, int64_t* ids, uint32_t hash) noexcept nogil
    cdef int make_keys(self, int first, int last) except -1
    cdef int compare(self, int32_t number) except -2
    cdef int descend(self, Spot* spot, int64_t* rank) except -1
    cdef int64_t spare(self) noexcept nogil
    cdef bint is_far_behind(self) except -1
    cdef void loosen(self, int32_t number, int64_t weight) noexcept nogil
    cdef void fasten(self, int32_t number, int64_t weight) noexcept nogil
    cdef void shorten(self, int64_t least) noexcept nogil
    cdef int lengthen(self, int64_t least) except -1

    cdef inline int64_t* record(self, int64_t number) noexcept nogil:
        return (<int64_t*>self.records.data) + number * self.stride

    cdef inline uint64_t first_key(self, int64_t number) noexcept nogil:
        return <uint64_t>(self.record(number) + KEY)[0]

    cdef inline int64_t* ids_of(self, int64_t number) noexcept nogil:
        return self.record(number) + KEY + self.key_count

    cdef inline uint32_t hash(self, int64_t* ids) noexcept nogil:
        return words_hash(ids, self.width)
