"""The order of terms by their ids: keys of 64 bits, and exact comparisons.

Two orders, both defined by values in `operators.ordering`: the *solution order* of ORDER BY, in which different terms may
tie, and the *term order*, in which they never do. A key is

    class, 4 bits | prefix, 60 bits

and keys never contradict an order: if a comes before b then key(a) <= key(b). So most comparisons are one of integers;
behind equal keys the exact comparison decides. Both are done here for values inside ids, IRIs, blank nodes, strings and
plain doubles and floats, keys for all integers and decimals; what is left (other typed literals, texts with escapes, NaN) is
asked of `by_value`, which sees ids.
"""

import numpy as np

from libc.math cimport fabs, isnan
from libc.stdint cimport int8_t, int64_t, uint8_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.store cimport Slot
from millstream.kernels.dictionary.values cimport (
    BLANK, BOOLEAN, DATETIME, DECIMAL, INLINED_BYTES, INTEGER, IRI, LANGUAGE, STRING, TYPED, ZONE_NONE, compare_scaled,
    float_of, instant_of, is_number, is_value, kind_of, mantissa_of, payload_of, scale_of, write_inlined, zone_of,
)
from millstream.kernels.numbers.exact cimport exact_double

cdef extern from *:
    """
    /* -1 or 1 for two texts in N-Triples syntax that differ, 2 if the difference is inside or at an escape. Up to there they
       are the same, escapes included, so only what stands right before the difference matters: an escape is at most 10 bytes
       long. */
    static inline int ms_compare_texts(const unsigned char *a, int64_t a_length, const unsigned char *b, int64_t b_length) {
        int64_t length = a_length < b_length ? a_length : b_length, i = 0, before;
        uint64_t x, y;
        while (i + 8 <= length) {
            memcpy(&x, a + i, 8);
            memcpy(&y, b + i, 8);
            if (x != y) break;
            i += 8;
        }
        while (i < length && a[i] == b[i]) i++;
        if (i == length) return a_length < b_length ? -1 : 1;
        for (before = i > 9 ? i - 9 : 0; before <= i; before++)
            if (a[before] == 92 || b[before] == 92) return 2;    /* a backslash */
        return a[i] < b[i] ? -1 : 1;
    }
    """
    int compare_texts "ms_compare_texts"(
        const uint8_t *a, int64_t a_length, const uint8_t *b, int64_t b_length) noexcept nogil

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *text, char **end, void *overflow) except? -1.0

cdef enum:
    # Classes of both orders.
    UNBOUND_CLASS = 0
    BLANK_CLASS = 1
    IRI_CLASS = 2
    NUMBER_CLASS = 3
    # Further ones of the solution order ...
    BOOLEAN_CLASS = 4
    DATETIME_CLASS = 5
    TEXT_CLASS = 10
    # ... and of the term order.
    OTHER_CLASS = 4

    LONGEST_NUMBER = 63
    XSD_BYTES = 37              # of "^^<http://www.w3.org/2001/XMLSchema#


cdef inline int compare_bytes(const uint8_t *a, int64_t a_length, const uint8_t *b, int64_t b_length) noexcept nogil:
    cdef int found = memcmp(a, b, min(a_length, b_length))
    if found == 0:
        return (a_length > b_length) - (a_length < b_length)
    return 1 if found > 0 else -1


cdef inline uint64_t leading_bits(const uint8_t *text, int64_t length) noexcept nogil:
    cdef uint64_t bits = 0
    cdef int64_t i
    for i in range(8):
        bits = bits << 8 | (text[i] if i < length else 0)
    return bits


cdef inline void anchor_at(Anchor *anchor, const uint8_t *text, int64_t length) noexcept nogil:
    """All of an IRI up to its last slash or hash."""
    length = min(length, <int64_t>ANCHOR_BYTES)
    while length > 0 and text[length - 1] != c'/' and text[length - 1] != c'#':
        length -= 1
    anchor.length = <int32_t>length
    memcpy(anchor.bytes, text, length)


cdef inline bint ends_with(Slot *slot, const char *name, int64_t length) noexcept nogil:
    """Whether a typed literal's datatype is that of XML Schema with this name, bracket included."""
    cdef const uint8_t *tail = slot.bytes + slot.length - length - XSD_BYTES
    return slot.length > length + XSD_BYTES and memcmp(tail + XSD_BYTES, name, length) == 0 and memcmp(
        tail, b'"^^<http://www.w3.org/2001/XMLSchema#', XSD_BYTES) == 0


cdef inline bint read_exact(Slot *slot, Text *text) noexcept nogil:
    """The text of an integer or a decimal that is not in its id."""
    if slot == NULL or not (ends_with(slot, b'decimal>', 8) or ends_with(slot, b'integer>', 8)):
        return False
    text.datatype = DECIMAL_TYPE if slot.bytes[slot.length - 2] == c'l' else INTEGER_TYPE
    text.bytes = slot.bytes + 1
    text.length = <int64_t>slot.length - XSD_BYTES - 9
    return True


cdef inline bint to_single(double *number) noexcept nogil:
    """Rounds to single precision, unless that would be rounding a second time what was rounded to the midpoint."""
    cdef uint64_t bits
    memcpy(&bits, number, sizeof(double))
    if number[0] != 0 and (bits & 0x1FFFFFFF == 0x10000000 or fabs(number[0]) < 1e-37):
        return False
    number[0] = <double><float>number[0]
    return True


cdef inline int sign(int64_t a, int64_t b) noexcept nogil:
    return (a > b) - (a < b)


cdef class TermOrder:
    """Compares terms of one dictionary."""

    def __init__(self, Dictionary dictionary not None, by_value):
        self.dictionary = dictionary
        self.by_value = by_value

    # Reading

    cdef bint read_text(self, int64_t term_id, Text *text, uint8_t *room) except -1:
        """Whether the text is as it stands in memory: no typed literals but doubles and floats, no escapes.

        `room` takes inlined ones.
        """
        cdef int kind = kind_of(term_id)
        cdef Slot *slot
        cdef const uint8_t *end
        text.language = b""
        text.language_length = 0
        text.datatype = STRING_TYPE
        if kind > TYPED:
            if not is_value(term_id):
                self.dictionary.check_live(term_id)
            text.bytes = room + 1
            text.length = write_inlined(room, term_id) - (47 if kind == DATETIME else 46)
            text.datatype = BOOLEAN_TYPE if kind == BOOLEAN else DATETIME_TYPE if kind == DATETIME else \
                DECIMAL_TYPE if kind == DECIMAL else INTEGER_TYPE
            return True
        slot = self.dictionary.slot_of(term_id)
        if slot == NULL:
            self.dictionary.check_live(term_id)
            return False
        text.bytes = slot.bytes + (2 if kind == BLANK else 1)
        text.length = <int64_t>slot.length - 2
        if kind == LANGUAGE:
            end = slot.bytes + slot.length - 1
            while end[0] != c'"':
                end -= 1
            text.length = end - slot.bytes - 1
            text.language = end + 2
            text.language_length = <int64_t>slot.length - text.length - 3
            text.datatype = LANG_STRING_TYPE
        elif kind == TYPED:
            if ends_with(slot, b'double>', 7):
                text.datatype = DOUBLE_TYPE
            elif ends_with(slot, b'float>', 6):
                text.datatype = FLOAT_TYPE
            else:
                return False
            text.length = <int64_t>slot.length - XSD_BYTES - 1 - (7 if text.datatype == DOUBLE_TYPE else 6)
        elif kind <= BLANK:
            return True
        return memchr(text.bytes, c'\\', text.length) == NULL

    cdef bint read_number(self, int64_t term_id, double *number) except -1:
        """Whether a term is a number that can be read here, and the double nearest to it; never NaN."""
        cdef Text text
        cdef bint exact = False, fraction = True
        cdef char digits[LONGEST_NUMBER + 1]
        cdef int64_t i
        cdef bint digit = False
        if is_number(term_id):
            number[0] = float_of(term_id)
            return True
        if kind_of(term_id) != TYPED:
            return False
        if not self.read_text(term_id, &text, NULL):
            if not read_exact(self.dictionary.slot_of(term_id), &text):
                return False
            exact = True
            fraction = text.datatype == DECIMAL_TYPE
        if exact and exact_double(text.bytes, text.length, fraction, number):
            return True
        if text.length > LONGEST_NUMBER:
            return False
        for i in range(text.length):
            digits[i] = <char>text.bytes[i]
            if c'0' <= digits[i] <= c'9':
                digit = True
            elif not (digits[i] == c'.' and fraction) and digits[i] != c'+' and digits[i] != c'-' and \
                    not (digit and not exact and (digits[i] == c'e' or digits[i] == c'E')):
                return False
        if not digit:
            return False
        digits[text.length] = 0
        try:
            number[0] = PyOS_string_to_double(digits, NULL, NULL)
        except ValueError:
            return False
        if text.datatype == FLOAT_TYPE and not to_single(number):
            return False
        return not isnan(number[0])

    cdef bint text_key(self, int64_t term_id, uint64_t *prefix) except -1:
        """The first 60 bits of a text, if they can be read here."""
        cdef Text text
        cdef uint8_t room[INLINED_BYTES]
        if not self.read_text(term_id, &text, room):
            return False
        prefix[0] = leading_bits(text.bytes, text.length) >> 4
        return True

    # Keys

    cdef int order_key(self, int64_t term_id, uint64_t *key) except -1:
        cdef int kind = kind_of(term_id)
        cdef int found = TEXT_CLASS
        cdef double number
        if term_id < 0:
            key[0] = 0
            return 0
        if kind == DATETIME:
            key[0] = <uint64_t>DATETIME_CLASS << CLASS_SHIFT | <uint64_t>(instant_of(term_id) + (<int64_t>1 << 58))
            return 0
        if kind == BOOLEAN:
            key[0] = <uint64_t>BOOLEAN_CLASS << CLASS_SHIFT | <uint64_t>payload_of(term_id)
            return 0
        if self.read_number(term_id, &number):
            key[0] = <uint64_t>NUMBER_CLASS << CLASS_SHIFT | key_of_double(number)
            return 0
        if kind <= BLANK:
            found = IRI_CLASS if kind == IRI else BLANK_CLASS
        if kind >= TYPED or not self.text_key(term_id, key):
            key[0] = self.by_value.order_key(term_id)
            return 0
        key[0] |= <uint64_t>found << CLASS_SHIFT
        return 0

    cdef int term_key(self, int64_t term_id, uint64_t *key) except -1:
        cdef int kind = kind_of(term_id)
        cdef int found = OTHER_CLASS
        cdef double number
        if term_id < 0:
            key[0] = 0
            return 0
        if self.read_number(term_id, &number):
            key[0] = <uint64_t>NUMBER_CLASS << CLASS_SHIFT | key_of_double(number)
            return 0
        if kind <= BLANK:
            found = IRI_CLASS if kind == IRI else BLANK_CLASS
        if kind == TYPED or not self.text_key(term_id, key):
            key[0] = self.by_value.term_key(term_id)
            return 0
        key[0] |= <uint64_t>found << CLASS_SHIFT
        return 0

    cdef bint iri_key(self, int64_t term_id, Anchor *anchor, uint64_t *key) noexcept nogil:
        """Another key of an IRI, for both orders: class | 0 below, 1 within, 2 above the anchor | what follows, 58 bits. The
        first one asked for sets the anchor. Whether the term is an IRI."""
        cdef Slot *slot
        cdef const uint8_t *text
        cdef int64_t length, common
        cdef int found
        cdef uint64_t side = 1
        if term_id < 0 or kind_of(term_id) != IRI:
            return False
        slot = self.dictionary.slot_of(term_id)
        if slot == NULL:
            return False
        text = slot.bytes + 1
        length = <int64_t>slot.length - 2
        if anchor.length < 0:
            anchor_at(anchor, text, length)
        common = min(length, <int64_t>anchor.length)
        found = memcmp(text, anchor.bytes, common)
        if found == 0 and common == anchor.length:
            text += common
            length -= common
        else:
            side = 2 if found > 0 else 0
        key[0] = <uint64_t>IRI_CLASS << CLASS_SHIFT | side << (CLASS_SHIFT - 2) | leading_bits(text, length) >> 6
        return True

    # Comparisons

    cdef int compare_alike(self, int64_t a, int64_t b) noexcept nogil:
        """-1 or 1 for two different IRIs, blank nodes or strings, DIFFERENT for what this does not tell."""
        cdef int kind = kind_of(a)
        cdef Slot *s
        cdef Slot *t
        if a < 0 or kind != kind_of(b) or kind > STRING:
            return DIFFERENT
        s = self.dictionary.slot_of(a)
        t = self.dictionary.slot_of(b)
        if s == NULL or t == NULL:
            return DIFFERENT
        return compare_texts(s.bytes + 1, <int64_t>s.length - (1 if kind == BLANK else 2),
                             t.bytes + 1, <int64_t>t.length - (1 if kind == BLANK else 2))

    cdef int compare_numbers(self, int64_t a, int64_t b) except -2:
        """-1 or 1 for two numbers that are not the same double, DIFFERENT for what this does not tell."""
        cdef double x, y
        if (is_number(a) or kind_of(a) == TYPED) and (is_number(b) or kind_of(b) == TYPED) and \
                self.read_number(a, &x) and self.read_number(b, &y) and x != y:
            return -1 if x < y else 1
        return DIFFERENT

    cdef int compare_order(self, int64_t a, int64_t b) except -2:
        """-1, 0 or 1 in the solution order."""
        cdef uint64_t x = 0, y = 0
        cdef int kind = kind_of(a), found
        cdef Text s, t
        if a == b:
            return 0
        if is_number(a) and is_number(b):
            return compare_scaled(mantissa_of(a), scale_of(a), mantissa_of(b), scale_of(b))
        found = self.compare_alike(a, b)
        if found == DIFFERENT:
            found = self.compare_numbers(a, b)
        if found != DIFFERENT:
            return found
        self.order_key(a, &x)
        self.order_key(b, &y)
        if x != y:
            return -1 if x < y else 1
        if kind == kind_of(b) == DATETIME:
            # A value without a zone comes before one with a zone at the same instant.
            return sign(zone_of(a) != ZONE_NONE, zone_of(b) != ZONE_NONE)
        if kind < TYPED and kind_of(b) < TYPED and self.read_text(a, &s, NULL) and self.read_text(b, &t, NULL):
            found = compare_bytes(s.bytes, s.length, t.bytes, t.length)
            if found == 0:
                found = sign(s.datatype, t.datatype)
            if found == 0:
                found = compare_bytes(s.language, s.language_length, t.language, t.language_length)
            return found
        return self.by_value.compare_order(a, b)

    cdef int compare_terms(self, int64_t a, int64_t b) except -2:
        """-1 or 1 in the term order, 0 only for the same term."""
        cdef uint64_t x = 0, y = 0
        cdef uint8_t a_room[INLINED_BYTES]
        cdef uint8_t b_room[INLINED_BYTES]
        cdef int found
        cdef Text s, t
        if a == b:
            return 0
        if a < 0 or b < 0:
            return -1 if a < 0 else 1
        found = compare_near(a, b)
        if found == DIFFERENT:
            found = self.compare_alike(a, b)
        if found == DIFFERENT:
            found = self.compare_numbers(a, b)
        if found != DIFFERENT:
            return found
        self.term_key(a, &x)
        self.term_key(b, &y)
        if x != y:
            return -1 if x < y else 1
        if kind_of(a) == TYPED or kind_of(b) == TYPED:
            return self.by_value.compare_terms(a, b)
        if not self.read_text(a, &s, a_room) or not self.read_text(b, &t, b_room):
            return self.by_value.compare_terms(a, b)
        found = compare_bytes(s.bytes, s.length, t.bytes, t.length)
        if found == 0:
            found = compare_bytes(s.language, s.language_length, t.language, t.language_length)
        return sign(s.datatype, t.datatype) if found == 0 else found

    # Columns

    def order_keys(self, const int64_t[:] ids):
        """The keys of the solution order."""
        cdef int64_t i
        keys = np.empty(ids.shape[0], np.uint64)
        cdef uint64_t[::1] into = keys
        for i in range(ids.shape[0]):
            self.order_key(ids[i], &into[i])
        return keys

    def term_keys(self, const int64_t[:] ids):
        """The keys of the term order."""
        cdef int64_t i
        keys = np.empty(ids.shape[0], np.uint64)
        cdef uint64_t[::1] into = keys
        for i in range(ids.shape[0]):
            self.term_key(ids[i], &into[i])
        return keys

    def compared(self, const int64_t[:] left, const int64_t[:] right, bint terms):
        """-1, 0 or 1 for each pair, in the term order or in the solution order."""
        cdef int64_t i, n = left.shape[0]
        if right.shape[0] != n:
            raise ValueError(f"{n} ids on the left, but {right.shape[0]} on the right")
        order = np.empty(n, np.int8)
        cdef int8_t[::1] into = order
        for i in range(n):
            into[i] = <int8_t>(self.compare_terms(left[i], right[i]) if terms else self.compare_order(left[i], right[i]))
        return order
