"""What the patterns of a query can see, in C."""

from libc.stdint cimport int64_t

from millstream.kernels.containers.growing cimport Growing
from millstream.kernels.flow.deltas cimport Arrivals
from millstream.kernels.matching.elements cimport Elements
from millstream.kernels.matching.intake cimport Intake
from millstream.kernels.matching.patterns cimport Patterns
from millstream.kernels.windows.window cimport Entries, Entry


cdef class ContentChanges:
    """Collects what happens to the contents of one query's windows and graphs."""

    cdef Entries entries
    cdef Entries sorted
    cdef Growing orders                 # of the changes numbered last, each one's order within its tick
    cdef int64_t changes                # how many these are
    cdef int64_t first_change
    cdef Arrivals arrivals
    cdef public int64_t change          # the number of the last change
    cdef public dict unions             # by the number of an input: its union and its part in it
    cdef public dict windows            # by stream: the operators of windows over it
    cdef public dict graphs             # by name: patterns over it, and the number of that input
    # operators of windows that may change by themselves, other than by ends that are known
    cdef public list acting

    cpdef int take(self, Elements batch, int64_t last) except -1
    cpdef int pass_time(self, int64_t before) except -1
    cpdef int take_graph(self, graph, Intake triples, int64_t at_tick, int op) except -1
    cpdef int graph_changed(self, Patterns patterns, int source, Intake triples, int64_t at_tick, int op) except -1
    cpdef Arrivals number(self, bint leaving=*)
    cdef void sort(self) noexcept nogil
    cdef int64_t piece_end(self, int64_t first) noexcept nogil
    cdef void write(self, const Entry* entry) noexcept
