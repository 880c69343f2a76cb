"""A conjunction at work, in C: its parts, what filters and combines their solutions, and the time merge that these go to."""

from libc.stdint cimport int64_t

from millstream.kernels.deltas cimport Arrivals, Bound, Deltas
from millstream.kernels.merge cimport Rows, TimeMerge
from millstream.kernels.product cimport Product, Sink
from millstream.kernels.sieve cimport Sieve


cdef class Leaf(Sink):
    """The parts of a conjunction, and its solutions merged by time."""

    cdef readonly int64_t first
    cdef readonly int64_t patterns
    cdef readonly TimeMerge merge
    cdef readonly Deltas out
    cdef list parts
    cdef list sieves
    cdef Product product
    cdef Sieve last
    cdef int* part_of
    cdef int* projection
    cdef int width              # columns of all parts
    cdef Bound bound
    cdef int64_t made           # solutions of the batch at hand
    cdef bint touched

    cdef bint has_all(self, Arrivals rows) noexcept nogil
    cdef int put(self, Arrivals rows, int64_t first, int64_t last) except -1
    cdef int finish(self) except -1
    cdef int sift(self, list parts) except -1
    cdef void forget(self) noexcept
    cdef bint pass_time(self, int64_t upto) noexcept
