"""Programs that look at one row at a time: compute more columns, drop rows, choose the columns that stay.

A program is a list of (operation, argument), run for every row with a stack of cells (row_cells.pxd). COLUMN and CONSTANT
push, and so does DOUBLE, whose argument are the bits of a double; the others take their operands from the stack and push
their result (OTHERWISE the first operand that has a value), except STORE, which takes a result as the next computed column,
and TEST, which takes a truth and drops the row unless it is true. Columns are numbered: the given ones first, then the
computed ones in order.

What a program does not know (typed literals outside of ids other than numbers, texts in order, numbers beyond 128 bits)
makes a row *undecided*: it is left to the caller, who knows all of SPARQL. Whether a row is undecided follows from its
terms alone.

What programs do most has steps of its own, which nobody asks for: a test of a column and a constant number is tried at once
before it is taken step by step, constants that are calculated with are numbers from the start, and a quotient that is
rounded is divided once. Sums, differences and products of what is in ids are tried in words.
"""

import cython
import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.values cimport (
    BOOLEAN, DECIMAL, MAX_SCALE, TYPED, compare_scaled, is_number, kind_of, make_id, mantissa_of, scale_of,
)
from millstream.kernels.numbers.doubles cimport double_id, read_double
from millstream.kernels.numbers.exact cimport divide_rounded
from millstream.kernels.numbers.long_numbers cimport read_long_number
from millstream.kernels.numbers.number_ids cimport MOST_SHORT, number_id, short_id, strip_zeros
from millstream.kernels.numbers.words cimport Word, add_words, multiply_words, read_word, subtract_words, word_of_number
from millstream.kernels.rows.row_cells cimport (
    ID, NUMBER, REAL, TRUE, TRUTH, UNKNOWN, Cell, apply_function, calculate, choose, compare_cells, connect, effect,
    has_no_value, holds, invert, is_outside, is_same, put_truth, test_kind, truth_of,
)
from millstream.kernels.rows.row_operations cimport (
    ABS, ADD, BOUND, CEIL, CHOOSE, COLUMN, CONSTANT, DIVIDE, DOUBLE, EQUAL, FLOOR, GREATER_OR_EQUAL, IS_BLANK, IS_IRI,
    IS_LITERAL, IS_NUMERIC, MINUS, MULTIPLY, NOT, OTHERWISE, PLUS, ROUND, SAME, STORE, SUBTRACT, TEST,
)

cnp.import_array()


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


@cython.final
cdef class RowProgram:
    """A program for rows of `width` columns; `outputs` are the numbers of the columns that stay, -1 for one that is never
    bound.
    """

    def __cinit__(self, Dictionary dictionary not None, int width, steps, outputs):
        cdef int depth = 0, deepest = 0, stored = 0, i, operation
        cdef int64_t argument
        self.dictionary = dictionary
        self.width = width
        self.steps_count = len(steps)
        self.outputs_count = len(outputs)
        self.steps = <Step*>calloc(self.steps_count + 1, sizeof(Step))
        self.outputs = <int64_t*>calloc(self.outputs_count + 1, sizeof(int64_t))
        if self.steps == NULL or self.outputs == NULL:
            raise MemoryError
        for i in range(self.steps_count):
            operation, argument = steps[i]
            self.steps[i].operation = operation
            self.steps[i].argument = argument
            if operation == COLUMN and not 0 <= argument < width + stored:
                raise ValueError(f"there is no column {argument} among {width + stored}")
            if not COLUMN <= operation <= IS_NUMERIC:
                raise ValueError(f"there is no operation {operation}")
            depth += effect(operation)
            stored += operation == STORE
            deepest = max(deepest, depth)
            if depth < (0 if operation == STORE or operation == TEST else 1):
                raise ValueError(f"step {i} takes more than there is")
        if depth:
            raise ValueError(f"{depth} results are neither stored nor tested")
        for i in range(self.outputs_count):
            self.outputs[i] = outputs[i]
            if not -1 <= self.outputs[i] < width + stored:
                raise ValueError(f"there is no column {outputs[i]} among {width + stored}")
        self.computed = <int64_t*>calloc(stored + 1, sizeof(int64_t))
        self.stack = <Cell*>calloc(deepest + 1, sizeof(Cell))
        if self.computed == NULL or self.stack == NULL:
            raise MemoryError
        self.make_short()

    def __dealloc__(self):
        free(self.steps)
        free(self.outputs)
        free(self.computed)
        free(self.stack)

    cdef int make_short(self) except -1:
        """Puts a shortcut before each test of a column and a number, and reads numbers that are calculated with."""
        cdef Step* steps = <Step*>calloc(2 * self.steps_count + 1, sizeof(Step))
        cdef Step* step
        cdef int i, left, size = 0
        if steps == NULL:
            raise MemoryError
        for i in range(self.steps_count):
            step = self.steps + i
            left = self.steps_count - i
            if step.operation == ROUND and i and steps[size - 1].operation == DIVIDE:
                steps[size - 1].operation = ROUNDED_QUOTIENT
                continue
            if left >= SKIPPED and step.operation == COLUMN and is_numeral(step + 1) and \
                    EQUAL <= step[2].operation <= GREATER_OR_EQUAL and step[3].operation == TEST:
                steps[size].operation = SHORTCUT
                steps[size].argument = step.argument
                steps[size].meant = step[2].operation
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
        free(self.steps)
        self.steps = steps
        self.steps_count = size
        return 0

    cdef int resolve(self, Cell* cell) except -1:
        """Makes a number of the id of a double or of a long number; `is_outside` says where that is worth a call."""
        if read_double(self.dictionary, cell.id, &cell.real):
            cell.what = REAL
        elif read_long_number(self.dictionary, cell.id, &cell.number):
            cell.what = NUMBER
        return 0

    cdef int store(self, Cell* cell) except -1:
        """Takes a result as the next computed column."""
        cdef int64_t term_id = -1
        if cell.what == ID:
            term_id = cell.id
        elif cell.what == TRUTH:
            term_id = make_id(BOOLEAN, cell.truth)
        elif cell.what == REAL:
            term_id = double_id(self.dictionary, cell.real)
        elif cell.what == NUMBER and cell.number.scale == 0 and -MOST_SHORT < cell.number.mantissa < MOST_SHORT:
            term_id = short_id(<int64_t>cell.number.mantissa, cell.number.decimal)
        elif cell.what == NUMBER:
            strip_zeros(&cell.number.mantissa, &cell.number.scale)
            if cell.number.scale > MAX_SCALE:
                return UNDECIDED
            term_id = number_id(self.dictionary, cell.number.mantissa, cell.number.scale, cell.number.decimal)
        if 0 <= kind_of(term_id) <= TYPED:
            self.made_terms = True
        self.computed[self.stored] = term_id
        self.stored += 1
        return KEPT

    cdef bint calculate_words(self, const Step* step, int64_t** columns, int64_t row, Cell* into) noexcept nogil:
        """Whether both operands are numbers in ids and the result is in a word."""
        cdef Word a, b
        if step.argument < 0:
            a = word_of_number(&step.number)
        elif not read_word(self.value(step.argument, columns, row), &a):
            return False
        if step.other < 0:
            b = word_of_number(&step.number)
        elif not read_word(self.value(step.other, columns, row), &b):
            return False
        if not (add_words(&a, &b) if step.meant == ADD else subtract_words(&a, &b) if step.meant == SUBTRACT
                else multiply_words(&a, &b)):
            return False
        into.what = NUMBER
        into.number.mantissa = a.mantissa
        into.number.scale = a.scale
        into.number.decimal = a.decimal
        return True

    cdef int run_row(self, int64_t** columns, int64_t row) except -1:
        cdef Cell* top = self.stack - 1
        cdef Step* step = self.steps
        cdef Step* end = self.steps + self.steps_count
        cdef int operation, truth
        cdef bint decided
        cdef int64_t term_id
        self.stored = 0
        while step < end:
            operation = step.operation
            decided = True
            # Conditions are lists of constants, of which the compiler makes one jump.
            if operation == COLUMN:
                top += 1
                top.what = ID
                top.id = self.value(step.argument, columns, row)
            elif operation == SHORTCUT:
                term_id = self.value(step.argument, columns, row)
                if is_number(term_id):
                    if not holds(step.meant, order_beside(term_id, &step.number)):
                        return DROPPED
                    step += SKIPPED
            elif operation == IN_WORDS:
                top += 1
                if self.calculate_words(step, columns, row, top):
                    step += CALCULATED
                else:
                    top -= 1
            elif operation == NUMERAL:
                top += 1
                top.what = NUMBER
                top.number = step.number
            elif operation == ROUNDED_QUOTIENT:
                top -= 1
                if top.what != NUMBER or top[1].what != NUMBER or not divide_rounded(&top.number, &top[1].number):
                    if is_outside(top):
                        self.resolve(top)
                    if is_outside(top + 1):
                        self.resolve(top + 1)
                    decided = calculate(DIVIDE, top, top + 1) and apply_function(ROUND, top)
            elif operation == CONSTANT:
                top += 1
                top.what = ID
                top.id = step.argument
            elif operation == DOUBLE:
                top += 1
                top.what = REAL
                memcpy(&top.real, &step.argument, sizeof(double))
            elif operation == SAME:
                top -= 1
                decided = is_same(top, top + 1)
            elif operation == OTHERWISE:
                top -= 1
                if has_no_value(top):
                    top[0] = top[1]
            elif operation == CHOOSE:
                top -= 2
                if is_outside(top):
                    self.resolve(top)
                decided = choose(top, top + 1, top + 2)
            elif operation in (IS_IRI, IS_BLANK, IS_LITERAL):
                decided = test_kind(operation, top)
            elif operation in (NOT, IS_NUMERIC, PLUS, MINUS, ABS, ROUND, CEIL, FLOOR):
                if is_outside(top):
                    self.resolve(top)
                if operation == NOT:
                    decided = invert(top)
                elif operation == IS_NUMERIC:
                    decided = test_kind(operation, top)
                else:
                    decided = apply_function(operation, top)
            elif operation == BOUND:
                put_truth(top, top.what != ID or top.id >= 0)
            elif operation == STORE:
                decided = self.store(top) == KEPT
                top -= 1
            elif operation == TEST:
                if is_outside(top):
                    self.resolve(top)
                truth = truth_of(top)
                if truth != TRUE:
                    return UNDECIDED if truth == UNKNOWN else DROPPED
                top -= 1
            else:
                top -= 1
                if is_outside(top):
                    self.resolve(top)
                if is_outside(top + 1):
                    self.resolve(top + 1)
                if operation <= DIVIDE:
                    decided = calculate(operation, top, top + 1)
                elif operation <= GREATER_OR_EQUAL:
                    decided = compare_cells(operation, top, top + 1)
                else:
                    decided = connect(operation, top, top + 1)
            if not decided:
                return UNDECIDED
            step += 1
        return KEPT

    def run(self, columns):
        """The columns that stay, by row; the places of the rows they are of and of the undecided ones, None if all and if
        none.
        """
        cdef cnp.ndarray given = np.asfortranarray(columns, np.int64)
        cdef int64_t rows, row, kept = 0, undecided = 0
        cdef int64_t** pointers
        cdef int64_t* into
        cdef int64_t* place
        cdef int outcome, i
        if given.ndim != 2 or given.shape[1] != self.width:
            raise ValueError(f"expected {self.width} columns, got {given.shape[1] if given.ndim == 2 else given.ndim}")
        rows = given.shape[0]
        found = np.empty((self.outputs_count, rows), np.int64)
        places = np.empty(rows, np.int64) if rows > 1 else np.zeros(rows, np.int64)
        into = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>found)
        place = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>places)
        pointers = <int64_t**>calloc(self.width + 1, sizeof(int64_t*))
        if pointers == NULL:
            raise MemoryError
        for i in range(self.width):
            pointers[i] = (<int64_t*>cnp.PyArray_DATA(given)) + i * rows
        try:
            for row in range(rows):
                outcome = self.run_row(pointers, row)
                if outcome == KEPT:
                    for i in range(self.outputs_count):
                        into[i * rows + kept] = self.output(i, pointers, row)
                    place[kept] = row
                    kept += 1
                elif outcome == UNDECIDED:
                    undecided += 1
                    place[rows - undecided] = row
        finally:
            free(pointers)
        if kept == rows:
            return found.T, None, None
        return found[:, :kept].T, places[:kept], places[rows - undecided :][::-1] if undecided else None
