"""What happens to an engine, in processing order: elements of streams, changes of graphs, and the time that passes with
them.

An element or a change that a caller passes by itself goes from here to the queries it concerns without Python, unless it
must wait for others, might bring more answers than may wait, or feeds streams that are derived from it. These are led by the
engine.
"""

import cython

from cpython.exc cimport PyErr_Clear
from libc.stdint cimport int64_t, uint8_t

from millstream.kernels.engine.event_order cimport EventOrder
from millstream.kernels.engine.monitor cimport Monitor
from millstream.kernels.engine.routing cimport GraphRouter, StreamRouter
from millstream.kernels.matching.elements cimport Elements, single
from millstream.kernels.matching.intake cimport Intake
from millstream.kernels.scanning.byte_classes cimport has_label
from millstream.kernels.scanning.scanner cimport Scanner
from millstream.kernels.windows.triple_set cimport TripleSet
from millstream.kernels.windows.window cimport tick_of

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size)      # NULL: an exception is set

cdef enum:
    HOUSEKEEPING_EVERY = 4096
    PHASE = 1                           # of elements and changes among the ticks of a millisecond

cdef int64_t NEVER = -(<int64_t>1 << 62)
cdef int64_t MOST_MS = (<int64_t>1 << 59) - 1


cdef class Stream:
    """One stream: who reads it and how much has come."""

    def __cinit__(self, iri, int64_t elements=0, int64_t triples=0, int64_t kept=0):
        self.iri = iri
        self.runs = []
        self.elements, self.triples, self.kept = elements, triples, kept

    def settle(self):
        """All queries have heard of all that came, wherever it concerns them."""
        if self.readers is not None:
            self.readers.settle()

    def look_again(self):
        """Others read it now."""
        self.settle()
        self.readers = None


cdef class Processing:
    """Streams and graphs, moved in order. Whoever touches anything of this holds the lock."""

    def __cinit__(self, *args, **kwargs):
        self.before = NEVER
        self.lock = Monitor()
        self.streams, self.graphs, self.graph_readers, self.counts, self.repeating = {}, {}, {}, {}, []
        self.until_housekeeping = HOUSEKEEPING_EVERY

    @property
    def now_tick(self):
        """The tick of something that happens now: among the elements of this millisecond, unless that is over.

        Before anything has happened the clock shows t0, and what comes may be earlier: it is before all of that.
        """
        return self.tick_now()

    cdef int64_t tick_now(self) noexcept:
        cdef int64_t now = tick_of(max(self.before - 1, NEVER) >> 2, PHASE)
        return now if self.before <= now + 1 else self.before

    # Streams

    cpdef int process_element(self, Stream stream, Intake intake, int64_t at_ms) except -1:
        """The next element of a stream."""
        cdef int64_t at_tick = 4 * at_ms + PHASE
        cdef StreamRouter readers = stream.readers
        if self.derives:
            self.pass_time(at_tick)
        if intake.size == 0 and readers is not None and readers.skips_unmatched and not self.derives:
            # Nobody has to be shown it.
            stream.elements += 1
            stream.triples += intake.total
            readers.skip(at_ms, intake.total)
            readers.report_ends(at_tick)
        else:
            self.hand_on(stream, single(stream.iri, at_ms, intake, stream.triples, stream.elements + 1), 1, intake.total)
        if self.derives:
            self.process_derived()
            self.pass_time(at_tick + 1)
        if at_tick >= self.before:
            self.before = at_tick + 1
        return self.happened(intake.size)

    cpdef int hand_on(self, Stream stream, Elements batch, int64_t elements, int64_t triples) except -1:
        """Shows elements to the queries that read their stream; these count as so many elements and triples of it."""
        cdef StreamRouter readers = stream.readers
        stream.elements += elements
        stream.triples += triples
        stream.kept += batch.size
        if readers is None:
            readers = StreamRouter(stream.iri, stream.runs)
            # A first change ahead passes with the first element, so look again at the next.
            stream.readers = readers if readers.is_final else None
        readers.take(batch)
        if stream.readers is None:
            # Nobody keeps it, so what it skipped is told now.
            readers.settle()
        return 0

    # Graphs

    cpdef int process_change(self, graph, Intake triples, bint insert, int64_t at_ms) except -1:
        """The next change of a graph."""
        cdef int64_t at_tick = 4 * at_ms + PHASE
        if self.derives:
            self.pass_time(at_tick)
        self.change_graph(graph, triples, insert, at_tick)
        if self.derives:
            self.pass_time(at_tick + 1)
        if at_tick >= self.before:
            self.before = at_tick + 1
        return self.happened(1)

    cpdef int64_t change_graph(self, graph, Intake triples, bint insert, int64_t at_tick) except -1:
        """Changes a graph; gives how many triples really came or went."""
        cdef Intake effective = self.graph(graph).changed(triples, 1 if insert else -1, at_tick)
        if effective.size == 0:
            return 0
        self.changes += effective.size
        self.readers_of(graph).take(effective, 1 if insert else -1, at_tick)
        if self.derives:
            self.process_derived()
        return effective.size

    cpdef TripleSet graph(self, name):
        """A graph by its name, empty if nobody has named it before."""
        cdef TripleSet known = self.graphs.get(name)
        if known is None:
            known = self.graphs[name] = self.new_graph()
        return known

    cpdef GraphRouter readers_of(self, graph):
        """Whom changes of a graph concern."""
        cdef GraphRouter readers = self.graph_readers.get(graph)
        if readers is None:
            readers = GraphRouter(graph, [run for run in self.runs if run.reads(graph)])
            if readers.is_final:
                self.graph_readers[graph] = readers
        return readers

    def forget_graph_readers(self):
        """Others read graphs now."""
        self.graph_readers.clear()

    # Memory

    cpdef int happened(self, int64_t count) except -1:
        """So much has happened, something at least: now and then that is reason for housekeeping."""
        self.until_housekeeping -= max(count, <int64_t>1)
        if self.until_housekeeping <= 0:
            self.until_housekeeping = HOUSEKEEPING_EVERY
            self.housekeeping()
        return 0


@cython.final
cdef class Entrance:
    """Elements and changes as callers pass them."""

    def __cinit__(self, engine, Processing core not None, EventOrder order not None, encoder, Scanner scanner not None):
        """`scanner` keeps all triples."""
        self.engine, self.core, self.order, self.encoder, self.scanner = engine, core, order, encoder, scanner

    cpdef int push(self, stream, triples, at_ms) except -1:
        """One stream element."""
        cdef Processing core = self.core
        cdef str scope = ""
        cdef int64_t time_ms
        core.lock.enter()
        try:
            time_ms = self.time_of(at_ms)
            text = triples
            if not is_plain(triples):
                text, scope = self.encoder.text_of(triples)
            if core.pending.may_overflow() or (core.repeating and self.engine.has_gap(time_ms)):
                self.engine.try_push(stream, text, scope, time_ms)
            self.push_text(stream, text, scope, time_ms)
        finally:
            core.lock.leave()
        if core.callbacks:
            core.callbacks.deliver()
        return 0

    def collect(self, Stream stream not None, elements, list times not None, list intakes not None):
        """Writes the times and triples of elements to lists; if one raises, those before it are there."""
        cdef int64_t time_ms
        cdef str scope
        for triples, at_ms in elements:
            time_ms = self.time_of(at_ms)
            text, scope = self.text_of(triples)
            intakes.append(self.scanned(stream, text, scope))
            times.append(time_ms)

    cpdef int push_text(self, stream, text, str scope, int64_t at_ms) except -1:
        """The same of text and the scope of its blank nodes."""
        cdef Stream state = self.core.streams.get(stream) if type(stream) is str else None
        if state is None:
            state = self.core.stream(stream)
        return self.offer(state, self.scanned(state, text, scope), at_ms)

    cpdef int offer(self, Stream stream, Intake intake, int64_t at_ms) except -1:
        """An element that happens now, if it need not wait for its turn."""
        if self.order.passes(at_ms):
            return self.core.process_element(stream, intake, at_ms)
        self.engine.offer_element(stream, intake, at_ms)
        return 0

    cpdef int change(self, triples, at_ms, graph, bint insert) except -1:
        """Triples enter or leave a graph, at a time or now."""
        cdef Processing core = self.core
        cdef str scope = ""
        core.lock.enter()
        try:
            time_ms = None if at_ms is None else self.time_of(at_ms)
            # A name that is known is an IRI.
            name = graph if graph is None or (
                type(graph) is str and graph in core.graphs
            ) else self.engine.graph_named(graph)
            text = triples
            if not is_plain(triples):
                text, scope = self.encoder.text_of(triples)
            self.change_text(text, scope, time_ms, name, insert)
        finally:
            core.lock.leave()
        if core.callbacks:
            core.callbacks.deliver()
        return 0

    cpdef int change_text(self, text, str scope, at_ms, graph, bint insert) except -1:
        """The same of text and the scope of its blank nodes, and the IRI of a graph."""
        cdef Processing core = self.core
        cdef Intake intake = self.read(text, scope, self.scanner)
        if core.pending.may_overflow() or (core.repeating and at_ms is not None and self.engine.has_gap(at_ms)):
            self.engine.offer_change(graph, intake, insert, at_ms)
        elif at_ms is None:
            core.change_graph(graph, intake, insert, core.tick_now())
            core.happened(1)
        elif self.order.passes(at_ms):
            core.process_change(graph, intake, insert, at_ms)
        else:
            self.engine.offer_change(graph, intake, insert, at_ms)
        return 0

    cpdef Intake scanned(self, Stream stream, text, str scope):
        """The triples of one element, as far as somebody who reads the stream may ask for them."""
        cdef Intake intake = self.read(text, scope, stream.scanner)
        if stream.counted and intake.total > 1 and stream.summary is not None:
            # Repeats must be known even of triples that nobody asks for.
            intake = self.read(text, scope, self.scanner)
        return intake

    cdef Intake read(self, text, str scope, Scanner scanner):
        """The triples of a text, each once."""
        cdef Intake intake = None
        cdef Py_ssize_t size = 0
        cdef const char *at
        if type(text) is str:
            at = utf8_of(text, &size)
            if at != NULL:
                intake = scanner.whole_bytes(<const uint8_t *>at, size, scope)
        else:
            intake = scanner.whole(text, scope)
        # What is odd is for the encoder to read, or to refuse.
        return self.encoder.scan(text, scope, scanner) if intake is None or scanner.errors is not None else intake

    cdef int64_t time_of(self, at_ms) except? -1:
        cdef int64_t time_ms
        if type(at_ms) is int:
            try:
                time_ms = at_ms
            except OverflowError:
                return self.engine.checked_time(at_ms)
            if -MOST_MS <= time_ms <= MOST_MS:
                return time_ms
        return self.engine.checked_time(at_ms)

    cdef tuple text_of(self, triples):
        """N-Triples of what a caller passed, and the scope of its blank nodes."""
        return (triples, "") if is_plain(triples) else self.encoder.text_of(triples)


cdef const char *utf8_of(str text, Py_ssize_t *size):
    """The bytes of a text; NULL for one with surrogates."""
    cdef const char *at = PyUnicode_AsUTF8AndSize(text, size)
    if at == NULL:
        PyErr_Clear()
    return at


cdef bint is_plain(triples):
    """Whether something is a text in which no blank nodes can be."""
    cdef Py_ssize_t size = 0
    cdef const char *at
    if type(triples) is not str:
        return False
    at = utf8_of(triples, &size)
    return "_:" not in triples if at == NULL else not has_label(<const uint8_t *>at, size)
