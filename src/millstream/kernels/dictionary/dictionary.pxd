"""Terms to ids and back, for other kernels (layout in dictionary.pyx)."""

from libc.stdint cimport int64_t, uint8_t

from millstream.kernels.dictionary.store cimport Store
from millstream.kernels.scanning.grammar cimport Term

cdef class Dictionary(Store):
    cdef Term term
    cdef uint8_t *line
    cdef int64_t line_room

    cdef const uint8_t *canonical(self, const uint8_t *text, int64_t length) except NULL
    cdef int64_t encode_bytes(self, const uint8_t *text, int64_t length) except -1
    cdef int64_t encode_object(self, object term) except -1
    cdef object decode_all(self, const int64_t *ids, int64_t n)
