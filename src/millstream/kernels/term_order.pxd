"""What other kernels may use of the order of terms."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from millstream.kernels.dictionary cimport Dictionary

cdef enum:
    CLASS_SHIFT = 60            # keys: class, 4 bits | prefix, 60 bits

cdef struct Text:
    # The parts of a term between its quotes, brackets or behind its colon.
    const uint8_t *bytes
    int64_t length
    const uint8_t *language
    int64_t language_length
    int datatype                # the place of the datatype among those known here, by their names

cdef class TermOrder:
    cdef Dictionary dictionary
    cdef object by_value

    cdef int order_key(self, int64_t term_id, uint64_t *key) except -1
    cdef int term_key(self, int64_t term_id, uint64_t *key) except -1
    cdef int compare_order(self, int64_t a, int64_t b) except -2
    cdef int compare_terms(self, int64_t a, int64_t b) except -2
    cdef bint read_text(self, int64_t term_id, Text *text, uint8_t *room) except -1
    cdef bint read_number(self, int64_t term_id, double *number) except -1
    cdef bint text_key(self, int64_t term_id, uint64_t *prefix) except -1
