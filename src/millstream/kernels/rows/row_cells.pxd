"""What row programs compute with: cells, and what operations make of them.

A cell is the id of a column or a constant, an exact number, a double, a truth, a text (row_texts.pxd), or an error. A
function that says False cannot tell.
"""

from libc.math cimport ceil, copysign, fabs, floor, isfinite, isnan
from libc.stdint cimport int64_t, uint8_t

from millstream.kernels.dictionary.values cimport (
    BLANK, BOOLEAN, DATETIME, DECIMAL, INCOMPARABLE, INTEGER, IRI, LANGUAGE, MAX_SCALE, POWER10, STRING, TYPED,
    compare_inlined, is_number, kind_of, mantissa_of, payload_of, scale_of,
)
from millstream.kernels.numbers.exact cimport (
    DOWN, HALF_UP, UP, Number, add, compare, divide, multiply, negate, round_number, subtract,
)
from millstream.kernels.rows.row_operations cimport (
    ABS, ADD, AND, CEIL, CHOOSE, CONSTANT, CONTAINS, DEFINED, DIVIDE, DOUBLE, EQUAL, GREATER, IS_BLANK, IS_IRI, IS_NUMERIC,
    LESS, LESS_OR_EQUAL, MINUS, MULTIPLY, OR, OTHERWISE, PLUS, ROUND, SAME, STORE, SUBSTR, SUBSTR_OF, SUBTRACT, TEST,
    UNEQUAL,
)

cdef enum What:
    ID
    NUMBER
    REAL
    TRUTH
    TEXT
    ERROR

cdef struct Cell:
    What what
    int truth                   # FALSE or TRUE
    int64_t id
    Number number
    double real
    const uint8_t* text
    int64_t length
    const uint8_t* tag          # the language of a text
    int64_t tag_length          # 0: without

cdef enum Truth:
    FALSE = 0
    TRUE = 1
    FAILED = 2
    UNKNOWN = 3

cdef inline int effect(int operation) noexcept nogil:
    """By how many cells a stack grows."""
    if operation <= CONSTANT or operation == DOUBLE or operation == DEFINED:
        return 1
    if operation == CHOOSE or operation == SUBSTR_OF:
        return -2
    if (ADD <= operation <= DIVIDE or EQUAL <= operation <= OR or STORE <= operation <= TEST
            or SAME <= operation <= OTHERWISE or CONTAINS <= operation <= SUBSTR):
        return -1
    return 0


cdef inline bint is_outside(const Cell* cell) noexcept nogil:
    """Whether a cell is the id of a typed literal in the dictionary."""
    return cell.what == ID and kind_of(cell.id) == TYPED


cdef inline bint read_number(Cell* cell) noexcept nogil:
    """Makes a number or an error of a cell, if that can be told."""
    if cell.what == ID:
        if is_number(cell.id):
            cell.what = NUMBER
            cell.number.mantissa = mantissa_of(cell.id)
            cell.number.scale = scale_of(cell.id)
            cell.number.decimal = kind_of(cell.id) == DECIMAL
        elif kind_of(cell.id) == TYPED:
            return False
        else:
            cell.what = ERROR
    elif cell.what == TRUTH or cell.what == TEXT:
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
    if cell.what == TEXT:
        return cell.length != 0
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
        if cell.number.scale > MAX_SCALE or not -(<int64_t>1 << 53) <= cell.number.mantissa <= (<int64_t>1 << 53):
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


cdef inline bint holds(int operation, int order) noexcept nogil:
    """What a comparison says of two values in this order."""
    if operation <= UNEQUAL:
        return (order == 0) == (operation == EQUAL)
    if operation <= GREATER:
        return order < 0 if operation == LESS else order > 0
    return order <= 0 if operation == LESS_OR_EQUAL else order >= 0


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
    elif a.what == TRUTH or b.what == TRUTH or (a.what == ID and not is_number(a.id)) or (
        b.what == ID and not is_number(b.id)
    ):
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
    put_truth(a, holds(operation, order))
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


cdef inline bint has_no_value(const Cell* cell) noexcept nogil:
    return cell.what == ERROR or (cell.what == ID and cell.id < 0)


cdef inline bint is_same(Cell* a, const Cell* b) noexcept nogil:
    """Of what was computed the spelling is not known here."""
    if has_no_value(a) or has_no_value(b):
        a.what = ERROR
        return True
    if a.what != ID or b.what != ID:
        return False
    put_truth(a, a.id == b.id)
    return True


cdef inline bint choose(Cell* a, const Cell* then, const Cell* otherwise) noexcept nogil:
    cdef int truth = truth_of(a)
    if truth == UNKNOWN:
        return False
    if truth == FAILED:
        a.what = ERROR
    elif truth == TRUE:
        a[0] = then[0]
    else:
        a[0] = otherwise[0]
    return True


cdef inline bint test_kind(int operation, Cell* a) noexcept nogil:
    cdef int kind = BOOLEAN
    if a.what == ID:
        kind = kind_of(a.id)
    elif a.what == TEXT:
        kind = STRING
    elif a.what != TRUTH:
        kind = DECIMAL
    if has_no_value(a):
        a.what = ERROR
    elif operation == IS_NUMERIC:
        if kind == TYPED:
            return False
        put_truth(a, kind == INTEGER or kind == DECIMAL)
    elif operation == IS_IRI:
        put_truth(a, kind == IRI)
    elif operation == IS_BLANK:
        put_truth(a, kind == BLANK)
    else:
        put_truth(a, kind != IRI and kind != BLANK)
    return True
