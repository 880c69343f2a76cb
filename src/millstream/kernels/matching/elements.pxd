"""Stream elements as columns, in C."""

from libc.stdint cimport int64_t

from millstream.kernels.matching.intake cimport Intake


cdef class Elements:
    """Consecutive elements of one stream, in processing order."""

    cdef readonly object stream
    cdef int64_t length             # elements
    cdef int64_t size               # triples
    cdef readonly int64_t triples_before, first_element
    cdef readonly bint prolongs
    cdef bint tagged
    cdef int64_t* words             # all columns
    cdef int64_t room               # of these words, at least as many as are used
    cdef int64_t* at_ms             # of each element
    cdef int64_t* total
    cdef int64_t* order
    cdef int64_t* s                 # of each triple
    cdef int64_t* p
    cdef int64_t* o
    cdef int64_t* element
    cdef int64_t* number
    cdef int64_t* pattern

    cdef inline int64_t last_of(self) noexcept nogil:
        """The tick of the last element."""
        return 4 * self.at_ms[self.length - 1] + 1

    cdef int make_room(self, int64_t length, int64_t size) except -1
    cdef void put(self, int64_t place, int64_t at_ms, Intake intake, int64_t at, int64_t before) noexcept
    cdef write(self, int64_t* words, column, int64_t size)


cdef Elements single(stream, int64_t at_ms, Intake intake, int64_t triples_before, int64_t first_element)
