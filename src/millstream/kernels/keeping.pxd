"""Who keeps terms that operators make (layout in keeping.pyx)."""

from libc.stdint cimport int64_t

from millstream.kernels.dictionary cimport Dictionary
from millstream.kernels.relation cimport RowCounter


cdef class Keeper:
    cdef Dictionary dictionary
    cdef bint is_rebuilding

    cdef int hold_term(self, int64_t term_id) except -1
    cdef int release_term(self, int64_t term_id, int64_t at) except -1


cdef class Kept:
    cdef Keeper keeper
    cdef RowCounter counts

    cdef int add(self, int64_t term_id, int64_t weight, int64_t at) except -1
