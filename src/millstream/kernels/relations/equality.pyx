"""A key for terms that `=` may find equal: what has different keys is not equal, so a join can look partners up by it.

Terms other than typed literals are their own keys, and so are booleans in ids. Numbers go by their value as a double,
moments by their instant. What is not in ids, other than doubles of digits, is left to `rest`. Keys are terms, so that rows
with them can be sent on.
"""

import cython

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, strlen

from millstream.kernels.aggregates.term_references cimport TermReferences, CountedTerms
from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.values cimport (
    BOOLEAN, DATETIME, STRING, TYPED, float_of, instant_of, is_number, kind_of,
)
from millstream.kernels.flow.change_rows cimport TICK, WEIGHT
from millstream.kernels.flow.deltas cimport Deltas, Operator, check_widths
from millstream.kernels.numbers.doubles cimport read_double

cdef extern from "Python.h":
    char *PyOS_double_to_string(double value, char format, int precision, int flags, int *kind) except NULL
    void PyMem_Free(void *block)
    int ADD_DOT_0 "Py_DTSF_ADD_DOT_0"

cdef enum:
    KEY_BYTES = 64              # more than a key made here takes


@cython.final
cdef class EqualityKey(Operator):
    """One more column: the key of another, -1 for what may equal others with different keys.

    `rest` gives the text of the key of a term that is not read here, None for one without.
    """

    cdef Deltas given
    cdef Dictionary dictionary
    cdef CountedTerms kept
    cdef object rest
    cdef int place

    def __cinit__(
        self, inputs, int width, int place, Dictionary dictionary not None, TermReferences references not None, rest
    ):
        (self.given,) = self.inputs
        check_widths([self.out], self.given.rows.width + 1)
        if not 0 <= place < self.given.rows.width:
            raise ValueError(f"there is no column {place} among {self.given.rows.width}")
        self.dictionary = dictionary
        self.kept = CountedTerms(references)
        self.rest = rest
        self.place = place

    cdef int apply(self) except -1:
        cdef Deltas given = self.given, out = self.out
        cdef int64_t* terms = given.rows.columns[self.place]
        cdef int64_t* keys
        cdef int64_t row, size = given.rows.size
        cdef int place, last = given.rows.width
        out.room(size)
        keys = out.rows.columns[last]
        for row in range(size):
            keys[row] = self.key_of(terms[row])
            self.kept.add(keys[row], given.weights()[row], given.ticks()[row])
        out.rows.size = size
        for place in range(last):
            out.copy_column(place, given, place)
        for place in range(TICK, WEIGHT + 1):
            out.copy_column(last + 1 + place, given, last + place)
        return 0

    cdef int64_t key_of(self, int64_t term_id) except -2:
        cdef double number
        if term_id < 0 or kind_of(term_id) < TYPED or kind_of(term_id) == BOOLEAN:
            return term_id
        if is_number(term_id):
            return self.of_number(float_of(term_id))
        if kind_of(term_id) == DATETIME:
            return self.of_moment(instant_of(term_id))
        if read_double(self.dictionary, term_id, &number):
            return self.of_number(number)
        text = self.rest(term_id)
        return -1 if text is None else self.dictionary.encode_object(text)

    cdef int64_t of_number(self, double number) except -1:
        cdef uint8_t text[KEY_BYTES]
        # -0 equals 0.
        cdef char* spelled = PyOS_double_to_string(number + 0.0, c'r', 0, ADD_DOT_0, NULL)
        cdef int64_t length = strlen(spelled)
        memcpy(text, b'"number ', 8)
        memcpy(text + 8, spelled, length)
        PyMem_Free(spelled)
        text[8 + length] = c'"'
        return self.interned(text, 9 + length)

    cdef int64_t of_moment(self, int64_t instant_ms) except -1:
        """Seconds as decimals are written that have no zeros at their end: 12 as 12, 120 as 1.2E+2."""
        cdef uint8_t text[KEY_BYTES]
        cdef uint8_t digits[20]
        cdef int64_t rest = abs(instant_ms)
        cdef int count = 0, exponent = -3, at = 11, i, point
        memcpy(text, b'"DATE_TIME ', at)
        while rest and rest % 10 == 0:
            rest //= 10
            exponent += 1
        while rest or count == 0:
            digits[count] = <uint8_t>(c'0' + rest % 10)
            rest //= 10
            count += 1
        if instant_ms < 0:
            text[at] = c'-'
            at += 1
        # Where the point stands among the digits, of which the last one is the first here.
        point = count + exponent if exponent <= 0 else 1
        if instant_ms == 0:
            point = 1
        if point <= 0:
            text[at] = c'0'
            text[at + 1] = c'.'
            at += 2
            for i in range(-point):
                text[at] = c'0'
                at += 1
        for i in range(count):
            if i == point and i > 0:
                text[at] = c'.'
                at += 1
            text[at] = digits[count - 1 - i]
            at += 1
        if exponent > 0 and instant_ms:
            text[at] = c'E'
            text[at + 1] = c'+'
            at += 2
            point = count + exponent - 1
            if point >= 10:
                text[at] = <uint8_t>(c'0' + point // 10)
                at += 1
            text[at] = <uint8_t>(c'0' + point % 10)
            at += 1
        text[at] = c'"'
        return self.interned(text, at + 1)

    cdef int64_t interned(self, const uint8_t* text, int64_t length) except -1:
        cdef int64_t term_id = self.dictionary.intern(text, length, STRING)
        if term_id < 0:
            raise MemoryError
        return term_id

    def close(self, int64_t at_tick):
        self.kept.close(at_tick)
