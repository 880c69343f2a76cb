"""Programs that look at one row at a time: compute more columns, drop rows, choose the columns that stay.

A program is a list of (operation, argument), run for every row with a stack of cells. A cell is the id of a column or a constant,
an exact number, a double, a truth, or an error. COLUMN and CONSTANT push, DOUBLE as well, whose argument are the bits of a double; the
others take their operands from the stack and push their result, except STORE, which takes a result as the next computed column, and TEST, which takes a truth and drops the
row unless it is true. Columns are numbered: the given ones first, then the computed ones in order.

What a program does not know (typed literals outside of ids other than doubles, texts in order, numbers beyond 128 bits) makes a row *undecided*: it
is left to the caller, who knows all of SPARQL. Whether a row is undecided follows from its ids alone.
"""

import cython
import numpy as np

cimport numpy as cnp
from libc.math cimport ceil, copysign, fabs, floor, isfinite, isnan
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from millstream.kernels.dictionary cimport Dictionary
from millstream.kernels.dictionary_values cimport (
    BLANK, BOOLEAN, DATETIME, DECIMAL, INCOMPARABLE, IRI, LANGUAGE, MAX_SCALE, POWER10, STRING, TYPED, compare_inlined, is_number,
    kind_of, make_id, mantissa_of, payload_of, scale_of,
)
from millstream.kernels.doubles cimport double_id, read_double
from millstream.kernels.exact cimport (
    DOWN, HALF_UP, UP, Number, add, compare, divide, multiply, negate, round_number, subtract,
)
from millstream.kernels.results cimport number_id, strip_zeros

cnp.import_array()

cpdef enum Operation:
    COLUMN = 0
    CONSTANT = 1
    ADD = 2
    SUBTRACT = 3
    MULTIPLY = 4
    DIVIDE = 5
    PLUS = 6
    MINUS = 7
    ABS = 8
    ROUND = 9
    CEIL = 10
    FLOOR = 11
    EQUAL = 12
    UNEQUAL = 13
    LESS = 14
    GREATER = 15
    LESS_OR_EQUAL = 16
    GREATER_OR_EQUAL = 17
    AND = 18
    OR = 19
    NOT = 20
    BOUND = 21
    STORE = 22
    TEST = 23
    DOUBLE = 24

cdef int64_t MOST_EXACT = <int64_t>1 << 53

cdef enum Truth:
    FALSE = 0
    TRUE = 1
    FAILED = 2
    UNKNOWN = 3

cdef inline bint is_push(int operation) noexcept nogil:
    return operation <= CONSTANT or operation == DOUBLE


cdef inline bint is_binary(int operation) noexcept nogil:
    return ADD <= operation <= DIVIDE or EQUAL <= operation <= OR


cdef inline bint read_number(Cell* cell) noexcept nogil:
    """Makes a number or an error of a cell, if that can be told."""
    if cell.what == ID:
        if is_number(cell.id):
            cell.what = NUMBER
            cell.number = Number(mantissa_of(cell.id), scale_of(cell.id), kind_of(cell.id) == DECIMAL)
        elif kind_of(cell.id) == TYPED:
            return False
        else:
            cell.what = ERROR
    elif cell.what == TRUTH:
        cell.what = ERROR
    return True


cdef inline int truth_of(const Cell* cell) noexcept nogil:
    """The effective boolean value."""
    if cell.what == TRUTH:
        return cell.truth
    if cell.what == REAL:
        return cell.real != 0 and not isnan(cell.real)
    if cell.what == NUMBER:
        return cell.number.mantissa != 0
    if cell.what == ERROR or cell.id < 0:
        return FAILED
    if kind_of(cell.id) == BOOLEAN:
        return payload_of(cell.id) != 0
    return mantissa_of(cell.id) != 0 if is_number(cell.id) else UNKNOWN


cdef inline void put_truth(Cell* cell, int truth) noexcept nogil:
    cell.what = ERROR if truth == FAILED else TRUTH
    cell.truth = truth


cdef inline bint make_real(Cell* cell) noexcept nogil:
    """Promotes a number to a double, if it is short enough for one division to round it."""
    if cell.what == NUMBER:
        if cell.number.scale > MAX_SCALE or not -MOST_EXACT <= cell.number.mantissa <= MOST_EXACT:
            return False
        cell.real = <double><int64_t>cell.number.mantissa / <double>POWER10[cell.number.scale]
        cell.what = REAL
    return True


cdef inline bint calculate_real(int operation, Cell* a, Cell* b) noexcept nogil:
    if not make_real(a) or not make_real(b):
        return False
    if operation == ADD:
        a.real = a.real + b.real
    elif operation == SUBTRACT:
        a.real = a.real - b.real
    elif operation == MULTIPLY:
        a.real = a.real * b.real
    else:
        a.real = a.real / b.real
    return True


cdef inline bint calculate(int operation, Cell* a, Cell* b) noexcept nogil:
    if not read_number(a) or not read_number(b):
        return False
    if (a.what == REAL or b.what == REAL) and a.what != ERROR and b.what != ERROR:
        return calculate_real(operation, a, b)
    if a.what == ERROR or b.what == ERROR or (operation == DIVIDE and b.number.mantissa == 0):
        a.what = ERROR
        return True
    if operation == ADD:
        return add(&a.number, &b.number)
    if operation == SUBTRACT:
        return subtract(&a.number, &b.number)
    if operation == MULTIPLY:
        return multiply(&a.number, &b.number)
    return divide(&a.number, &b.number)


cdef inline void apply_to_real(int operation, Cell* a) noexcept nogil:
    """Of what is rounded, zeros keep the sign."""
    cdef double below = floor(a.real)
    if operation == MINUS:
        a.real = -a.real
    elif operation == ABS:
        a.real = fabs(a.real)
    elif isfinite(a.real):
        if operation == CEIL:
            below = ceil(a.real)
        elif operation == ROUND and a.real - below >= 0.5:
            below += 1
        a.real = copysign(below, a.real)


cdef inline bint apply_function(int operation, Cell* a) noexcept nogil:
    if not read_number(a):
        return False
    if a.what == ERROR or operation == PLUS:
        return True
    if a.what == REAL:
        apply_to_real(operation, a)
        return True
    if operation == MINUS or operation == ABS:
        return negate(&a.number) if operation == MINUS or a.number.mantissa < 0 else True
    round_number(&a.number, HALF_UP if operation == ROUND else UP if operation == CEIL else DOWN)
    return True


cdef inline bint is_named(int kind) noexcept nogil:
    return kind == IRI or kind == BLANK or kind == LANGUAGE


cdef inline int compare_ids(int operation, int64_t a, int64_t b, int* order) noexcept nogil:
    """TRUE if the order is found, else the result or UNKNOWN; of two ids that are not in order the kinds decide."""
    cdef int one = kind_of(a), other = kind_of(b)
    if a < 0 or b < 0:
        return FAILED
    order[0] = compare_inlined(a, b)
    if order[0] != INCOMPARABLE:
        return TRUE
    if operation == EQUAL or operation == UNEQUAL:
        if not is_named(one) and not is_named(other) and (one == TYPED or other == TYPED or one == other == DATETIME):
            return UNKNOWN
        order[0] = a != b
        return TRUE
    if one == IRI or one == BLANK or other == IRI or other == BLANK:
        return FAILED
    if one == TYPED or other == TYPED or (one == other and (one == STRING or one == LANGUAGE or one == DATETIME)):
        return UNKNOWN
    return FAILED


cdef inline bint compare_reals(int operation, Cell* a, Cell* b) noexcept nogil:
    """NaN is neither less nor equal nor greater."""
    if not make_real(a) or not make_real(b):
        return False
    put_truth(a, a.real == b.real if operation == EQUAL else a.real != b.real if operation == UNEQUAL
              else a.real < b.real if operation == LESS else a.real > b.real if operation == GREATER
              else a.real <= b.real if operation == LESS_OR_EQUAL else a.real >= b.real)
    return True


cdef inline bint compare_cells(int operation, Cell* a, Cell* b) noexcept nogil:
    cdef int order = 0, found = TRUE
    cdef bint fits = True
    if a.what == ERROR or b.what == ERROR:
        a.what = ERROR
        return True
    if a.what == REAL or b.what == REAL:
        # Beside other than numbers both operands are as undecided as if none had been read.
        if a.what == ID and is_number(a.id):
            read_number(a)
        if b.what == ID and is_number(b.id):
            read_number(b)
        if (a.what != REAL and a.what != NUMBER) or (b.what != REAL and b.what != NUMBER):
            return False
        return compare_reals(operation, a, b)
    if a.what == ID and b.what == ID:
        found = compare_ids(operation, a.id, b.id, &order)
    elif (a.what == ID and a.id < 0) or (b.what == ID and b.id < 0):
        found = FAILED
    elif a.what == TRUTH or b.what == TRUTH or (a.what == ID and not is_number(a.id)) or (b.what == ID and not is_number(b.id)):
        return False
    else:
        read_number(a)
        read_number(b)
        order = compare(&a.number, &b.number, &fits)
    if found == UNKNOWN or not fits:
        return False
    if found == FAILED:
        a.what = ERROR
        return True
    put_truth(a, (order == 0) == (operation == EQUAL) if operation <= UNEQUAL
              else order < 0 if operation == LESS else order > 0 if operation == GREATER
              else order <= 0 if operation == LESS_OR_EQUAL else order >= 0)
    return True


cdef inline bint connect(int operation, Cell* a, Cell* b) noexcept nogil:
    """Section 17.2: the decisive truth decides, whatever the other operand."""
    cdef int one = truth_of(a), other = truth_of(b), decisive = FALSE if operation == AND else TRUE
    if one == decisive or other == decisive:
        put_truth(a, decisive)
        return True
    if one == UNKNOWN or other == UNKNOWN:
        return False
    put_truth(a, FAILED if one == FAILED or other == FAILED else 1 - decisive)
    return True


cdef inline bint invert(Cell* a) noexcept nogil:
    cdef int truth = truth_of(a)
    if truth == UNKNOWN:
        return False
    put_truth(a, FAILED if truth == FAILED else 1 - truth)
    return True


@cython.final
cdef class RowProgram:
    """A program for rows of `width` columns; `outputs` are the numbers of the columns that stay, -1 for one that is never bound."""

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
            self.steps[i] = Step(operation, argument)
            if operation == COLUMN and not 0 <= argument < width + stored:
                raise ValueError(f"there is no column {argument} among {width + stored}")
            if not COLUMN <= operation <= DOUBLE:
                raise ValueError(f"there is no operation {operation}")
            depth += 1 if is_push(operation) else -1 if is_binary(operation) or operation >= STORE else 0
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

    def __dealloc__(self):
        free(self.steps)
        free(self.outputs)
        free(self.computed)
        free(self.stack)

    cdef int resolve(self, Cell* cell) except -1:
        """Makes a number of a double's id."""
        if cell.what == ID and kind_of(cell.id) == TYPED and read_double(self.dictionary, cell.id, &cell.real):
            cell.what = REAL
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

    cdef int run_row(self, int64_t** columns, int64_t row) except -1:
        cdef Cell* top = self.stack - 1
        cdef Step* step = self.steps
        cdef Step* end = self.steps + self.steps_count
        cdef int operation, truth
        cdef bint decided
        self.stored = 0
        while step < end:
            operation = step.operation
            decided = True
            if operation == COLUMN:
                top += 1
                top.what = ID
                top.id = columns[step.argument][row] if step.argument < self.width else self.computed[step.argument - self.width]
            elif operation == CONSTANT:
                top += 1
                top.what = ID
                top.id = step.argument
            elif operation == DOUBLE:
                top += 1
                top.what = REAL
                memcpy(&top.real, &step.argument, sizeof(double))
            elif operation <= DIVIDE:
                top -= 1
                self.resolve(top)
                self.resolve(top + 1)
                decided = calculate(operation, top, top + 1)
            elif operation <= FLOOR:
                self.resolve(top)
                decided = apply_function(operation, top)
            elif operation <= GREATER_OR_EQUAL:
                top -= 1
                self.resolve(top)
                self.resolve(top + 1)
                decided = compare_cells(operation, top, top + 1)
            elif operation <= OR:
                top -= 1
                self.resolve(top)
                self.resolve(top + 1)
                decided = connect(operation, top, top + 1)
            elif operation == NOT:
                self.resolve(top)
                decided = invert(top)
            elif operation == BOUND:
                put_truth(top, top.what != ID or top.id >= 0)
            elif operation == STORE:
                decided = self.store(top) == KEPT
                top -= 1
            else:
                self.resolve(top)
                truth = truth_of(top)
                if truth != TRUE:
                    return UNDECIDED if truth == UNKNOWN else DROPPED
                top -= 1
            if not decided:
                return UNDECIDED
            step += 1
        return KEPT

    def run(self, columns):
        """The columns that stay, by row; the places of the rows they are of and of the undecided ones, None if all and if none."""
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
