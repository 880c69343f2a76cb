"""Numbers of the type xsd:double, which are not in ids: read from their texts, and spelled as ids.

Read are those of digits, at most LONGEST bytes of them; INF, NaN and longer ones are not. A double is spelled with the
fewest digits that tell it apart, without an exponent.
"""

from libc.math cimport isfinite, isnan
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport strtol
from libc.string cimport memchr, memcmp, memcpy, memset, strlen

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.store cimport Slot
from millstream.kernels.dictionary.values cimport TYPED, kind_of

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *text, char **end, void *overflow) except? -1.0
    char *PyOS_double_to_string(double value, char format, int precision, int flags, int *kind) except NULL
    void PyMem_Free(void *block)

cdef enum:
    LONGEST = 63
    SUFFIX_BYTES = 44           # of "^^<http://www.w3.org/2001/XMLSchema#double>
    DIGITS_BYTES = 400          # more than any double takes without an exponent


cdef inline bint read_double(Dictionary dictionary, int64_t term_id, double* value) except -1:
    """Whether a term is a double that is read here."""
    cdef Slot* slot
    cdef char digits[LONGEST + 1]
    cdef int64_t length, i
    if kind_of(term_id) != TYPED:
        return False
    slot = dictionary.slot_of(term_id)
    if slot == NULL:
        dictionary.check_live(term_id)
    length = <int64_t>slot.length - SUFFIX_BYTES - 1
    if length < 1 or length > LONGEST or memcmp(
            slot.bytes + slot.length - SUFFIX_BYTES, b'"^^<http://www.w3.org/2001/XMLSchema#double>', SUFFIX_BYTES) != 0:
        return False
    for i in range(length):
        digits[i] = <char>slot.bytes[1 + i]
        if not (c'0' <= digits[i] <= c'9' or digits[i] == c'.' or digits[i] == c'-' or digits[i] == c'+'
                or digits[i] == c'e' or digits[i] == c'E'):
            return False
    digits[length] = 0
    try:
        value[0] = PyOS_string_to_double(digits, NULL, NULL)
    except ValueError:
        return False
    return True


cdef inline int64_t spell_double(uint8_t* out, double value) except -1:
    """Writes the digits of a double, at most DIGITS_BYTES; returns how many bytes."""
    cdef char* shortest
    cdef char* exponent
    cdef uint8_t digits[32]
    cdef int64_t count = 0, point, i, at = 0, length
    cdef bint fraction = False
    if not isfinite(value):
        length = 3 + (value < 0)
        memcpy(out, b"NaN" if isnan(value) else b"-INF" if value < 0 else b"INF", length)
        return length
    shortest = PyOS_double_to_string(value, c'r', 0, 0, NULL)
    exponent = <char*>memchr(shortest, c'e', strlen(shortest))
    length = exponent - shortest if exponent != NULL else <int64_t>strlen(shortest)
    point = length
    for i in range(length):
        if c'0' <= shortest[i] <= c'9':
            if count or shortest[i] != c'0':
                digits[count] = <uint8_t>shortest[i]
                count += 1
            elif fraction:
                point -= 1
        elif shortest[i] == c'.':
            fraction = True
            point = count
    if not fraction:
        point = count
    if exponent != NULL:
        point += strtol(exponent + 1, NULL, 10)
    if shortest[0] == c'-':
        out[0] = c'-'
        at = 1
    PyMem_Free(shortest)
    while count and digits[count - 1] == c'0':
        count -= 1
    if count == 0:
        out[at] = c'0'
        return at + 1
    if point <= 0:
        out[at] = c'0'
        out[at + 1] = c'.'
        memset(out + at + 2, c'0', -point)
        memcpy(out + at + 2 - point, digits, count)
        return at + 2 - point + count
    if point >= count:
        memcpy(out + at, digits, count)
        memset(out + at + count, c'0', point - count)
        return at + point
    memcpy(out + at, digits, point)
    out[at + point] = c'.'
    memcpy(out + at + point + 1, digits + point, count - point)
    return at + count + 1


cdef inline int64_t double_id(Dictionary dictionary, double value) except -1:
    """The id of a double that was computed."""
    cdef uint8_t spelled[DIGITS_BYTES + SUFFIX_BYTES + 1]
    cdef int64_t length = spell_double(spelled + 1, value), term_id
    spelled[0] = c'"'
    memcpy(spelled + 1 + length, b'"^^<http://www.w3.org/2001/XMLSchema#double>', SUFFIX_BYTES)
    term_id = dictionary.intern(spelled, 1 + length + SUFFIX_BYTES, TYPED)
    if term_id < 0:
        raise MemoryError
    return term_id
