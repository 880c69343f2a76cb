"""Lines: expressions that calculate from left to right with columns and constants, and store the result.

`ROUND((a - ?x) * 2 / b)` is one. In front of its steps stand a head, which says how many links follow, and the links: the
first operand, then each further one with what is done with it and the result so far. A line is tried in words; the steps
are taken only where some of it is not in words or the result not in an id.
"""

from libc.stdint cimport int64_t

from millstream.kernels.numbers.exact cimport Number
from millstream.kernels.numbers.number_ids cimport inlined_id
from millstream.kernels.numbers.words cimport (
    Word, add_words, divide_words, multiply_words, read_word, strip_word, subtract_words, word_of_number,
)
from millstream.kernels.rows.row_operations cimport ADD, COLUMN, DIVIDE, MULTIPLY, ROUND, STORE, SUBTRACT
from millstream.kernels.rows.row_steps cimport LINE, LINK, Step, is_operand, number_of_id


cdef inline int line_links(const Step* given, int left) noexcept nogil:
    """How many links the line at the beginning of an expression has, 0 if it is none."""
    cdef int at = 1, links = 1
    if left < 4 or not is_operand(given):
        return 0
    while at < left and given[at].operation != STORE:
        if left - at < 3 or not is_operand(given + at):
            return 0
        if ADD <= given[at + 1].operation <= MULTIPLY:
            at += 2
        elif given[at + 1].operation == DIVIDE and given[at + 2].operation == ROUND:
            at += 3
        else:
            return 0
        links += 1
    return links if at < left and links > 1 else 0


cdef inline int write_line(const Step* given, int links, Step* steps) noexcept nogil:
    """Writes the head and the links; how many steps that is."""
    cdef const Step* operand = given
    cdef int i
    steps[0].operation = LINE
    steps[0].argument = links
    for i in range(1, links + 1):
        steps[i].operation = LINK
        steps[i].argument = -1
        if operand.operation == COLUMN:
            steps[i].argument = operand.argument
        else:
            steps[i].number = number_of_id(operand.argument)
        steps[i].meant = operand[1].operation
        operand += 1 if i == 1 else 3 if operand[1].operation == DIVIDE else 2
    return links + 1


cdef inline bint read_column(int64_t place, int width, int64_t** columns, int64_t row, const int64_t* computed,
                             Word* word) noexcept nogil:
    return read_word(columns[place][row] if place < width else computed[place - width], word)


cdef inline bint read_link(const Step* link, int width, int64_t** columns, int64_t row, const int64_t* computed,
                           Word* word) noexcept nogil:
    """The operand of a link, if it is in a word."""
    if link.argument < 0:
        word[0] = word_of_number(&link.number)
        return True
    return read_column(link.argument, width, columns, row, computed, word)


cdef inline int64_t line_id(const Step* head, int width, int64_t** columns, int64_t row,
                            const int64_t* computed) noexcept nogil:
    """The id of what a line comes to, -1 if its steps have to be taken."""
    cdef const Step* link = head + 1
    cdef const Step* end = head + 1 + head.argument
    cdef Word result, operand
    if not read_link(link, width, columns, row, computed, &result):
        return -1
    link += 1
    while link < end:
        if not read_link(link, width, columns, row, computed, &operand):
            return -1
        if not (subtract_words(&result, &operand) if link.meant == SUBTRACT
                else add_words(&result, &operand) if link.meant == ADD
                else multiply_words(&result, &operand) if link.meant == MULTIPLY
                else divide_words(&result, &operand)):
            return -1
        link += 1
    strip_word(&result)
    return inlined_id(result.mantissa, result.scale, result.decimal)


cdef inline bint calculate_words(const Step* step, int width, int64_t** columns, int64_t row, const int64_t* computed,
                                 Number* into) noexcept nogil:
    """Whether both operands of a step are numbers in ids and the result is in a word."""
    cdef Word a = word_of_number(&step.number), b = a
    if step.argument >= 0 and not read_column(step.argument, width, columns, row, computed, &a):
        return False
    if step.other >= 0 and not read_column(step.other, width, columns, row, computed, &b):
        return False
    if not (add_words(&a, &b) if step.meant == ADD else subtract_words(&a, &b) if step.meant == SUBTRACT
            else multiply_words(&a, &b)):
        return False
    into.mantissa = a.mantissa
    into.scale = a.scale
    into.decimal = a.decimal
    return True
