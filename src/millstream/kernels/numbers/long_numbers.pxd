"""Integers and decimals that are too long for ids, averages mostly: read from their texts.

Read are those whose digits an int128 has room for.
"""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcmp

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.store cimport Slot
from millstream.kernels.dictionary.values cimport TYPED, kind_of
from millstream.kernels.numbers.exact cimport EXACT_DIGITS, Number
from millstream.kernels.numbers.number_ids cimport int128

cdef enum:
    TYPE_BYTES = 45             # of "^^<http://www.w3.org/2001/XMLSchema#decimal>, and of that with integer


cdef inline bint parse_number(const uint8_t *digits, int64_t length, Number* number) noexcept nogil:
    """Whether a text is a sign, which may be missing, and digits, of decimals with at most one point."""
    cdef int64_t i = 1 if length and (digits[0] == c'-' or digits[0] == c'+') else 0
    cdef int128 mantissa = 0
    cdef int count = 0
    cdef bint point = False
    if length - i > EXACT_DIGITS + 1:
        return False
    number.scale = 0
    while i < length:
        if c'0' <= digits[i] <= c'9':
            mantissa = mantissa * 10 + <int128>(digits[i] - c'0')
            number.scale += point
            count += 1
        elif digits[i] == c'.' and number.decimal and not point:
            point = True
        else:
            return False
        i += 1
    number.mantissa = -mantissa if length and digits[0] == c'-' else mantissa
    return 0 < count <= EXACT_DIGITS


cdef inline bint read_long_number(Dictionary dictionary, int64_t term_id, Number* number) except -1:
    """Whether a term is an integer or a decimal that is read here."""
    cdef Slot* slot
    cdef const uint8_t *type_of
    if kind_of(term_id) != TYPED:
        return False
    slot = dictionary.slot_of(term_id)
    if slot == NULL:
        dictionary.check_live(term_id)
    if <int64_t>slot.length < TYPE_BYTES + 2:
        return False
    type_of = slot.bytes + slot.length - TYPE_BYTES
    if memcmp(type_of, b'"^^<http://www.w3.org/2001/XMLSchema#', 37) != 0:
        return False
    number.decimal = memcmp(type_of + 37, b"decimal>", 8) == 0
    if not number.decimal and memcmp(type_of + 37, b"integer>", 8) != 0:
        return False
    return parse_number(slot.bytes + 1, <int64_t>slot.length - TYPE_BYTES - 1, number)
