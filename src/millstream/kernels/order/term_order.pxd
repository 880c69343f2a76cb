"""What other kernels may use of the order of terms."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.values cimport DECIMAL, INTEGER, kind_of, mantissa_of

cdef enum:
    ANCHOR_BYTES = 244
    DIFFERENT = 2               # what a comparison cannot tell
    CLASS_SHIFT = 60            # keys: class, 4 bits | prefix, 60 bits

    # Datatypes in the order of their names.
    LANG_STRING_TYPE = 0
    BOOLEAN_TYPE = 1
    DATETIME_TYPE = 2
    DECIMAL_TYPE = 3
    DOUBLE_TYPE = 4
    FLOAT_TYPE = 5
    INTEGER_TYPE = 6
    STRING_TYPE = 7

cdef struct Text:
    # The parts of a term between its quotes, brackets or behind its colon.
    const uint8_t *bytes
    int64_t length
    const uint8_t *language
    int64_t language_length
    int datatype                # the place of the datatype among those known here, by their names

cdef struct Anchor:
    # What IRIs of a column are expected to begin with: keys of those that do are made of what follows.
    int32_t length              # -1: not known yet
    uint8_t bytes[ANCHOR_BYTES]


cdef inline uint64_t key_of_double(double number) noexcept nogil:
    """The upper 60 bits of an integer that orders as numbers do; both zeros are one."""
    cdef uint64_t bits
    if number == 0:
        number = 0
    memcpy(&bits, &number, sizeof(double))
    bits = ~bits if bits >> 63 else bits | (<uint64_t>1 << 63)
    return bits >> 4


cdef inline bint is_between(int64_t number, int bits) noexcept nogil:
    return -(<int64_t>1 << bits) <= number <= <int64_t>1 << bits


cdef inline int compare_near(int64_t a, int64_t b) noexcept nogil:
    """-1 or 1 for two different numbers of one type and scale whose ids are in both orders, DIFFERENT for all else.

    The term order goes by doubles first: integers up to 2^53 are different ones, and so are decimals of one scale up to
    2^51, which are more than a rounding apart.
    """
    cdef int kind = kind_of(a), bits = 53
    if kind != kind_of(b):
        return DIFFERENT
    if kind == DECIMAL and (a ^ b) >> 54 == 0:
        bits = 51
    elif kind != INTEGER:
        return DIFFERENT
    if not is_between(mantissa_of(a), bits) or not is_between(mantissa_of(b), bits):
        return DIFFERENT
    return -1 if a < b else 1


cdef class TermOrder:
    cdef Dictionary dictionary
    cdef object by_value

    cdef int order_key(self, int64_t term_id, uint64_t *key) except -1
    cdef int term_key(self, int64_t term_id, uint64_t *key) except -1
    cdef bint iri_key(self, int64_t term_id, Anchor *anchor, uint64_t *key) noexcept nogil
    cdef int compare_order(self, int64_t a, int64_t b) except -2
    cdef int compare_terms(self, int64_t a, int64_t b) except -2
    cdef int compare_alike(self, int64_t a, int64_t b) noexcept nogil
    cdef int compare_numbers(self, int64_t a, int64_t b) except -2
    cdef bint read_text(self, int64_t term_id, Text *text, uint8_t *room) except -1
    cdef bint read_number(self, int64_t term_id, double *number) except -1
    cdef bint text_key(self, int64_t term_id, uint64_t *prefix) except -1
