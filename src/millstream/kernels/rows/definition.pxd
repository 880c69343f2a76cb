"""What row programs ask Python (layout in definition.pyx)."""

from libc.stdint cimport int64_t, uint8_t

from millstream.kernels.dictionary.dictionary cimport Dictionary

cdef enum:
    KEYS = 3                    # results of more columns are not remembered

cdef struct Result:
    int64_t ids[KEYS]
    int64_t value
    int64_t epoch               # in which it is good, and 1: a result that was never written is good in none


cdef class Definition:
    cdef Dictionary dictionary
    cdef object function
    cdef int count
    cdef int64_t* places        # the columns that are read
    cdef Result* results

    cdef int64_t value(self, const int64_t* ids) except -2
    cdef int64_t ask(self, const int64_t* ids) except -2


cdef struct Tested:
    const uint8_t* text
    int64_t length
    int64_t epoch               # as above
    int truth


cdef class TextTest:
    cdef Dictionary dictionary
    cdef object function
    cdef Tested* results

    cdef int truth(self, const uint8_t* text, int64_t length, bint lasts) except -1
