"""The triples of one element or change, in C."""

from libc.stdint cimport int64_t


cdef class Intake:
    """The triples of one element."""

    cdef int64_t size
    cdef int64_t room
    cdef readonly int64_t total
    cdef int64_t* words             # s, p, o, place, each `size` words
    cdef int64_t only[4]            # where they are, if there is room for one triple

    cdef int make_room(self, int64_t size) except -1
    cdef void drop_repeats(self) noexcept nogil
    cdef void end(self, int64_t kept) noexcept nogil
