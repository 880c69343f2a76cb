"""Programs that look at one row at a time: compute more columns, drop rows, choose the columns that stay.

A program is a list of (operation, argument), run for every row with a stack of cells (row_cells.pxd). COLUMN and CONSTANT
push, and so does DOUBLE, whose argument are the bits of a double; the others take their operands from the stack and push
their result (OTHERWISE the first operand that has a value; MEMBER whether the operand is one of the choices that its
argument numbers, MATCHES whether a Python function of a text says so), except STORE, which takes a result as the next
computed column, and TEST, which takes a truth and drops the row unless it is true. Columns are numbered: the given ones
first, then the computed ones in order.

Not all that SPARQL knows has a kernel (typed literals outside of ids other than numbers, letters beyond ASCII where case
matters, numbers beyond 128 bits). Every expression therefore has a *definition* (definition.pyx), which the argument of its
STORE or TEST numbers: where a step cannot tell, the definition gives the value of the whole expression. DEFINED pushes what
a definition gives, for a part without any kernel; SKIP_IF_FALSE and SKIP_IF_TRUE go past as many steps as they say, so that
an operand of && or || is not asked for in vain.
"""

import cython
import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.values cimport BOOLEAN, INCOMPARABLE, MAX_SCALE, TYPED, compare_inlined, is_number, \
    kind_of, make_id
from millstream.kernels.numbers.doubles cimport double_id, read_double
from millstream.kernels.numbers.exact cimport divide_rounded
from millstream.kernels.numbers.long_numbers cimport read_long_number
from millstream.kernels.numbers.number_ids cimport MOST_SHORT, new_number_id, number_id, short_id, strip_zeros
from millstream.kernels.rows.definition cimport Definition, TextTest
from millstream.kernels.rows.row_cells cimport (
    FALSE, ID, NUMBER, REAL, TEXT, TRUE, TRUTH, UNKNOWN, Cell, apply_function, calculate, choose, connect, effect,
    has_no_value, holds, invert, is_outside, is_same, put_truth, test_kind, truth_of,
)
from millstream.kernels.rows.row_comparisons cimport compare, is_member
from millstream.kernels.rows.row_dates cimport take_part
from millstream.kernels.rows.row_lines cimport calculate_words, line_id
from millstream.kernels.rows.row_quotients cimport find_quotient, is_remembered, keep_quotient
from millstream.kernels.rows.row_operations cimport (
    ABS, ADD, BOUND, CEIL, CHOOSE, COLUMN, CONCAT, CONSTANT, CONTAINS, DAY, DEFINED, DIVIDE, DOUBLE, FLOOR,
    GREATER_OR_EQUAL, HOURS, IS_BLANK, IS_IRI, IS_LITERAL, IS_NUMERIC, LANG, LCASE, MATCHES, MEMBER, MINUS, MINUTES, MONTH,
    NOT, OTHERWISE, PLUS, ROUND, SAME, SECONDS, SKIP_IF_FALSE, SKIP_IF_TRUE, STORE, STR, STRAFTER, STRBEFORE, STRENDS,
    STRLEN, STRSTARTS, SUBSTR, SUBSTR_OF, SUBTRACT, TEST, UCASE, YEAR,
)
from millstream.kernels.rows.row_shortening cimport link, shorten
from millstream.kernels.rows.row_steps cimport (
    BESIDE, CALCULATED, IN_WORDS, LINE, NUMERAL, QUOTIENT, ROUNDED_QUOTIENT, SHORTCUT, SKIPPED, Step, order_beside,
)
from millstream.kernels.rows.row_texts cimport apply_to_text, connect_texts, read_string, take_substring, text_id

cnp.import_array()


@cython.final
cdef class RowProgram:
    """A program for rows of `width` columns; `outputs` are the numbers of the columns that stay, -1 for one that is never
    bound.
    """

    def __cinit__(self, Dictionary dictionary not None, int width, steps, outputs, definitions=(), choices=(), tests=(),
                  int64_t most_bytes=0):
        cdef int depth = 0, deepest = 0, stored = 0, most = 0, i
        cdef Definition definition
        self.dictionary = dictionary
        self.width = width
        self.definitions = tuple(definitions)
        self.tests = tuple(tests)
        self.arena.most = most_bytes
        self.choices = tuple([np.unique(np.asarray(ids, np.int64)) for ids in choices])
        self.steps_count = len(steps)
        self.outputs_count = len(outputs)
        self.steps = <Step*>calloc(self.steps_count + 1, sizeof(Step))
        self.outputs = <int64_t*>calloc(self.outputs_count + 1, sizeof(int64_t))
        if self.steps == NULL or self.outputs == NULL:
            raise MemoryError
        skipped = {}
        for i in range(self.steps_count):
            self.steps[i].operation, self.steps[i].argument = steps[i]
            if skipped.pop(i, depth) != depth:
                raise ValueError(f"there is no operand at step {i} if steps are skipped")
            self.check(self.steps + i, depth, stored)
            depth += effect(self.steps[i].operation)
            stored += self.steps[i].operation == STORE
            deepest = max(deepest, depth)
            if SKIP_IF_FALSE <= self.steps[i].operation <= SKIP_IF_TRUE:
                skipped[i + 1 + self.steps[i].argument] = depth
        for definition in self.definitions:
            most = max(most, definition.count)
        if skipped:
            raise ValueError("there is no step to skip to")
        if depth:
            raise ValueError(f"{depth} results are neither stored nor tested")
        for i in range(self.outputs_count):
            self.outputs[i] = outputs[i]
            if not -1 <= self.outputs[i] < width + stored:
                raise ValueError(f"there is no column {outputs[i]} among {width + stored}")
        self.computed = <int64_t*>calloc(stored + 1, sizeof(int64_t))
        self.stack = <Cell*>calloc(deepest + 1, sizeof(Cell))
        self.asked = <int64_t*>calloc(most + 1, sizeof(int64_t))
        if self.computed == NULL or self.stack == NULL or self.asked == NULL:
            raise MemoryError
        self.make_short()

    cdef int check(self, const Step* step, int depth, int stored) except -1:
        """Refuses a step that makes no sense after others that leave `depth` cells and have stored some columns."""
        cdef Definition definition
        cdef int operation = step.operation, i
        cdef int64_t argument = step.argument
        cdef bint ends = operation == STORE or operation == TEST
        if not COLUMN <= operation <= SECONDS:
            raise ValueError(f"there is no operation {operation}")
        if depth + effect(operation) < (0 if ends else 1) or (ends and depth != 1):
            raise ValueError(f"operation {operation} takes more than there is, or leaves something")
        if operation == COLUMN and not 0 <= argument < self.width + stored:
            raise ValueError(f"there is no column {argument} among {self.width + stored}")
        if operation == MATCHES and not 0 <= argument < len(self.tests):
            raise ValueError(f"there is no test {argument} among {len(self.tests)}")
        if operation == MEMBER and not 0 <= argument < len(self.choices):
            raise ValueError(f"there is no list of choices {argument} among {len(self.choices)}")
        if SKIP_IF_FALSE <= operation <= SKIP_IF_TRUE and not 0 < argument < self.steps_count:
            raise ValueError(f"there is no step to skip to behind {argument} steps")
        if operation == DEFINED or (ends and argument != -1):
            if not 0 <= argument < len(self.definitions):
                raise ValueError(f"there is no definition {argument} among {len(self.definitions)}")
            definition = self.definitions[argument]
            for i in range(definition.count):
                if not 0 <= definition.places[i] < self.width + stored:
                    raise ValueError(f"there is no column {definition.places[i]} among {self.width + stored}")
        return 0

    def __dealloc__(self):
        free(self.asked)
        free(self.quotients.table)
        free(self.arena.bytes)
        free(self.steps)
        free(self.outputs)
        free(self.computed)
        free(self.stack)

    cdef int make_short(self) except -1:
        """Has what programs do most done in fewer steps (row_shortening.pxd)."""
        cdef Step* steps = <Step*>calloc(2 * self.steps_count + 1, sizeof(Step))
        cdef int* place_of = <int*>calloc(self.steps_count + 1, sizeof(int))
        cdef int i
        if steps == NULL or place_of == NULL:
            free(steps)
            free(place_of)
            raise MemoryError
        shorten(self.steps, self.steps_count, steps, place_of)
        link(steps, self.steps_count, place_of)
        free(self.steps)
        self.steps = steps
        self.steps_count = place_of[self.steps_count]
        free(place_of)
        self.first_quotient = -1
        for i in range(self.steps_count - 1, -1, -1):
            if steps[i].operation == QUOTIENT and max(steps[i].argument, steps[i].other) < self.width:
                self.first_quotient = i
        return 0

    cdef int64_t define(self, int64_t number, int64_t** columns, int64_t row) except -2:
        """The id of what a definition gives for a row, -1 for an error."""
        cdef Definition definition
        cdef int i
        if number < 0:
            raise ValueError("a row that only a definition could decide")
        definition = self.definitions[number]
        for i in range(definition.count):
            self.asked[i] = self.value(definition.places[i], columns, row)
        return definition.value(self.asked)

    cdef bint matches(self, int64_t number, Cell* cell) except -1:
        """Makes the truth of a test of texts, whether that can be told."""
        if not read_string(self.dictionary, &self.arena, cell):
            return False
        if cell.what == TEXT:
            put_truth(cell, (<TextTest?>self.tests[number]).truth(
                cell.text, cell.length, not self.arena.bytes <= cell.text < self.arena.bytes + self.arena.room))
        return True

    cdef int resolve(self, Cell* cell) except -1:
        """Makes a number of the id of a double or of a long number; `is_outside` says where that is worth a call."""
        if read_double(self.dictionary, cell.id, &cell.real):
            cell.what = REAL
        elif read_long_number(self.dictionary, cell.id, &cell.number):
            cell.what = NUMBER
        return 0

    cdef int store(self, Cell* cell) except -1:
        """Takes a result as the next computed column, unless it is not spelled here."""
        cdef int64_t term_id = -1
        if cell.what == ID:
            term_id = cell.id
        elif cell.what == TRUTH:
            term_id = make_id(BOOLEAN, cell.truth)
        elif cell.what == REAL:
            term_id = double_id(self.dictionary, cell.real)
        elif cell.what == TEXT:
            term_id = text_id(self.dictionary, &self.arena, cell)
            if term_id < 0:
                return False
        elif cell.what == NUMBER and cell.number.scale == 0 and -MOST_SHORT < cell.number.mantissa < MOST_SHORT:
            term_id = short_id(<int64_t>cell.number.mantissa, cell.number.decimal)
        elif cell.what == NUMBER:
            strip_zeros(&cell.number.mantissa, &cell.number.scale)
            if cell.number.scale > MAX_SCALE:
                return False
            if self.sought == NULL:
                term_id = number_id(self.dictionary, cell.number.mantissa, cell.number.scale, cell.number.decimal)
            else:
                # It is remembered here: once is enough.
                term_id = new_number_id(self.dictionary, cell.number.mantissa, cell.number.scale, cell.number.decimal)
        if self.sought != NULL:
            keep_quotient(self.sought, term_id, self.dictionary)
            self.sought = NULL
        return self.put(term_id)

    cdef bint put(self, int64_t term_id) noexcept nogil:
        """Takes an id as the next computed column."""
        if 0 <= kind_of(term_id) <= TYPED:
            self.made_terms = True
        self.computed[self.stored] = term_id
        self.stored += 1
        return True

    cdef int run_row(self, int64_t** columns, int64_t row) except -1:
        cdef Cell* top = self.stack - 1
        cdef Step* step = self.steps
        cdef Step* end = self.steps + self.steps_count
        cdef int operation, truth, order
        cdef bint decided
        cdef int64_t term_id
        self.stored = 0
        self.sought = NULL
        self.arena.used = 0
        while step < end:
            operation = step.operation
            decided = True
            # Conditions are lists of constants, of which the compiler makes one jump.
            if operation == COLUMN:
                top += 1
                top.what = ID
                top.id = self.value(step.argument, columns, row)
            elif operation == LINE:
                term_id = line_id(step, self.width, columns, row, self.computed)
                if term_id >= 0:
                    self.put(term_id)
                    step = self.steps + step.end
                else:
                    step += step.argument
            elif operation == QUOTIENT:
                self.sought = find_quotient(&self.quotients, self.value(step.argument, columns, row),
                                            self.value(step.other, columns, row))
                if self.sought != NULL and is_remembered(self.sought, self.dictionary):
                    self.put(self.sought.value)
                    self.sought = NULL
                    step = self.steps + step.end
            elif operation == SHORTCUT:
                term_id = self.value(step.argument, columns, row)
                if is_number(term_id):
                    if not holds(step.meant, order_beside(term_id, &step.number)):
                        return DROPPED
                    step += SKIPPED
            elif operation == BESIDE:
                order = compare_inlined(self.value(step.argument, columns, row), self.value(step.other, columns, row))
                if order != INCOMPARABLE:
                    if not holds(step.meant, order):
                        return DROPPED
                    step += SKIPPED
            elif operation == IN_WORDS:
                top += 1
                if calculate_words(step, self.width, columns, row, self.computed, &top.number):
                    top.what = NUMBER
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
                decided = self.store(top)
                top -= 1
            elif operation == TEST:
                if is_outside(top):
                    self.resolve(top)
                truth = truth_of(top)
                decided = truth != UNKNOWN
                if decided and truth != TRUE:
                    return DROPPED
                top -= 1
            elif operation == DEFINED:
                top += 1
                top.what = ID
                top.id = self.define(step.argument, columns, row)
            elif operation == MEMBER:
                if is_outside(top):
                    self.resolve(top)
                decided = is_member(self.dictionary, &self.arena, self.choices[step.argument], top)
            elif operation == MATCHES:
                decided = self.matches(step.argument, top)
            elif operation in (STR, LANG, STRLEN, LCASE, UCASE):
                decided = apply_to_text(operation, self.dictionary, &self.arena, top)
            elif operation in (CONTAINS, STRSTARTS, STRENDS, STRBEFORE, STRAFTER, CONCAT):
                top -= 1
                decided = connect_texts(operation, self.dictionary, &self.arena, top, top + 1)
            elif operation in (SUBSTR, SUBSTR_OF):
                top -= 1 if operation == SUBSTR else 2
                decided = take_substring(self.dictionary, &self.arena, top, operation == SUBSTR_OF)
            elif operation in (YEAR, MONTH, DAY, HOURS, MINUTES, SECONDS):
                decided = take_part(operation, top)
            elif operation in (SKIP_IF_FALSE, SKIP_IF_TRUE):
                truth = truth_of(top)
                if truth == (FALSE if operation == SKIP_IF_FALSE else TRUE):
                    put_truth(top, truth)
                    step += step.argument
            else:
                top -= 1
                if is_outside(top):
                    self.resolve(top)
                if is_outside(top + 1):
                    self.resolve(top + 1)
                if operation <= DIVIDE:
                    decided = calculate(operation, top, top + 1)
                elif operation <= GREATER_OR_EQUAL:
                    decided = compare(operation, self.dictionary, &self.arena, top, top + 1)
                else:
                    decided = connect(operation, top, top + 1)
            if not decided:
                # The expression began with an empty stack.
                step = self.steps + step.end
                top = self.stack
                top.what = ID
                top.id = self.define(step.argument, columns, row)
                if step.operation == STORE:
                    self.store(top)
                elif truth_of(top) != TRUE:
                    return DROPPED
                top -= 1
            step += 1
        return KEPT

    def run(self, columns):
        """The columns that stay, by row, and the places of the rows they are of."""
        cdef cnp.ndarray given = np.asfortranarray(columns, np.int64)
        cdef int64_t rows, row, kept = 0
        cdef int64_t** pointers
        cdef int64_t* into
        cdef int64_t* place
        cdef int i
        if given.ndim != 2 or given.shape[1] != self.width:
            raise ValueError(f"expected {self.width} columns, got {given.shape[1] if given.ndim == 2 else given.ndim}")
        rows = given.shape[0]
        found = np.empty((self.outputs_count, rows), np.int64)
        places = np.empty(rows, np.int64)
        into = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>found)
        place = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>places)
        pointers = <int64_t**>calloc(self.width + 1, sizeof(int64_t*))
        if pointers == NULL:
            raise MemoryError
        for i in range(self.width):
            pointers[i] = (<int64_t*>cnp.PyArray_DATA(given)) + i * rows
        try:
            for row in range(rows):
                if self.run_row(pointers, row) == KEPT:
                    for i in range(self.outputs_count):
                        into[i * rows + kept] = self.output(i, pointers, row)
                    place[kept] = row
                    kept += 1
        finally:
            free(pointers)
        return found[:, :kept].T, places[:kept]
