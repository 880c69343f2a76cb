"""Expressions by their definition, for row programs (layout in definition.pyx)."""

from libc.stdint cimport int64_t

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
