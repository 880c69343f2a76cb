"""Exact sums of doubles: every double is a whole multiple of 2^-1074, so a sum of them is an integer of a few thousand bits.

It is kept in two's complement, words from the lowest, and rounded once, when a result is asked for: so it follows from the
operands, whatever the order in which they came and went.
"""

from libc.math cimport frexp, ldexp
from libc.stdint cimport int64_t, uint64_t

from millstream.kernels.numbers.number_ids cimport int128

cdef enum:
    LEAST_EXPONENT = 1074
    WORDS = 36                  # 2^2098 is more than the largest double takes; the rest is room for 2^200 of them
    WORD_BITS = 64
    MANTISSA_BITS = 53


cdef inline void add_double(uint64_t* words, double value, int64_t weight) noexcept nogil:
    """Adds a finite double so many times."""
    cdef int exponent = 0
    cdef int64_t mantissa = <int64_t>ldexp(frexp(value, &exponent), MANTISSA_BITS)
    cdef int shift = exponent - MANTISSA_BITS + LEAST_EXPONENT
    cdef int128 addend, carried
    cdef int place, bits
    if mantissa == 0:
        return
    if shift < 0:
        # Of a number below the normal ones the last bits are zeros.
        mantissa >>= -shift
        shift = 0
    place = shift // WORD_BITS
    bits = shift % WORD_BITS
    addend = <int128>mantissa * weight
    # Word by word, as a multiple of 2^(64 * place): the low bits first, then what is above them with its sign.
    carried = <int128>words[place] + (<int128><uint64_t>(<uint64_t>addend << bits))
    words[place] = <uint64_t>carried
    carried = (carried >> WORD_BITS) + (addend >> (WORD_BITS - bits) if bits else addend >> WORD_BITS)
    place += 1
    while place < WORDS:
        carried += <int128>words[place]
        words[place] = <uint64_t>carried
        carried >>= WORD_BITS
        if carried == 0:
            return
        place += 1


cdef inline double rounded_sum(const uint64_t* words) noexcept nogil:
    """The double nearest to a sum, of two the even one."""
    cdef uint64_t size[WORDS]
    cdef uint64_t mantissa
    cdef bint negative = words[WORDS - 1] >> 63, carry, rest = False
    cdef int i, top = -1, low, place, bits
    carry = negative
    for i in range(WORDS):
        size[i] = ~words[i] if negative else words[i]
        if carry:
            size[i] += 1
            carry = size[i] == 0
        if size[i]:
            top = i
    if top < 0:
        return 0.0
    bits = WORD_BITS - 1
    while not size[top] >> bits:
        bits -= 1
    low = top * WORD_BITS + bits - (MANTISSA_BITS - 1)        # of the bits that stay, the lowest
    if low <= 0:
        return ldexp(-<double>size[0] if negative else <double>size[0], -LEAST_EXPONENT)
    place = low // WORD_BITS
    bits = low % WORD_BITS
    mantissa = size[place] >> bits
    if bits and place + 1 < WORDS:
        mantissa |= size[place + 1] << (WORD_BITS - bits)
    mantissa &= (<uint64_t>1 << MANTISSA_BITS) - 1
    # The bit behind, and whether anything follows it.
    place = (low - 1) // WORD_BITS
    bits = (low - 1) % WORD_BITS
    rest = size[place] & ((<uint64_t>1 << bits) - 1) != 0
    for i in range(place):
        rest = rest or size[i] != 0
    if (size[place] >> bits) & 1 and (rest or mantissa & 1):
        mantissa += 1
    return ldexp(-<double>mantissa if negative else <double>mantissa, low - LEAST_EXPONENT)
