"""Quotients that were calculated last: most have so many digits that they are terms of the dictionary.

What goes was calculated when it came, and a mean or a rate of small numbers comes again and again. A quotient of two numbers
that are in ids is remembered with the hash of its term, by which the dictionary tells whether the id names it still. A table
in which quotients keep displacing each other is replaced by a larger one, up to MOST_BITS.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.values cimport TYPED, is_number, kind_of

cdef enum:
    FEWEST_BITS = 6
    MOST_BITS = 13


cdef struct Quotient:
    int64_t dividend
    int64_t divisor
    int64_t value
    uint32_t hash               # of the value's term, if it is one of the dictionary
    bint known


cdef struct Quotients:
    Quotient* table
    int bits
    int64_t displaced           # since the table is as large as it is


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


cdef inline Quotient* quotient_place(const Quotients* quotients, int64_t dividend, int64_t divisor) noexcept nogil:
    cdef uint64_t hash = <uint64_t>dividend * <uint64_t>0x9E3779B97F4A7C15 ^ <uint64_t>divisor
    return quotients.table + (hash * <uint64_t>0x9E3779B97F4A7C15 >> (64 - quotients.bits))


cdef inline Quotient* find_quotient(Quotients* quotients, int64_t dividend, int64_t divisor) noexcept nogil:
    """Where the quotient of two ids is remembered, or is to be; NULL if it never is."""
    cdef Quotient* found
    if not is_number(dividend) or not is_number(divisor):
        return NULL
    if quotients.table == NULL or (quotients.displaced >> quotients.bits and quotients.bits < MOST_BITS):
        if not quotients_grow(quotients):
            return NULL
    found = quotient_place(quotients, dividend, divisor)
    if found.dividend != dividend or found.divisor != divisor:
        quotients.displaced += found.known
        found.dividend = dividend
        found.divisor = divisor
        found.known = False
    return found


cdef inline bint is_remembered(const Quotient* found, Dictionary dictionary) noexcept nogil:
    """Whether its value can be used."""
    return found.known and (kind_of(found.value) > TYPED or dictionary.is_still(found.value, found.hash))


cdef inline void keep_quotient(Quotient* found, int64_t value, Dictionary dictionary) noexcept nogil:
    """An error is not remembered."""
    found.value = value
    found.known = value >= 0
    if found.known and kind_of(value) <= TYPED:
        found.hash = dictionary.slot_of(value).hash
