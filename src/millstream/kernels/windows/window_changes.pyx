"""What the patterns of a query can see: changes of its windows and graphs, put in order, numbered, and written as arrivals.

Window operators write entries; those of a default graph that several windows and graphs make up go through their union. In
order of (tick, order within the tick), stable, so that an operator's own order stands. Entries with equal tick and order are
one change.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from millstream.kernels.containers.arrays cimport array_of
from millstream.kernels.containers.growing cimport Growing, growing_close, growing_room
from millstream.kernels.flow.deltas cimport NOW, NUMBER, OBJECT, OP, PATTERN, PREDICATE, SUBJECT, UNTIL, Arrivals
from millstream.kernels.matching.elements cimport Elements
from millstream.kernels.matching.intake cimport Intake
from millstream.kernels.matching.patterns cimport Patterns
from millstream.kernels.windows.merged_content cimport MergedContent
from millstream.kernels.windows.window cimport Entries, Entry, WindowOperator, entries_add, entries_close, entries_put

cnp.import_array()

cdef int64_t FOREVER = <int64_t>1 << 62


cdef inline bint comes_before(const Entry* one, const Entry* other) noexcept nogil:
    return one.now < other.now or (one.now == other.now and one.order < other.order)


cdef class ContentChanges:
    """Collects what happens to the contents of one query's windows and graphs."""

    def __cinit__(self, *args, **kwargs):
        self.arrivals = Arrivals()
        self.unions = {}
        self.windows = {}
        self.graphs = {}
        self.acting = []
        self.first_change = 1

    def __dealloc__(self):
        entries_close(&self.entries)
        entries_close(&self.sorted)
        growing_close(&self.orders)

    # What happens

    cpdef int take(self, Elements batch, int64_t last) except -1:
        """What elements of a stream bring to windows over it up to a tick."""
        cdef WindowOperator operator
        cdef list operators = self.windows.get(batch.stream)
        if operators is None:
            return 0
        for operator in operators:
            operator.arrive(batch, &self.entries)
            # Within this batch, a window may show what the batch brought, or end.
            if operator.due < last:
                operator.pass_time(last, &self.entries)
        return 0

    cpdef int pass_time(self, int64_t before) except -1:
        """What time brings by itself to windows before a tick, after elements, which may put off what is due."""
        cdef WindowOperator operator
        for operator in self.acting:
            if operator.due < before:
                operator.pass_time(before, &self.entries)
        return 0

    cpdef int take_graph(self, graph, Intake triples, int64_t at_tick, int op) except -1:
        """Triples enter (op 1) or leave (-1) a graph."""
        cdef list inputs = self.graphs.get(graph)
        if inputs is not None:
            for patterns, source in inputs:
                self.graph_changed(patterns, source, triples, at_tick, op)
        return 0

    cpdef int graph_changed(self, Patterns patterns, int source, Intake triples, int64_t at_tick, int op) except -1:
        """The same for one input."""
        cdef int64_t n = triples.size, i, at
        cdef const int64_t* s = triples.words
        cdef int64_t row[4]
        patterns.among_columns(s, s + n, s + 2 * n, n)
        for i in range(patterns.size):
            at = patterns.row[i]
            row[0], row[1], row[2], row[3] = patterns.pattern[i], s[at], s[n + at], s[2 * n + at]
            entries_put(&self.entries, at_tick, 0, FOREVER, row, op, source)
        return 0

    def graph_changes(self, Patterns patterns not None, int source, triples, const int64_t[:] ticks, const int64_t[:] op,
                      const int64_t[:] order):
        """Triples enter or leave a graph in several changes, with their places among all that happens together."""
        cdef cnp.ndarray given = np.ascontiguousarray(triples, np.int64)
        cdef const int64_t* words = <const int64_t*>cnp.PyArray_DATA(given)
        cdef int64_t i, at, n = len(given)
        cdef int64_t row[4]
        if given.ndim != 2 or given.shape[1] != 3 or ticks.shape[0] != n or op.shape[0] != n or order.shape[0] != n:
            raise ValueError("columns differ in length")
        patterns.among_triples(words, n)
        for i in range(patterns.size):
            at = patterns.row[i]
            row[0] = patterns.pattern[i]
            memcpy(row + 1, words + 3 * at, 3 * sizeof(int64_t))
            entries_put(&self.entries, ticks[at], 2 * order[at] + 1, FOREVER, row, 1 if op[at] > 0 else -1, source)

    def graph_rows(self, Patterns patterns not None, int source, const int64_t[:] pattern, const int64_t[:, :] triples,
                   const int64_t[:] ticks, const int64_t[:] op, const int64_t[:] order):
        """The same of rows that are each meant for one pattern, with their places among all that happens together."""
        cdef int64_t i
        cdef int64_t row[4]
        for i in range(pattern.shape[0]):
            if patterns.knows(pattern[i]):
                row[0], row[1], row[2], row[3] = pattern[i], triples[i, 0], triples[i, 1], triples[i, 2]
                entries_put(&self.entries, ticks[i], 2 * order[i] + 1, FOREVER, row, <int>op[i], source)

    # In order

    cdef void sort(self) noexcept nogil:
        """Puts entries in order: few pieces that are in order by themselves, merged from the bottom up."""
        cdef int64_t n = self.entries.size, first, middle, last, i, j, k, pieces = 2
        cdef Entries swapped
        while pieces > 1:
            pieces = 0
            first = 0
            self.sorted.size = 0
            while self.sorted.capacity < n:
                self.sorted.size = self.sorted.capacity
                entries_add(&self.sorted)
            while first < n:
                middle = self.piece_end(first)
                last = self.piece_end(middle) if middle < n else middle
                i, j, k = first, middle, first
                while i < middle or j < last:
                    if j == last or (i < middle and not comes_before(self.entries.data + j, self.entries.data + i)):
                        self.sorted.data[k] = self.entries.data[i]
                        i += 1
                    else:
                        self.sorted.data[k] = self.entries.data[j]
                        j += 1
                    k += 1
                first = last
                pieces += 1
            self.sorted.size = n
            swapped = self.entries
            self.entries = self.sorted
            self.sorted = swapped

    cdef int64_t piece_end(self, int64_t first) noexcept nogil:
        """Where what is in order from a place on ends."""
        cdef int64_t i = first + 1
        while i < self.entries.size and not comes_before(self.entries.data + i, self.entries.data + i - 1):
            i += 1
        return i

    cpdef Arrivals number(self, bint leaving=False):
        """All that was collected as arrivals, None without any; `leaving`: only what leaves before an element."""
        cdef int64_t i, kept = 0, first, n
        cdef Entry* entry
        cdef Entry merged[2]
        cdef int part, found
        self.arrivals.clear()
        if self.entries.size == 0:
            return None
        if self.piece_end(0) < self.entries.size:
            self.sort()
        first = self.change + 1
        self.changes = 0
        n = self.entries.size
        for i in range(n):
            entry = self.entries.data + i
            if leaving and entry.order & 1:
                self.entries.data[kept] = entry[0]
                kept += 1
                continue
            if not self.unions or entry.source not in self.unions:
                self.write(entry)
                continue
            union, part = self.unions[entry.source]
            found = (<MergedContent?>union).take(part, entry, merged)
            if found:
                self.write(&merged[0])
            if found > 1:
                self.write(&merged[1])
        self.entries.size = kept
        if self.arrivals.length == 0:
            return None
        self.first_change = first
        return self.arrivals

    cdef void write(self, const Entry* entry) noexcept:
        cdef Arrivals into = self.arrivals
        cdef int64_t at = into.length
        cdef bint new = at == 0 or into.columns[NOW][at - 1] != entry.now
        if not new:
            new = (<int64_t*>self.orders.data)[self.changes - 1] != entry.order
        if new:
            growing_room(&self.orders, self.changes + 1, sizeof(int64_t))
            (<int64_t*>self.orders.data)[self.changes] = entry.order
            self.changes += 1
            self.change += 1
        into.room(1)
        into.columns[PATTERN][at] = entry.pattern
        into.columns[SUBJECT][at] = entry.s
        into.columns[PREDICATE][at] = entry.p
        into.columns[OBJECT][at] = entry.o
        into.columns[NOW][at] = entry.now
        into.columns[UNTIL][at] = entry.until
        into.columns[OP][at] = entry.op
        into.columns[NUMBER][at] = self.change
        into.length += 1

    def orders_of_changes(self):
        """The number of the first change numbered last, and for it and all others their order within their tick."""
        return self.first_change, array_of(self.orders.data, self.changes)
