"""Which patterns of a source triples match: by constants, by equal places, by filters on one variable.

Patterns with a constant predicate and one or two variables are found by the scan; the rest are compared one by one. Filters
are asked last, about the rows that are left: a filter is the one thing here that may ask Python.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

from millstream.kernels.containers.arrays cimport array_of
from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.matching.elements cimport Elements
from millstream.kernels.matching.pattern_index cimport PatternIndex
from millstream.kernels.rows.row_program cimport KEPT, RowProgram

cnp.import_array()


cdef class Patterns:
    """Finds the patterns that triples match."""

    def __cinit__(self, patterns, tests=()):
        """Patterns as (number, (s, p, o) with -1 for variables, pairs of places that must be equal), in order of numbers,
        which may be equal.

        A test is (number of a pattern, place, program): a program of one column says which ids at that place pass."""
        cdef int64_t i = 0
        given = [(int(number), tuple(ids), [tuple(pair) for pair in equal]) for number, ids, equal in patterns]
        scanned, others = [], []
        for number, ids, equal in given:
            ends = (ids[0] >= 0) + (ids[2] >= 0)
            is_plain = ids[1] >= 0 and (ends == 0 if equal == [(0, 2)] else ends < 2 and not equal)
            (scanned if is_plain else others).append((number, ids, equal))
        self.index = PatternIndex(
            [ids for _, ids, _ in scanned], [bool(equal) for _, _, equal in scanned]
        ) if scanned else None
        self.number_of = <int64_t*>calloc(max(1, len(scanned)), sizeof(int64_t))
        self.known = <int64_t*>calloc(max(1, len(given)), sizeof(int64_t))
        self.compared = <Compared*>calloc(max(1, len(others)), sizeof(Compared))
        if self.number_of == NULL or self.known == NULL or self.compared == NULL:
            raise MemoryError
        for i, (number, _, _) in enumerate(scanned):
            self.number_of[i] = number
        for i, number in enumerate(sorted(number for number, _, _ in given)):
            self.known[i] = number
        self.known_count = len(given)
        for i, (number, ids, equal) in enumerate(others):
            self.compared[i].number = number
            for place in range(3):
                self.compared[i].constants[<int>place] = ids[place]
            self.compared[i].equal = sum({(0, 1): 1, (0, 2): 2, (1, 2): 4}[pair] for pair in equal)
        self.compared_count = len(others)
        self.tests = list(tests)
        for _, _, program in self.tests:
            if (<RowProgram?>program).width != 1:
                raise ValueError("a test is a program of one column")

    def __dealloc__(self):
        free(self.number_of)
        free(self.known)
        free(self.compared)
        block_free(self.row, self.capacity * sizeof(int64_t))
        block_free(self.pattern, self.capacity * sizeof(int64_t))

    cdef void put(self, int64_t row, int64_t number) noexcept nogil:
        cdef int64_t capacity
        if self.size == self.capacity:
            capacity = max(16, 2 * self.capacity)
            self.row = <int64_t*>block_resize(self.row, self.capacity * sizeof(int64_t), capacity * sizeof(int64_t))
            self.pattern = <int64_t*>block_resize(self.pattern, self.capacity * sizeof(int64_t), capacity * sizeof(int64_t))
            self.capacity = capacity
        self.row[self.size] = row
        self.pattern[self.size] = number
        self.size += 1

    cdef void find(self, int64_t row, int64_t s, int64_t p, int64_t o) noexcept nogil:
        """Writes the patterns of one triple, in order of their numbers."""
        cdef int64_t first = self.size, i, j, number
        cdef Compared* pattern
        if self.index is not None:
            self.index.size = 0
            self.index.match_one(row, s, p, o)
            for i in range(self.index.size):
                self.put(row, self.number_of[self.index.out[1][i]])
        for i in range(self.compared_count):
            pattern = &self.compared[i]
            if ((pattern.constants[0] < 0 or pattern.constants[0] == s)
                    and (pattern.constants[1] < 0 or pattern.constants[1] == p)
                    and (pattern.constants[2] < 0 or pattern.constants[2] == o) and (not pattern.equal & 1 or s == p)
                    and (not pattern.equal & 2 or s == o) and (not pattern.equal & 4 or p == o)):
                number = pattern.number
                self.put(row, number)
                j = self.size - 1
                while j > first and self.pattern[j - 1] > number:
                    self.pattern[j] = self.pattern[j - 1]
                    j -= 1
                self.pattern[j] = number

    cdef bint knows(self, int64_t number) noexcept nogil:
        cdef int64_t low = 0, high = self.known_count, middle
        while low < high:
            middle = (low + high) >> 1
            if self.known[middle] < number:
                low = middle + 1
            else:
                high = middle
        return low < self.known_count and self.known[low] == number

    cdef int among(self, Elements batch) except -1:
        """Finds which rows of elements are for which patterns; rows that are meant for one pattern are for that alone."""
        cdef int64_t i
        if batch.tagged:
            self.size = 0
            for i in range(batch.size):
                if self.knows(batch.pattern[i]):
                    self.put(i, batch.pattern[i])
            return 0
        return self.among_columns(batch.s, batch.p, batch.o, batch.size)

    cdef int among_columns(self, const int64_t* s, const int64_t* p, const int64_t* o, int64_t n) except -1:
        """Finds which triples are for which patterns."""
        cdef int64_t i
        self.size = 0
        for i in range(n):
            self.find(i, s[i], p[i], o[i])
        if self.size and self.tests:
            self.sift(s, p, o)
        return 0

    cdef int sift(self, const int64_t* s, const int64_t* p, const int64_t* o) except -1:
        """Keeps what the filters let pass."""
        cdef int64_t i, kept
        cdef int64_t* values
        cdef RowProgram program
        for number, position, given in self.tests:
            values = <int64_t*>(s if position == 0 else p if position == 1 else o)
            program = given
            kept = 0
            for i in range(self.size):
                if self.pattern[i] != number or program.run_row(&values, self.row[i]) == KEPT:
                    self.row[kept] = self.row[i]
                    self.pattern[kept] = self.pattern[i]
                    kept += 1
            self.size = kept
        return 0

    cdef int among_triples(self, const int64_t* words, int64_t n) except -1:
        """Finds which of some triples, one after the other, are for which patterns."""
        cdef int64_t i
        cdef cnp.ndarray columns
        cdef const int64_t* s
        self.size = 0
        for i in range(n):
            self.find(i, words[3 * i], words[3 * i + 1], words[3 * i + 2])
        if self.size and self.tests:
            columns = np.empty((3, n), np.int64)
            s = <const int64_t*>cnp.PyArray_DATA(columns)
            for i in range(3 * n):
                (<int64_t*>s)[i % 3 * n + i // 3] = words[i]
            self.sift(s, s + n, s + 2 * n)
        return 0

    @property
    def numbers(self):
        """The numbers of all patterns, in order."""
        return array_of(self.known, self.known_count)

    def match(self, triples):
        """Which triple matches which pattern: places of triples and numbers of patterns, in order of triples."""
        cdef cnp.ndarray given = np.ascontiguousarray(np.asarray(triples, np.int64).reshape(-1, 3))
        self.among_triples(<const int64_t*>cnp.PyArray_DATA(given), len(given))
        return array_of(self.row, self.size), array_of(self.pattern, self.size)
