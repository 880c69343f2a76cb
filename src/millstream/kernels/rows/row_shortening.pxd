"""What row programs do most, done in fewer steps: steps that nobody asks for take the place of others or stand before them.

A test of a column and a constant number, or of two columns, is tried at once before it is taken step by step, constants that
are calculated with are numbers from the start, and a quotient that is rounded is divided once. Sums, differences and
products of what is in ids are tried in words, and so are whole lines of them. Quotients of columns are remembered.
"""

from millstream.kernels.rows.row_lines cimport line_links, write_line
from millstream.kernels.rows.row_operations cimport (
    ADD, COLUMN, DIVIDE, EQUAL, GREATER_OR_EQUAL, MULTIPLY, ROUND, SKIP_IF_FALSE, SKIP_IF_TRUE, STORE, TEST,
)
from millstream.kernels.rows.row_steps cimport (
    BESIDE, CALCULATED, IN_WORDS, NUMERAL, QUOTIENT, ROUNDED_QUOTIENT, SHORTCUT, SKIPPED, Step, is_numeral, is_operand,
    number_of_id,
)


cdef inline void shorten(const Step* given, int count, Step* steps, int* place_of) noexcept nogil:
    """Writes at most twice as many steps; `place_of` is where each of the given ones is, or would be, among them."""
    cdef const Step* step
    cdef int i, left, links, size = 0, line_end = 0
    for i in range(count):
        step = given + i
        left = count - i
        place_of[i] = size
        links = line_links(step, left) if i == 0 or given[i - 1].operation == STORE or given[i - 1].operation == TEST else 0
        if links:
            size += write_line(step, links, steps + size)
            while given[line_end].operation != STORE or line_end < i:
                line_end += 1
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
        if left > CALCULATED and step.operation == COLUMN and step[1].operation == COLUMN and \
                step[2].operation == DIVIDE and step[3].operation == STORE:
            steps[size].operation = QUOTIENT
            steps[size].argument = step.argument
            steps[size].other = step[1].argument
            size += 1
        if i >= line_end and left >= CALCULATED and ADD <= step[2].operation <= MULTIPLY and is_operand(step) and \
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
