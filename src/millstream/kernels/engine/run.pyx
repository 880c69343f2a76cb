"""Queries at work: elements and changes of graphs become changes of contents, these deltas, and deltas reach the queries'
ends.

Everything comes in processing order; the engine sees to that. One element takes the same way as a million. A run that is not
plain is led by what it says in the methods that end with `_apart`.
"""

from libc.stdint cimport int64_t

from millstream.kernels.emission.emission cimport Closing, Reporter
from millstream.kernels.flow.deltas cimport Arrivals, Deltas
from millstream.kernels.flow.flow cimport Flow
from millstream.kernels.matching.elements cimport Elements
from millstream.kernels.matching.intake cimport Intake
from millstream.kernels.windows.window cimport GRID
from millstream.kernels.windows.window_changes cimport ContentChanges

cdef int64_t NEVER = -(<int64_t>1 << 62)


cdef class RunOutput:
    """One query's end of a run: what becomes of its solutions goes to its reporter."""

    def report_to(self, Reporter reporter not None):
        self.reporter = reporter

    @property
    def derives(self):
        """The stream that its answers form, while somebody reads it."""
        return self.stream

    @derives.setter
    def derives(self, stream):
        self.stream = stream
        self.connect()


cdef class Run:
    """The state of one query, or of several that share it."""

    def __cinit__(self, *args, **kwargs):
        self.emitters, self.closing = [], []
        self.tick = NEVER

    def __init__(self, Flow operator not None, ContentChanges contents not None):
        self.operator, self.contents = operator, contents

    cpdef int elements(self, Elements batch) except -1:
        """Elements of one of its streams."""
        cdef int64_t last
        if batch is None or batch.length == 0:
            return 0
        if not self.is_plain:
            self.elements_apart(batch)
            return 0
        for emitter in self.closing:
            if (<Closing?>(<RunOutput?>emitter).reporter).closes_at == NEVER and batch.stream in emitter.streams:
                (<RunOutput>emitter).reporter.first_element(self.first_ms(batch))
        last = batch.last_of()
        self.contents.take(batch, last)
        self.contents.pass_time(last)
        return self.emit_collected(last)

    cpdef int64_t first_ms(self, Elements batch) except? -1:
        """From when on windows close because of elements: what a change makes others construct may come when the instant of
        its own time has passed."""
        if batch is None or batch.length == 0:
            raise ValueError("there is no first of no elements")
        return max(batch.at_ms[0], ((self.tick - GRID) >> 2) + 1)

    cpdef int graph_changed(self, graph, Intake triples, int op, int64_t at_tick) except -1:
        """An effective insert (op 1) or delete (-1) in one of its graphs."""
        if triples is None or not self.is_plain or self.operator.others:
            self.graph_changed_apart(graph, triples, op, at_tick)
            return 0
        self.contents.pass_time(at_tick)
        self.contents.take_graph(graph, triples, at_tick, op)
        return self.emit_collected(at_tick)

    cpdef int pass_time(self, int64_t before) except -1:
        """Lets happen what time brings by itself at ticks before this one."""
        if before - 1 <= self.tick:
            return 0
        if not self.is_plain:
            self.pass_time_apart(before)
            return 0
        self.contents.pass_time(before)
        return self.emit_collected(before - 1)

    cpdef int report_due(self, int64_t at_tick) except -1:
        """Reports what has ended by itself, if anything has."""
        return self.report(at_tick) if self.operator.next_due <= at_tick else 0

    cdef int emit_collected(self, int64_t upto) except -1:
        """Hands what was collected to the operators, and what becomes of it up to a tick to the queries' ends."""
        cdef Arrivals arrivals = self.contents.number()
        if arrivals is not None:
            self.operator.feed(arrivals)
        elif self.operator.next_due > upto and not self.operator.others and not self.closing:
            # Nothing was fed, nothing falls due.
            if upto > self.tick:
                self.tick = upto
            return 0
        return self.report(upto)

    cpdef int report(self, int64_t upto, first=()) except -1:
        """Hands on what has become of the solutions; `first`: by a change that may be the first to concern these."""
        cdef tuple found = self.operator.drain(upto)
        cdef Deltas deltas
        cdef RunOutput emitter
        cdef Py_ssize_t place
        cdef bint any_first = bool(first)
        if len(found) != len(self.emitters):
            raise ValueError(f"{len(self.emitters)} queries have {len(found)} answer sets")
        if upto > self.tick:
            self.tick = upto
        for place in range(len(found)):
            deltas, emitter = found[place], self.emitters[place]
            if any_first or emitter.stream is not None:
                emitter.report(deltas, upto, first=emitter in first)
            elif deltas.rows.size or self.closing:
                emitter.reporter.take(deltas, upto)
        if self.operator.is_large:
            self.operator.give_back()
        return 0
