"""Exact arithmetic with numbers that fit a word, as most do. What a function refuses, `exact` may still do.

An operation changes its operands and leaves the result in the first one.
"""

from libc.stdint cimport int64_t

from millstream.kernels.dictionary.values cimport DECIMAL, MAX_SCALE, POWER10, is_number, kind_of, mantissa_of, scale_of
from millstream.kernels.numbers.exact cimport Number, rounded_quotient, word_overflows

cdef extern from *:
    bint sum_overflows "__builtin_add_overflow"(int64_t a, int64_t b, int64_t* into) noexcept nogil
    bint difference_overflows "__builtin_sub_overflow"(int64_t a, int64_t b, int64_t* into) noexcept nogil

cdef struct Word:
    int64_t mantissa
    int scale                   # at most MAX_SCALE
    bint decimal


cdef inline bint read_word(int64_t term_id, Word* word) noexcept nogil:
    """Whether an id is a number."""
    if not is_number(term_id):
        return False
    word.mantissa = mantissa_of(term_id)
    word.scale = scale_of(term_id)
    word.decimal = kind_of(term_id) == DECIMAL
    return word.scale <= MAX_SCALE


cdef inline Word word_of_number(const Number* number) noexcept nogil:
    """A number that was in an id."""
    cdef Word word
    word.mantissa = <int64_t>number.mantissa
    word.scale = number.scale
    word.decimal = number.decimal
    return word


cdef inline bint words_aligned(Word* a, Word* b) noexcept nogil:
    """Brings both to the larger scale."""
    a.decimal = a.decimal or b.decimal
    if a.scale < b.scale:
        if word_overflows(a.mantissa, POWER10[b.scale - a.scale], &a.mantissa):
            return False
        a.scale = b.scale
    elif b.scale < a.scale:
        return not word_overflows(b.mantissa, POWER10[a.scale - b.scale], &b.mantissa)
    return True


cdef inline bint add_words(Word* a, Word* b) noexcept nogil:
    return words_aligned(a, b) and not sum_overflows(a.mantissa, b.mantissa, &a.mantissa)


cdef inline bint subtract_words(Word* a, Word* b) noexcept nogil:
    return words_aligned(a, b) and not difference_overflows(a.mantissa, b.mantissa, &a.mantissa)


cdef inline bint multiply_words(Word* a, const Word* b) noexcept nogil:
    a.decimal = a.decimal or b.decimal
    a.scale += b.scale
    return a.scale <= MAX_SCALE and not word_overflows(a.mantissa, b.mantissa, &a.mantissa)


cdef inline bint divide_words(Word* a, const Word* b) noexcept nogil:
    """The quotient rounded to an integer."""
    cdef int digits = b.scale - a.scale
    a.scale = 0
    a.decimal = True
    return rounded_quotient(a.mantissa, b.mantissa, digits, &a.mantissa)


cdef inline void strip_word(Word* a) noexcept nogil:
    """Without superfluous zeros; what is odd has none."""
    if a.mantissa == 0:
        a.scale = 0
    while a.scale > 0 and a.mantissa & 1 == 0 and a.mantissa % 10 == 0:
        a.mantissa = a.mantissa / 10
        a.scale -= 1
