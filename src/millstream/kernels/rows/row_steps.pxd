"""Steps of row programs, and what those are of which nobody but a program knows (row_shortening.pxd)."""

from libc.stdint cimport int64_t

from millstream.kernels.dictionary.values cimport (
    DECIMAL, MAX_SCALE, compare_scaled, is_number, kind_of, mantissa_of, scale_of,
)
from millstream.kernels.numbers.exact cimport Number
from millstream.kernels.rows.row_operations cimport COLUMN, CONSTANT

cdef enum:
    # Operations of which nobody but a program knows.
    NUMERAL = 64                # pushes a constant that is calculated with, as a number
    SHORTCUT = 65               # decides the test that follows, of a column and a constant, if both are numbers in ids
    ROUNDED_QUOTIENT = 66       # a division and the rounding that follows
    IN_WORDS = 67               # calculates what follows, of columns and a constant, if all of it is in words
    BESIDE = 68                 # decides the test that follows, of two columns, if their values are in ids and comparable
    LINE = 69                   # calculates and stores what follows, if all of it is in words (row_lines.pxd)
    LINK = 70                   # an operand of a line
    QUOTIENT = 71               # finds and stores what follows, of two columns, if it was calculated before
    SKIPPED = 4                 # steps that a test at once replaces
    CALCULATED = 3              # steps that a calculation in words replaces

cdef struct Step:
    int operation
    int meant                   # by a shortcut or in words: which comparison or calculation
    int end                     # the step that takes the result of the expression this one is of
    int64_t argument
    int64_t other               # the second column; in words -1 for the number, as it is for the argument
    Number number               # of a numeral, of a shortcut, in words


cdef inline bint is_numeral(const Step* step) noexcept nogil:
    return step.operation == CONSTANT and is_number(step.argument) and scale_of(step.argument) <= MAX_SCALE


cdef inline bint is_operand(const Step* step) noexcept nogil:
    return step.operation == COLUMN or is_numeral(step)


cdef inline Number number_of_id(int64_t term_id) noexcept nogil:
    cdef Number number
    number.mantissa = mantissa_of(term_id)
    number.scale = scale_of(term_id)
    number.decimal = kind_of(term_id) == DECIMAL
    return number


cdef inline int order_beside(int64_t term_id, const Number* number) noexcept nogil:
    """The order of two numbers that are inside ids."""
    cdef int64_t one = mantissa_of(term_id), other = <int64_t>number.mantissa
    if scale_of(term_id) == number.scale:
        return (one > other) - (one < other)
    return compare_scaled(one, scale_of(term_id), other, number.scale)
