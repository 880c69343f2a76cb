"""A slice of rows in an order, for the operators that show one (layout in ranking.pyx)."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from millstream.kernels.containers.growing cimport Numbers
from millstream.kernels.containers.keyed cimport LookAhead
from millstream.kernels.flow.change_rows cimport Written
from millstream.kernels.order.row_order cimport RowOrder


cdef class Ranking(RowOrder):
    cdef int64_t offset
    cdef uint64_t edge          # rows with a greater first key lie behind the slice
    cdef Numbers touched        # rows with something pending
    cdef Numbers gone           # rows whose weight became 0
    cdef LookAhead ahead

    cdef void note(self, int32_t number, int64_t weight) noexcept nogil
    cdef void walk(self, int64_t first, int64_t last, int sign) noexcept nogil
    cdef void shift(self, int32_t number, int64_t rank, int64_t weight, int sign) noexcept nogil
    cdef void find_edge(self) noexcept nogil
    cdef int add(self, uint32_t hash, int64_t weight) except -1
    cdef int take(self, uint32_t hash, int64_t weight) except -1
    cdef void show_ahead(self, const Written* rows, int64_t row) noexcept nogil
    cdef int change_ahead(self, const Written* rows, int64_t row) except -1
    cdef int change(self, const Written* rows, int64_t row) except -1
    cdef void finish(self, Written* into, int64_t tick, int64_t change) noexcept nogil
    cdef int read_slice(self, Written* into, int64_t offset, int64_t limit) except -1
