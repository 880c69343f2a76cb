"""References to terms that operators make: the dictionary has these terms as long as some row does.

Values that are in their ids need no keeping.
"""

import cython

from libc.stdint cimport int64_t

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.values cimport TYPED, kind_of
from millstream.kernels.relations.relation cimport RowCounter


@cython.final
cdef class TermReferences:
    """Holds and releases terms, except while operators are built anew over terms that the dictionary holds already."""

    def __cinit__(self, Dictionary dictionary not None):
        self.dictionary = dictionary

    cdef int hold_term(self, int64_t term_id) except -1:
        return 0 if self.is_rebuilding else self.dictionary.hold_one(term_id)

    cdef int release_term(self, int64_t term_id, int64_t at) except -1:
        return 0 if self.is_rebuilding else self.dictionary.release_one(term_id, at)

    def hold(self, const int64_t[:] ids):
        cdef int64_t i
        for i in range(ids.shape[0]):
            self.hold_term(ids[i])

    def release(self, const int64_t[:] ids, int64_t at_tick):
        cdef int64_t i
        for i in range(ids.shape[0]):
            self.release_term(ids[i], at_tick)

    def rebuilding(self, bint really=True):
        """A context in which nothing is held or released: the dictionary remembers the holds of what is built anew."""
        return Rebuilding(self, really)


@cython.final
cdef class Rebuilding:
    cdef TermReferences references
    cdef bint really
    cdef bint before

    def __cinit__(self, TermReferences references not None, bint really):
        self.references = references
        self.really = really

    def __enter__(self):
        self.before = self.references.is_rebuilding
        self.references.is_rebuilding = self.really

    def __exit__(self, *exception):
        self.references.is_rebuilding = self.before


@cython.final
cdef class CountedTerms:
    """Counts the rows that have a computed term, which stays in the dictionary while there is one."""

    def __cinit__(self, TermReferences references not None):
        self.references = references
        self.counts = RowCounter(1)

    cdef int add(self, int64_t term_id, int64_t weight, int64_t at) except -1:
        """Takes a row that comes or goes."""
        cdef int sign
        if not 0 <= kind_of(term_id) <= TYPED:
            return 0
        self.counts.row[0] = term_id
        sign = self.counts.add(weight)
        if sign > 0:
            self.references.hold_term(term_id)
        elif sign < 0:
            self.references.release_term(term_id, at)
        return 0

    def count(self, const int64_t[:] ids, const int64_t[:] weight, const int64_t[:] tick):
        """Takes rows that come and go."""
        cdef int64_t i
        if not ids.shape[0] == weight.shape[0] == tick.shape[0]:
            raise ValueError("columns differ in length")
        for i in range(ids.shape[0]):
            self.add(ids[i], weight[i], tick[i])

    def close(self, int64_t at_tick):
        self.references.release(self.counts.counted()[0][:, 0], at_tick)
