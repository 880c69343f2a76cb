"""Numbers for tuples of ids, for kernels that ask for one at a time."""

from libc.stdint cimport int32_t, int64_t

from millstream.kernels.containers.agenda cimport Agenda
from millstream.kernels.containers.keyed cimport Keyed


cdef class TupleTable:
    """Live tuples of ids and their numbers."""

    cdef int width
    cdef Keyed tuples                   # behind the ids the end, and a word for the free list
    cdef Agenda agenda

    cdef void forget(self, int32_t number) noexcept nogil
    cdef void expire_some(self, int64_t now) noexcept nogil
    cdef int32_t enter(self, const int64_t* ids, int64_t until) noexcept nogil
    cdef int64_t leave(self, const int64_t* ids) noexcept nogil
    cdef int64_t number_of(self, const int64_t* ids, int64_t now, int64_t until, bint inserted) noexcept nogil
    cdef check(self, columns)
