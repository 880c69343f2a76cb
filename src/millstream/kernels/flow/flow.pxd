"""Plans at work, in C: leaves, and the operators above them."""

from libc.stdint cimport int64_t

from millstream.kernels.conjunctions.leaf cimport Leaf
from millstream.kernels.flow.deltas cimport Arrivals, Bound, Deltas


cdef class Flow:
    """Leaves, and operators in order, each after its inputs."""

    cdef list leaves            # in order of their first patterns
    cdef list outs
    cdef list operators
    cdef list others            # buffers of leaves that are not conjunctions, and who fills them
    cdef tuple ends
    cdef Bound bound
    cdef object renumber
    cdef int64_t next_due       # FOREVER where nothing is
    cdef bint is_large          # a buffer has more room than is kept
    cdef object clock           # gives CPU time in ns while somebody measures, else None
    cdef int64_t last           # what it gave last

    cdef Leaf leaf_of(self, int64_t pattern)
    cpdef int feed(self, Arrivals rows) except -1
    cdef void note(self, Leaf leaf) noexcept
    cdef int spend(self, Deltas step) except -1
    cpdef int look_ahead(self) except -1
    cpdef int clear(self) except -1
    cpdef int give_back(self) except -1
    cdef int pass_time(self, int64_t upto) except -1
    cdef tuple run(self)
    cpdef tuple drain(self, int64_t upto)
