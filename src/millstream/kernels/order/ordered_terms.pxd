"""Ordered multisets of terms, for kernels (layout in ordered_terms.pyx)."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from millstream.kernels.containers.growing cimport Growing
from millstream.kernels.containers.records cimport Records
from millstream.kernels.order.term_order cimport TermOrder

cdef enum:
    DEEPEST = 512               # of a path: a treap of 2^31 nodes stays below 100


cdef struct Node:
    int64_t id
    int64_t count
    int64_t size                # the sum of counts below it, its own included
    uint64_t key                # never contradicts the order; of terms other than numbers inside ids
    int32_t left
    int32_t right
    uint32_t priority
    int32_t free                # of a free node, the next one


cdef class OrderedTerms:
    cdef TermOrder terms
    cdef bint by_value
    cdef Records nodes
    cdef Growing roots
    cdef int64_t tree_count
    cdef uint64_t state
    cdef int32_t path[DEEPEST]

    cdef int make_room(self, int64_t trees) except -1
    cdef Node* node(self, int32_t number) noexcept nogil
    cdef int32_t* root(self, int64_t tree) noexcept nogil
    cdef int64_t size(self, int64_t tree) noexcept nogil
    cdef int read_key(self, int64_t term_id, uint64_t* key) except -1
    cdef int order(self, int64_t term_id, uint64_t key, const Node* node) except -2
    cdef int put(self, int64_t tree, int64_t term_id, int64_t weight) except -1
    cdef int64_t pick(self, int64_t tree, int64_t place) noexcept nogil
    cdef void hang(self, int64_t tree, int32_t parent, int32_t was, int32_t number) noexcept nogil
    cdef int grow(self, int64_t tree, int depth, int side, int64_t term_id, uint64_t key, int64_t weight) except -1
    cdef void lift(self, int64_t tree, int32_t parent, int32_t above, int32_t number) noexcept nogil
    cdef void cut(self, int64_t tree, int32_t parent, int32_t number) noexcept nogil
    cdef void resize(self, Node* node) noexcept nogil
