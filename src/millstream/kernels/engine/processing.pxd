"""What happens to an engine, in C."""

from libc.stdint cimport int64_t

from millstream.kernels.emission.pending cimport Pending
from millstream.kernels.engine.event_order cimport EventOrder
from millstream.kernels.engine.monitor cimport Monitor
from millstream.kernels.engine.routing cimport GraphRouter, StreamRouter
from millstream.kernels.matching.elements cimport Elements
from millstream.kernels.matching.intake cimport Intake
from millstream.kernels.scanning.scanner cimport Scanner
from millstream.kernels.windows.triple_set cimport TripleSet


cdef class Stream:
    """One stream: who reads it and how much has come."""

    cdef readonly object iri
    cdef public list runs
    cdef public object summary
    cdef public bint counted            # some window counts its triples
    cdef public StreamRouter readers   # whom its elements concern, found when the first of them comes
    cdef public Scanner scanner         # reads what is pushed, as far as somebody may ask for it
    cdef public int64_t elements
    cdef public int64_t triples
    cdef public int64_t kept            # how many of the triples some query may ask for


cdef class Processing:
    """Streams and graphs, moved in order."""

    cdef public int64_t before          # all ticks before this one have passed
    cdef public dict streams
    cdef public dict graphs
    cdef public int64_t changes         # triples that really entered or left a graph
    cdef public dict counts
    cdef dict graph_readers
    cdef public list repeating          # runs that answer anew by time alone
    cdef public bint derives            # some query reads what another constructs
    cdef public Pending pending
    cdef public object callbacks
    cdef readonly Monitor lock
    cdef int64_t until_housekeeping

    cdef int64_t tick_now(self) noexcept
    cpdef int process_element(self, Stream stream, Intake intake, int64_t at_ms) except -1
    cpdef int process_change(self, graph, Intake triples, bint insert, int64_t at_ms) except -1
    cpdef int hand_on(self, Stream stream, Elements batch, int64_t elements, int64_t triples) except -1
    cpdef int64_t change_graph(self, graph, Intake triples, bint insert, int64_t at_tick) except -1
    cpdef TripleSet graph(self, name)
    cpdef GraphRouter readers_of(self, graph)
    cpdef int happened(self, int64_t count) except -1


cdef class Entrance:
    """Elements and changes as callers pass them."""

    cdef Processing core
    cdef EventOrder order
    cdef object engine
    cdef object encoder
    cdef Scanner scanner

    cpdef int push(self, stream, triples, at_ms) except -1
    cpdef int push_text(self, stream, text, str scope, int64_t at_ms) except -1
    cpdef int offer(self, Stream stream, Intake intake, int64_t at_ms) except -1
    cpdef int change(self, triples, at_ms, graph, bint insert) except -1
    cpdef int change_text(self, text, str scope, at_ms, graph, bint insert) except -1
    cpdef Intake scanned(self, Stream stream, text, str scope)
    cdef Intake read(self, text, str scope, Scanner scanner)
    cdef int64_t time_of(self, at_ms) except? -1
    cdef tuple text_of(self, triples)
