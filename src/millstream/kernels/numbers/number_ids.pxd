"""Ids for numbers that were computed: inlined where the value fits an id, else put into the dictionary.

A number is an int128 / 10^scale. Decimals are spelled without superfluous zeros, as expressions spell them.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.values cimport DECIMAL, INTEGER, MAX_SCALE, POWER10, TYPED, kind_of, make_id, write_digits

cdef extern from *:
    ctypedef long long int128 "__int128"
    bint add_overflows "__builtin_add_overflow"(int128 a, int128 b, int128* into) noexcept nogil
    bint subtract_overflows "__builtin_sub_overflow"(int128 a, int128 b, int128* into) noexcept nogil
    bint multiply_overflows "__builtin_mul_overflow"(int128 a, int128 b, int128* into) noexcept nogil
    ctypedef unsigned long long uint128 "unsigned __int128"

cdef enum:
    SPELLED_BYTES = 128         # more than any int128 takes as a literal
    MOST_SHORT = 1 << 30


cdef inline int64_t short_id(int64_t value, bint decimal) noexcept nogil:
    """The id of an integer, perhaps as a decimal, that is nearer to 0 than MOST_SHORT."""
    if decimal:
        return make_id(DECIMAL, value + (<int64_t>1 << 53))
    return make_id(INTEGER, value + (<int64_t>1 << 58))


cdef inline bint fits_word(int128 value) noexcept nogil:
    return <int128><int64_t>value == value


cdef inline void strip_zeros(int128* value, int* scale) noexcept nogil:
    cdef int64_t word
    # What is odd has none.
    while scale[0] > 0 and not fits_word(value[0]) and value[0] & 1 == 0 and value[0] % 10 == 0:
        value[0] = value[0] / 10
        scale[0] -= 1
    if fits_word(value[0]):
        word = <int64_t>value[0]
        if word == 0:
            scale[0] = 0
        while scale[0] >= 4 and word & 15 == 0 and word % 10000 == 0:
            word = word / 10000
            scale[0] -= 4
        while scale[0] > 0 and word & 1 == 0 and word % 10 == 0:
            word = word / 10
            scale[0] -= 1
        value[0] = word


cdef inline int64_t inlined_id(int64_t value, int scale, bint decimal) noexcept nogil:
    """The id that a number without superfluous zeros is in, -1 without one."""
    if decimal:
        # A minus and 18 digits behind the point are one byte too long for an id.
        if -(<int64_t>1 << 53) <= value < (<int64_t>1 << 53) and not (scale == MAX_SCALE and value < 0):
            return make_id(DECIMAL, (<int64_t>scale << 54) | (value + (<int64_t>1 << 53)))
    elif -(<int64_t>1 << 58) < value < (<int64_t>1 << 58):
        return make_id(INTEGER, value + (<int64_t>1 << 58))
    return -1


cdef inline uint8_t* spell_digits(uint8_t* out, uint128 value, int width) noexcept nogil:
    cdef uint128 billions = <uint128>POWER10[18]
    if value >= billions:
        out = spell_digits(out, value / billions, width - 18)
        return write_digits(out, <uint64_t>(value % billions), 18)
    return write_digits(out, <uint64_t>value, width if width > 1 else 1)


cdef inline int64_t spell_number(uint8_t* out, int128 value, int scale, bint decimal) noexcept nogil:
    """Writes at most SPELLED_BYTES and returns how many; the scale is at most 18."""
    cdef uint8_t* start = out
    cdef uint128 size = <uint128>0 - <uint128>value if value < 0 else <uint128>value
    cdef uint128 unit = <uint128>POWER10[scale]
    cdef uint128 whole = size / unit
    out[0] = c'"'
    out += 1
    if value < 0:
        out[0] = c'-'
        out += 1
    out = spell_digits(out, whole, 1)
    if scale > 0:
        out[0] = c'.'
        out = write_digits(out + 1, <uint64_t>(size - whole * unit), scale)
    memcpy(out, b'"^^<http://www.w3.org/2001/XMLSchema#', 37)
    memcpy(out + 37, b'decimal>' if decimal else b'integer>', 8)
    return out + 45 - start


cdef inline int64_t shortened_id(int128* value, int* scale, bint decimal) noexcept nogil:
    """Takes superfluous zeros away; the id that the number is in then, -1 without one."""
    strip_zeros(value, scale)
    return inlined_id(<int64_t>value[0], scale[0], decimal) if fits_word(value[0]) else -1


cdef inline int64_t new_number_id(Dictionary dictionary, int128 value, int scale, bint decimal) except -1:
    """As number_id, of a number that is most likely met for the first time, or remembered by who asks."""
    cdef uint8_t spelled[SPELLED_BYTES]
    cdef int64_t term_id = shortened_id(&value, &scale, decimal)
    if term_id >= 0:
        return term_id
    # As it is spelled here, it is canonical.
    term_id = dictionary.intern(spelled, spell_number(spelled, value, scale, decimal), TYPED)
    if term_id < 0:
        raise MemoryError
    return term_id


cdef inline int64_t number_id(Dictionary dictionary, int128 value, int scale, bint decimal) except -1:
    """The id of value / 10^scale as a decimal, or as an integer, which it is then; the scale is at most 18."""
    cdef int64_t term_id = shortened_id(&value, &scale, decimal)
    if term_id >= 0:
        return term_id
    # What goes was computed when it came: most numbers are met twice at least.
    term_id = dictionary.made_id(<uint64_t>value, <uint64_t>(value >> 64), 2 * scale + decimal)
    if term_id >= 0:
        return term_id
    term_id = new_number_id(dictionary, value, scale, decimal)
    if kind_of(term_id) == TYPED:
        dictionary.remember_made(<uint64_t>value, <uint64_t>(value >> 64), 2 * scale + decimal, term_id)
    return term_id
