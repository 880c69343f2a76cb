"""Queries at work, in C."""

from libc.stdint cimport int64_t

from millstream.kernels.emission.emission cimport Reporter
from millstream.kernels.flow.flow cimport Flow
from millstream.kernels.matching.elements cimport Elements
from millstream.kernels.matching.intake cimport Intake
from millstream.kernels.windows.window_changes cimport ContentChanges


cdef class RunOutput:
    """One query's end of a run."""

    cdef readonly Reporter reporter
    cdef object stream              # that its answers form, while somebody reads it


cdef class Run:
    """What runs one query, or several that share it."""

    cdef readonly Flow operator
    cdef readonly ContentChanges contents
    cdef public list emitters        # emitters, in the order of what the flow gives
    cdef public list closing        # those whose queries answer when windows close
    cdef public int64_t tick        # up to which everything has happened
    cdef public bint is_plain       # no first change is ahead, and nothing is emitted after every change

    cpdef int elements(self, Elements batch) except -1
    cpdef int64_t first_ms(self, Elements batch) except? -1
    cpdef int graph_changed(self, graph, Intake triples, int op, int64_t at_tick) except -1
    cpdef int pass_time(self, int64_t before) except -1
    cpdef int report_due(self, int64_t at_tick) except -1
    cdef int emit_collected(self, int64_t upto) except -1
    cpdef int report(self, int64_t upto, first=*) except -1
