"""Quotients that were calculated last: most have so many digits that they are terms of the dictionary.

What goes was calculated when it came, and a mean or a rate of small numbers comes again and again. A quotient of two numbers
that are in ids is remembered for an epoch of the dictionary: afterwards its id may name another term. A table in which
quotients keep displacing each other is replaced by a larger one, up to MOST_BITS.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free

from millstream.kernels.dictionary.values cimport is_number

cdef enum:
    FEWEST_BITS = 6
    MOST_BITS = 13


cdef struct Quotient:
    int64_t dividend
    int64_t divisor
    int64_t value
    int64_t epoch               # the first in which it is not good any more


cdef struct Quotients:
    Quotient* table
    int bits
    int64_t displaced           # that were good, since the table is as large as it is


cdef inline bint quotients_grow(Quotients* quotients) noexcept nogil:
    """A larger table, empty; whether there is one."""
    cdef int bits = quotients.bits + 1 if quotients.table != NULL else FEWEST_BITS
    cdef Quotient* table = <Quotient*>calloc(<size_t>1 << bits, sizeof(Quotient))
    if table != NULL:
        free(quotients.table)
        quotients.table = table
        quotients.bits = bits
    quotients.displaced = 0
    return quotients.table != NULL


cdef inline Quotient* find_quotient(Quotients* quotients, int64_t dividend, int64_t divisor, int64_t epoch) noexcept nogil:
    """Where the quotient of two ids is remembered; it is not good yet if it was not. NULL if it never is."""
    cdef Quotient* found
    cdef uint64_t hash
    if not is_number(dividend) or not is_number(divisor):
        return NULL
    if quotients.table == NULL or (quotients.displaced >> quotients.bits and quotients.bits < MOST_BITS):
        if not quotients_grow(quotients):
            return NULL
    hash = (<uint64_t>dividend * <uint64_t>0x9E3779B97F4A7C15 ^ <uint64_t>divisor) * <uint64_t>0x9E3779B97F4A7C15
    found = quotients.table + (hash >> (64 - quotients.bits))
    if found.dividend != dividend or found.divisor != divisor:
        quotients.displaced += found.epoch > epoch
        found.dividend = dividend
        found.divisor = divisor
        found.epoch = 0
    return found


cdef inline void keep_quotient(Quotient* found, int64_t value, int64_t epoch) noexcept nogil:
    """An error is not remembered."""
    found.value = value
    found.epoch = epoch + 1 if value >= 0 else 0
