"""Comparisons and IN in row programs, texts included. False leaves it to the definition."""

cimport numpy as cnp
from libc.stdint cimport int64_t

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.values cimport TYPED, kind_of
from millstream.kernels.rows.row_cells cimport (
    ERROR, FAILED, FALSE, ID, TEXT, TRUE, TRUTH, Cell, compare_cells, has_no_value, is_outside, put_truth,
)
from millstream.kernels.rows.row_operations cimport EQUAL, UNEQUAL
from millstream.kernels.rows.row_texts cimport Arena, compare_texts, is_string, read_string


cdef inline bint compare(int operation, Dictionary dictionary, Arena* arena, Cell* a, Cell* b) except -1:
    """The truth of a comparison."""
    cdef bint ordered = operation > UNEQUAL
    if not (a.what == TEXT or b.what == TEXT or (ordered and is_string(a) and is_string(b))):
        return compare_cells(operation, a, b)
    if has_no_value(a) or has_no_value(b):
        a.what = ERROR
        return True
    if is_outside(a) or is_outside(b):
        return False
    if not is_string(a) or not is_string(b):
        # A string is no other term, and has no place in any other order.
        put_truth(a, FAILED if ordered else operation == UNEQUAL)
        return True
    if not read_string(dictionary, arena, a) or not read_string(dictionary, arena, b):
        return False
    compare_texts(operation, a, b)
    return True


cdef inline bint is_member(Dictionary dictionary, Arena* arena, cnp.ndarray ids, Cell* cell) except -1:
    """The truth of IN, of an operand and choices that are in order and no typed literals outside of ids.

    Equal IRIs, blank nodes and strings have equal ids, and these can be compared with all such choices.
    """
    cdef const int64_t* choices = <const int64_t*>cnp.PyArray_DATA(ids)
    cdef int64_t count = cnp.PyArray_DIM(ids, 0), i, low = 0, high = count, middle
    cdef Cell one, other
    cdef bint failed = False, found
    if has_no_value(cell):
        cell.what = ERROR
        return True
    if cell.what == ID:
        while low < high:
            middle = (low + high) >> 1
            if choices[middle] < cell.id:
                low = middle + 1
            else:
                high = middle
        found = low < count and choices[low] == cell.id
        if kind_of(cell.id) < TYPED or (found and kind_of(cell.id) > TYPED):
            put_truth(cell, found)
            return True
    for i in range(count):
        one = cell[0]
        other.what = ID
        other.id = choices[i]
        if not compare(EQUAL, dictionary, arena, &one, &other):
            return False
        if one.what == TRUTH and one.truth == TRUE:
            put_truth(cell, TRUE)
            return True
        failed |= one.what == ERROR
    put_truth(cell, FAILED if failed else FALSE)
    return True
