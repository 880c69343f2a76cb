"""References to terms that operators make (layout in term_references.pyx)."""

from libc.stdint cimport int64_t

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.relations.relation cimport RowCounter


cdef class TermReferences:
    cdef Dictionary dictionary
    cdef bint is_rebuilding

    cdef int hold_term(self, int64_t term_id) except -1
    cdef int release_term(self, int64_t term_id, int64_t at) except -1


cdef class CountedTerms:
    cdef TermReferences references
    cdef RowCounter counts

    cdef int add(self, int64_t term_id, int64_t weight, int64_t at) except -1
