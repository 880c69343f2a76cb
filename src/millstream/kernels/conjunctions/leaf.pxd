"""A conjunction at work, in C: its parts, what filters and combines their solutions, and the time merge that these go to."""

from libc.stdint cimport int64_t

from millstream.kernels.conjunctions.product cimport Product, Sink
from millstream.kernels.conjunctions.solution_filter cimport SolutionFilter
from millstream.kernels.conjunctions.time_merge cimport Rows, TimeMerge
from millstream.kernels.flow.deltas cimport Arrivals, Bound, Deltas


cdef class Leaf(Sink):
    """The parts of a conjunction, and its solutions merged by time."""

    cdef readonly int64_t first
    cdef readonly int64_t patterns
    cdef readonly TimeMerge merge
    cdef readonly Deltas out
    cdef list parts
    cdef list solution_filters
    cdef Product product
    cdef SolutionFilter last
    cdef int* part_of
    cdef int64_t* arrived       # rows that came for each pattern; then those that came for all that are like it
    cdef int* projection
    cdef int width              # columns of all parts
    cdef Bound bound
    # Of the batch at hand, and of those before it that were of the same change:
    cdef int64_t found          # solutions of the part with the most
    cdef int64_t made           # solutions of the whole
    cdef int64_t last_change
    cdef bint touched

    cdef bint has_all(self, Arrivals rows) noexcept nogil
    cdef int put(self, Arrivals rows, int64_t first, int64_t last) except -1
    cdef int finish(self) except -1
    cdef int sift(self, list parts) except -1
    cdef void forget(self) noexcept
    cdef bint pass_time(self, int64_t upto) noexcept
