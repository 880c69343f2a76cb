"""Expressions by their definition: Python functions of the ids of some columns, asked for what no kernel decides.

A function is called with a tuple of ids, -1 for what is unbound, and gives the id of the value, -1 for an error. It must be
a function of the terms. Batches have the same terms many times over, so the last values are remembered, each for one epoch
of the dictionary: afterwards an id may name another term. Errors are not, since whoever refuses a value counts.

A test of texts is asked in the same way, with a text. Within an epoch the same place in the dictionary has the same text.
"""

import cython

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.rows.row_cells cimport FAILED, FALSE, TRUE

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
        if result.value >= 0:
            result.epoch = self.dictionary.epoch + 1
        return result.value

    cdef int64_t ask(self, const int64_t* ids) except -2:
        cdef int64_t found = self.function(tuple([ids[i] for i in range(self.count)]))
        if found < -1:
            raise ValueError(f"{found} is no id")
        return found


@cython.final
cdef class TextTest:
    """A function from texts to whether they pass, None for an error."""

    def __cinit__(self, Dictionary dictionary not None, function):
        self.dictionary = dictionary
        self.function = function

    def __dealloc__(self):
        free(self.results)

    cdef int truth(self, const uint8_t* text, int64_t length, bint lasts) except -1:
        """Whether a text passes; `lasts` if it is where it is for as long as the epoch."""
        cdef int64_t key = <int64_t>text
        cdef Tested* result
        if self.results == NULL:
            self.results = <Tested*>calloc(1 << REMEMBERED_BITS, sizeof(Tested))
            if self.results == NULL:
                raise MemoryError
        result = self.results + place_of(&key, 1)
        if (lasts and result.epoch == self.dictionary.epoch + 1 and result.text == text and result.length == length):
            return result.truth
        passes = self.function((<char*>text)[:length].decode("utf-8"))
        if passes is None:
            return FAILED
        if lasts:
            result.text = text
            result.length = length
            result.epoch = self.dictionary.epoch + 1
            result.truth = TRUE if passes else FALSE
        return TRUE if passes else FALSE
