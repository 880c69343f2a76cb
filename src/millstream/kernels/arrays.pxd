"""NumPy arrays of words as pointers: what a typed memoryview gives, without its half microsecond an argument."""

cimport numpy as cnp
from libc.stdint cimport int64_t


cdef struct Strided:
    char* data
    int64_t rows
    int64_t width               # 1 for a column
    int64_t row_step            # bytes
    int64_t column_step


cdef inline int64_t word_at(const Strided* array, int64_t row, int64_t column) noexcept nogil:
    return (<int64_t*>(array.data + row * array.row_step + column * array.column_step))[0]


cdef inline bint is_word(int number) noexcept nogil:
    return number == cnp.NPY_INT64 or number == cnp.NPY_LONGLONG


cdef inline int read_array(object given, int dimensions, Strided* into) except -1:
    """Reads where an array of int64 lies; whoever keeps the pointer keeps the array too."""
    cdef cnp.ndarray array
    if not isinstance(given, cnp.ndarray):
        raise TypeError(f"expected an array, got {type(given).__name__}")
    array = <cnp.ndarray>given
    if cnp.PyArray_NDIM(array) != dimensions or not is_word(cnp.PyArray_TYPE(array)) or not cnp.PyArray_ISBEHAVED_RO(array):
        raise ValueError(f"expected an array of int64 with {dimensions} dimensions")
    into.data = <char*>cnp.PyArray_DATA(array)
    into.rows = cnp.PyArray_DIM(array, 0)
    into.row_step = cnp.PyArray_STRIDE(array, 0)
    into.width = cnp.PyArray_DIM(array, 1) if dimensions > 1 else 1
    into.column_step = cnp.PyArray_STRIDE(array, 1) if dimensions > 1 else 0
    return 0
