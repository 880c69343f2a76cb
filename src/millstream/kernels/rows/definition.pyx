"""Expressions by their definition: Python functions of the ids of some columns, asked for what no kernel decides.

A function is called with a tuple of ids, -1 for what is unbound, and gives the id of the value, -1 for an error. It must be
a function of the terms. Batches have the same terms many times over, so the last results are remembered, each for one epoch
of the dictionary: afterwards an id may name another term.
"""

import cython

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free

from millstream.kernels.dictionary.dictionary cimport Dictionary

cdef enum:
    REMEMBERED_BITS = 8


cdef inline uint64_t place_of(const int64_t* ids, int count) noexcept nogil:
    cdef uint64_t hash = 0
    cdef int i
    for i in range(count):
        hash = (hash ^ <uint64_t>ids[i]) * <uint64_t>0x9E3779B97F4A7C15
    return hash >> (64 - REMEMBERED_BITS)


@cython.final
cdef class Definition:
    """A function of the columns at some places."""

    def __cinit__(self, Dictionary dictionary not None, function, places):
        cdef int i
        self.dictionary = dictionary
        self.function = function
        self.count = len(places)
        self.places = <int64_t*>calloc(self.count + 1, sizeof(int64_t))
        if self.places == NULL:
            raise MemoryError
        for i in range(self.count):
            self.places[i] = places[i]

    def __dealloc__(self):
        free(self.places)
        free(self.results)

    cdef int64_t value(self, const int64_t* ids) except -2:
        """The id of the value for the ids of its columns."""
        cdef Result* result
        cdef int i
        if self.count > KEYS:
            return self.ask(ids)
        if self.results == NULL:
            self.results = <Result*>calloc(1 << REMEMBERED_BITS, sizeof(Result))
            if self.results == NULL:
                raise MemoryError
        result = self.results + place_of(ids, self.count)
        if result.epoch == self.dictionary.epoch + 1:
            for i in range(self.count):
                if result.ids[i] != ids[i]:
                    break
            else:
                return result.value
        result.epoch = 0
        result.value = self.ask(ids)
        for i in range(self.count):
            result.ids[i] = ids[i]
        result.epoch = self.dictionary.epoch + 1
        return result.value

    cdef int64_t ask(self, const int64_t* ids) except -2:
        cdef int64_t found = self.function(tuple([ids[i] for i in range(self.count)]))
        if found < -1:
            raise ValueError(f"{found} is no id")
        return found
