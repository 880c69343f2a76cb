"""Steps of row programs, and the shorter ones that they become.

What programs do most has steps of its own, which nobody asks for: a test of a column and a constant number, or of two
columns, is tried at once before it is taken step by step, constants that are calculated with are numbers from the start, and
a quotient that is rounded is divided once. Sums, differences and products of what is in ids are tried in words.
"""

from libc.stdint cimport int64_t

from millstream.kernels.dictionary.values cimport (
    DECIMAL, MAX_SCALE, compare_scaled, is_number, kind_of, mantissa_of, scale_of,
)
from millstream.kernels.numbers.exact cimport Number
from millstream.kernels.rows.row_operations cimport (
    ADD, COLUMN, CONSTANT, DIVIDE, EQUAL, GREATER_OR_EQUAL, MULTIPLY, ROUND, SKIP_IF_FALSE, SKIP_IF_TRUE, STORE, TEST,
)

cdef enum:
    # Operations of which nobody but a program knows.
    NUMERAL = 64                # pushes a constant that is calculated with, as a number
    SHORTCUT = 65               # decides the test that follows, of a column and a constant, if both are numbers in ids
    ROUNDED_QUOTIENT = 66       # a division and the rounding that follows
    IN_WORDS = 67               # calculates what follows, of columns and a constant, if all of it is in words
    BESIDE = 68                 # decides the test that follows, of two columns, if their values are in ids and comparable
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


cdef inline void shorten(const Step* given, int count, Step* steps, int* place_of) noexcept nogil:
    """Writes at most twice as many steps; `place_of` is where each of the given ones is, or would be, among them."""
    cdef const Step* step
    cdef int i, left, size = 0
    for i in range(count):
        step = given + i
        left = count - i
        place_of[i] = size
        if step.operation == ROUND and i and steps[size - 1].operation == DIVIDE:
            steps[size - 1].operation = ROUNDED_QUOTIENT
            continue
        if left >= SKIPPED and step.operation == COLUMN and is_operand(step + 1) and \
                EQUAL <= step[2].operation <= GREATER_OR_EQUAL and step[3].operation == TEST:
            steps[size].argument = step.argument
            steps[size].meant = step[2].operation
            if step[1].operation == COLUMN:
                steps[size].operation = BESIDE
                steps[size].other = step[1].argument
            else:
                steps[size].operation = SHORTCUT
                steps[size].number = number_of_id(step[1].argument)
            size += 1
        if left >= CALCULATED and ADD <= step[2].operation <= MULTIPLY and is_operand(step) and \
                is_operand(step + 1) and (step.operation == COLUMN or step[1].operation == COLUMN):
            steps[size].operation = IN_WORDS
            steps[size].meant = step[2].operation
            steps[size].argument = step.argument if step.operation == COLUMN else -1
            steps[size].other = step[1].argument if step[1].operation == COLUMN else -1
            if step.operation != COLUMN or step[1].operation != COLUMN:
                steps[size].number = number_of_id((step + (step.operation == COLUMN)).argument)
            size += 1
        steps[size] = step[0]
        # The operands of a calculation: what stands right before it, and what stands before a column.
        if is_numeral(step) and ((left > 1 and ADD <= step[1].operation <= DIVIDE) or (
                left > 2 and step[1].operation == COLUMN and ADD <= step[2].operation <= DIVIDE)):
            steps[size].operation = NUMERAL
            steps[size].number = number_of_id(step.argument)
        size += 1
    place_of[count] = size


cdef inline void link(Step* steps, int count, const int* place_of) noexcept nogil:
    """Has each step know where its expression ends, and those that skip how many of the new steps that are."""
    cdef int i = count, at, end = 0
    while i:
        i -= 1
        at = place_of[i + 1]
        while at > place_of[i]:
            at -= 1
            if steps[at].operation == STORE or steps[at].operation == TEST:
                end = at
            steps[at].end = end
            if SKIP_IF_FALSE <= steps[at].operation <= SKIP_IF_TRUE:
                steps[at].argument = place_of[i + 1 + steps[at].argument] - place_of[i] - 1
