"""The triples of one element or change, each once, as scanners and callers hand them on."""

import numpy as np

cimport cython
cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from millstream.kernels.containers.arrays cimport array_of
from millstream.kernels.containers.hash_index cimport mix
from millstream.kernels.containers.memory cimport block_free, block_new

cnp.import_array()

cdef enum:
    FEW = 24                    # triples that are compared with each other to find repeats


@cython.freelist(8)
cdef class Intake:
    """The triples of one element: those kept, their places among all of them (the first, unless told), and how many there
    were.
    """

    def __init__(self, triples, place=None, total=None):
        """Without places and a total: these triples are all there are."""
        rows = np.ascontiguousarray(np.asarray(triples, np.int64).reshape(-1, 3).T)
        places = np.arange(rows.shape[1]) if place is None else np.ascontiguousarray(place, np.int64)
        if len(places) != rows.shape[1]:
            raise ValueError("columns differ in length")
        self.total = rows.shape[1] if total is None else total
        self.make_room(rows.shape[1])
        if self.size:
            memcpy(self.words, cnp.PyArray_DATA(<cnp.ndarray>rows), 3 * self.size * sizeof(int64_t))
            memcpy(self.words + 3 * self.size, cnp.PyArray_DATA(<cnp.ndarray>places), self.size * sizeof(int64_t))

    def __dealloc__(self):
        if self.room > 1:
            block_free(self.words, 4 * self.room * sizeof(int64_t))

    cdef int make_room(self, int64_t size) except -1:
        if self.room > 1:
            block_free(self.words, 4 * self.room * sizeof(int64_t))
        self.size = self.room = size
        self.words = <int64_t*>block_new(4 * size * sizeof(int64_t)) if size > 1 else &self.only[0]
        return 0

    cdef void drop_repeats(self) noexcept nogil:
        """Keeps the first of equal triples. Where nothing was left out, places and the total are those of what stays."""
        cdef int64_t n = self.size, i, j, kept = 0
        cdef int64_t* s = self.words
        cdef int64_t* p = s + n
        cdef int64_t* o = p + n
        cdef int64_t* place = o + n
        cdef bint whole = n == self.total
        cdef int64_t capacity = 16, slot
        cdef int64_t* seen = NULL
        if n < 2:
            return
        if n > FEW:
            while capacity < 2 * n:
                capacity *= 2
            seen = <int64_t*>block_new(capacity * sizeof(int64_t))
        for i in range(n):
            if seen == NULL:
                j = 0
                while j < kept and not (s[j] == s[i] and p[j] == p[i] and o[j] == o[i]):
                    j += 1
            else:
                slot = mix(
                    mix(mix(<unsigned long long>s[i]) + <unsigned long long>p[i]) + <unsigned long long>o[i]
                ) & (capacity - 1)
                # A slot has the place of a kept triple, counted from one.
                while seen[slot] and not (
                    s[seen[slot] - 1] == s[i] and p[seen[slot] - 1] == p[i] and o[seen[slot] - 1] == o[i]
                ):
                    slot = (slot + 1) & (capacity - 1)
                j = kept if seen[slot] == 0 else 0
                if seen[slot] == 0:
                    seen[slot] = kept + 1
            if j < kept:
                continue
            s[kept], p[kept], o[kept] = s[i], p[i], o[i]
            place[kept] = kept if whole else place[i]
            kept += 1
        block_free(seen, capacity * sizeof(int64_t))
        self.end(kept)
        if whole:
            self.total = kept

    cdef void end(self, int64_t kept) noexcept nogil:
        """Only the first rows are kept: columns move together."""
        cdef int64_t n = self.size, i, c
        if kept < n:
            for c in range(1, 4):
                for i in range(kept):
                    self.words[c * kept + i] = self.words[c * n + i]
            self.size = kept

    def __len__(self):
        """How many triples are kept."""
        return self.size

    @property
    def ids(self):
        """The ids of all terms of what is kept."""
        return array_of(self.words, 3 * self.size)

    @property
    def triples(self):
        return np.ascontiguousarray(array_of(self.words, 3 * self.size).reshape(3, -1).T)

    @property
    def place(self):
        return array_of(self.words + 3 * self.size, self.size)
