"""An index of triple patterns: triples in, rows of the patterns that they match out.

A pattern has a constant predicate and one or two variables: (s, o), s with a constant o, o with a constant s, or one
variable at both ends. Patterns are chained by what must be equal: the predicate alone, predicate and s, or predicate and o.
One small table holds the chains, keyed by predicate and constant; the entry of a predicate says which further keys are worth
a look, so that a triple nobody asks for costs one probe, and one of a thousand constant objects costs two.
"""

import cython
import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from millstream.kernels.containers.arrays cimport array_of
from millstream.kernels.containers.hash_index cimport mix
from millstream.kernels.containers.memory cimport block_free, block_resize

cnp.import_array()

@cython.final
cdef class PatternIndex:
    """Finds the patterns that triples match."""

    def __init__(self, patterns, same=None):
        """`patterns`: rows of s, p, o, each an id or -1 for a variable; `same`: those whose s and o are one variable."""
        table = np.asarray(patterns, np.int64).reshape(-1, 3)
        alike = np.zeros(len(table), bool) if same is None else np.asarray(same, bool)
        cdef int64_t i, capacity = 16
        cdef int64_t s, p, o
        cdef int kind
        if self.slots != NULL:
            raise ValueError("a scan is initialised once")
        if len(alike) != len(table) or (len(table) and table.min() < -1):
            raise ValueError("patterns are rows of three ids or -1, each with a flag")
        self.patterns = len(table)
        while capacity < 8 * self.patterns:
            capacity *= 2
        self.slots = <Slot*>calloc(capacity, sizeof(Slot))
        self.following = <int32_t*>malloc(max(1, self.patterns) * sizeof(int32_t))
        self.shape = <int32_t*>malloc(max(1, self.patterns) * sizeof(int32_t))
        if self.slots == NULL or self.following == NULL or self.shape == NULL:
            raise MemoryError
        self.mask = capacity - 1
        for i in range(capacity):
            self.slots[i].predicate = -1
        # From the last to the first, so that chains rise.
        for i in range(self.patterns - 1, -1, -1):
            s, p, o = table[i]
            if p < 0 or (s >= 0 and o >= 0) or (alike[i] and (s >= 0 or o >= 0)):
                raise ValueError(f"pattern {i}: a constant predicate and one or two variables, got {(s, p, o)}")
            kind = BY_S if s >= 0 else BY_O if o >= 0 else PLAIN
            self.shape[i] = 3 if alike[i] else 2 if s >= 0 else 1 if o >= 0 else 0
            self.slot(p, -1, PLAIN).more |= kind
            self.chain(self.slot(p, s if s >= 0 else o, kind), <int32_t>i)

    def __dealloc__(self):
        cdef int i
        free(self.slots)
        free(self.following)
        free(self.shape)
        for i in range(4):
            block_free(self.out[i], self.capacity * sizeof(int64_t))

    cdef Slot* find(self, int64_t predicate, int64_t constant, int kind) noexcept nogil:
        """Its slot, or the empty one where it would be."""
        cdef uint64_t at = predicate if constant < 0 else mix(<uint64_t>predicate) + <uint64_t>constant * 4 + <uint64_t>kind
        cdef Slot* slot
        at = (at * <uint64_t>0x9E3779B97F4A7C15) >> 32
        while True:
            slot = &self.slots[at & self.mask]
            if slot.predicate == -1 or (slot.predicate == predicate and slot.constant == constant and slot.kind == kind):
                return slot
            at += 1

    cdef Slot* slot(self, int64_t predicate, int64_t constant, int kind) noexcept nogil:
        cdef Slot* slot = self.find(predicate, constant, kind)
        if slot.predicate == -1:
            slot.predicate = predicate
            slot.constant = constant
            slot.kind = kind
            slot.first = -1
        return slot

    cdef void chain(self, Slot* slot, int32_t pattern) noexcept nogil:
        self.following[pattern] = slot.first
        slot.first = pattern

    cdef void reserve(self, int64_t more) noexcept nogil:
        cdef int64_t capacity = max(self.size + more, self.capacity * 2, 1024)
        cdef int i
        for i in range(4):
            self.out[i] = <int64_t*>block_resize(
                self.out[i], self.capacity * sizeof(int64_t), capacity * sizeof(int64_t))
        self.capacity = capacity

    cdef void write(self, int64_t row, int32_t pattern, int64_t s, int64_t o) noexcept nogil:
        cdef int shape = self.shape[pattern]
        if shape == 3 and s != o:
            return
        self.out[0][self.size] = row
        self.out[1][self.size] = pattern
        self.out[2][self.size] = o if shape == 2 else s
        self.out[3][self.size] = -1 if shape else o
        self.size += 1

    cdef void matched(self, int64_t row, Slot* slot, int64_t s, int64_t o) noexcept nogil:
        """Writes the patterns of up to three chains in rising order."""
        cdef int32_t plain = slot.first, by_s = -1, by_o = -1, least
        cdef int kinds = slot.more
        cdef Slot* other
        if self.size + self.patterns > self.capacity:
            self.reserve(self.patterns)
        if kinds == PLAIN:
            while plain >= 0:
                self.write(row, plain, s, o)
                plain = self.following[plain]
            return
        if kinds & BY_S:
            other = self.find(slot.predicate, s, BY_S)
            by_s = other.first if other.predicate != -1 else -1
        if kinds & BY_O:
            other = self.find(slot.predicate, o, BY_O)
            by_o = other.first if other.predicate != -1 else -1
        # Unsigned, -1 is the greatest: the least of the three heads goes first.
        while True:
            least = plain
            if <unsigned int>by_s < <unsigned int>least:
                least = by_s
            if <unsigned int>by_o < <unsigned int>least:
                least = by_o
            if least < 0:
                return
            self.write(row, least, s, o)
            if least == plain:
                plain = self.following[plain]
            elif least == by_s:
                by_s = self.following[by_s]
            else:
                by_o = self.following[by_o]

    cdef void match_one(self, int64_t row, int64_t s, int64_t p, int64_t o) noexcept nogil:
        """Writes the patterns of one triple, in rising order."""
        cdef Slot* slot = self.find(p, -1, PLAIN)
        if slot.predicate != -1:
            self.matched(row, slot, s, o)

    def match(self, const int64_t[::1] s, const int64_t[::1] p, const int64_t[::1] o):
        """Row, view, a and b of every match, by row and then view; b is -1 for patterns of one variable."""
        cdef int64_t i, n = s.shape[0]
        if not (p.shape[0] == o.shape[0] == n):
            raise ValueError("columns differ in length")
        self.size = 0
        with nogil:
            for i in range(n):
                self.match_one(i, s[i], p[i], o[i])
        return tuple([array_of(self.out[i], self.size) for i in range(4)])
