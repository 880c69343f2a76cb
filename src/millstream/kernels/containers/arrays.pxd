"""Words as arrays of NumPy; whoever asks for them has called `import_array`."""

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.string cimport memcpy


cdef inline cnp.ndarray array_of(const void* words, int64_t size):
    """A copy of so many words."""
    cdef cnp.npy_intp length = size
    cdef cnp.ndarray array = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INT64, 0)
    if size:
        memcpy(cnp.PyArray_DATA(array), words, size * sizeof(int64_t))
    return array
