"""The connected parts of a conjunction, for the leaf that they are of."""

from libc.stdint cimport int64_t

from millstream.kernels.conjunctions.time_merge cimport Rows
from millstream.kernels.flow.deltas cimport Arrivals
from millstream.kernels.joins.join cimport IntervalJoin


# How rows of a pattern go into a join.
cdef struct Way:
    int kind
    int view
    int places[3]               # of the variables in the triple
    int table                   # of its tuples


cdef class Part:
    """One connected part of a conjunction: changes of its patterns' contents in, its solutions with intervals out."""

    cdef Rows found             # where it was found: good until it is forgotten
    cdef list kept              # arrays that this is in, where it was found elsewhere
    cdef int64_t** pointers
    cdef int pointed

    cdef int put(self, Arrivals rows, int64_t first, int64_t last, int64_t shift) except -1
    cdef int run(self) except -1
    cdef void forget(self) noexcept
    cdef int hold(self, given) except -1


cdef class GivenPart(Part):
    """Solutions that somebody else found."""


cdef class JoinPart(Part):
    """A part with variables, kept by an interval join."""

    cdef readonly IntervalJoin join
    cdef object apart
    cdef bint some_apart
    cdef Arrivals waiting
    cdef Way* ways
    cdef int64_t way_count
    cdef list tables
    cdef int64_t size
    cdef int64_t capacity
    cdef int64_t* fed[7]        # what the join is fed with: view, a, b, now, until, op, change

    cdef void close_ways(self) noexcept
    cdef void room(self, int64_t more) noexcept
    cdef void shrink(self) noexcept
    cdef int keep(self, Arrivals rows, int64_t first, int64_t last, int64_t shift) except -1
    cdef int lay(self, Arrivals rows, int64_t first, int64_t last, int64_t shift) except -1


cdef class GroundPart(Part):
    """A pattern without variables: a triple that is there until some time."""

    cdef public int64_t until
    cdef int64_t capacity

    cdef void take(self, int64_t now, int64_t until, bint inserted, int64_t change) noexcept


cdef tuple arrays_of(Rows* found)
