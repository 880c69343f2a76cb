"""Numbers for tuples of ids, for kernels that ask for one at a time."""

from libc.stdint cimport int32_t, int64_t, uint32_t

from millstream.kernels.containers.agenda cimport Agenda
from millstream.kernels.containers.hash_index cimport Index
from millstream.kernels.containers.records cimport Records


cdef class TupleTable:
    """Live tuples of ids and their numbers."""

    cdef int width
    cdef int64_t stride
    cdef Records records
    cdef Index index
    cdef Agenda agenda

    cdef int64_t* record(self, int64_t number) noexcept nogil
    cdef uint32_t hash(self, const int64_t* ids) noexcept nogil
    cdef int32_t find_row(self, const int64_t* wanted, uint32_t hash) noexcept nogil
    cdef void forget(self, int32_t number) noexcept nogil
    cdef void expire_some(self, int64_t now, int64_t most) noexcept nogil
    cdef int32_t enter(self, const int64_t* ids, int64_t until) noexcept nogil
    cdef int64_t leave(self, const int64_t* ids) noexcept nogil
    cdef int64_t number_of(self, const int64_t* ids, int64_t now, int64_t until, bint inserted) noexcept nogil
    cdef check(self, columns)
