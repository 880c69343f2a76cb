"""Who reads a stream or a graph, in C."""

from libc.stdint cimport int64_t

from millstream.kernels.matching.elements cimport Elements
from millstream.kernels.matching.intake cimport Intake
from millstream.kernels.matching.patterns cimport Patterns


cdef class Router:
    """Queries that read something."""

    cdef readonly list runs             # in the order of registration
    cdef list always                    # the places of those that are shown everything
    cdef list sometimes
    cdef list ending                    # of the rest, those that emit something when solutions end
    cdef Patterns asked

    cdef Patterns patterns(self)
    cdef list concerned(self)
    cpdef int report_ends(self, int64_t at_tick) except -1


cdef class StreamRouter(Router):
    """Who reads one stream."""

    cdef object stream
    cdef readonly bint skips_unmatched  # elements that no pattern matches concern nobody, but for the time they have
    cdef bint has_skipped
    cdef int64_t skipped_ms             # the time of the last element that some query was not shown

    cpdef int take(self, Elements batch) except -1
    cdef void skip(self, int64_t at_ms, int64_t triples) noexcept


cdef class GraphRouter(Router):
    """Who reads one graph."""

    cdef object graph

    cpdef int take(self, Intake triples, int op, int64_t at_tick) except -1
