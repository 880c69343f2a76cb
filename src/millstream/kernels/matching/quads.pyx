"""What a triple pattern matches in named graphs, with the graph's name as a further column: rows that wait to be drained."""

import cython

from libc.stdint cimport int64_t

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.flow.change_rows cimport ChangeRows, change_close, change_open, change_row, change_write
from millstream.kernels.flow.deltas cimport Deltas
from millstream.kernels.relations.relation cimport RowCounter

cdef enum:
    TERMS = 4                   # of a quad: a triple, and the graph that it is in
    GRAPH = 3


@cython.final
cdef class QuadRows:
    """Rows of one pattern, counted; the dictionary keeps the names of graphs, which are in no triple that would."""

    cdef Dictionary dictionary
    cdef RowCounter rows
    cdef RowCounter graphs
    cdef ChangeRows group            # rows of the change at hand
    cdef Deltas waiting
    cdef Deltas drained
    cdef int64_t tick
    cdef int64_t change
    cdef int64_t constants[TERMS]
    cdef int first[TERMS]
    cdef int places[TERMS]
    cdef int width
    cdef int name               # the column with the name of the graph, -1 without one

    def __cinit__(self, Dictionary dictionary not None, constants, first, places):
        """`constants`: the ids of a quad's terms, -1 for a variable. `first`: for each term the place of the first that is
        the same. `places`: which terms the columns are."""
        cdef int i
        self.width = len(places)
        if len(constants) != TERMS or len(first) != TERMS or self.width > TERMS:
            raise ValueError(f"a quad has {TERMS} terms")
        if not all(0 <= place < TERMS for place in (*first, *places)):
            raise ValueError(f"there is no such term among {TERMS}: {first}, {places}")
        for i in range(TERMS):
            self.constants[i] = constants[i]
            self.first[i] = first[i]
        self.name = -1
        for i in range(self.width):
            self.places[i] = places[i]
            if self.places[i] == GRAPH:
                self.name = i
        self.dictionary = dictionary
        self.rows, self.graphs = RowCounter(self.width), RowCounter(1)
        self.waiting, self.drained = Deltas(width=self.width), Deltas(width=self.width)
        change_open(&self.group, self.width)

    def __dealloc__(self):
        change_close(&self.group)

    def feed(self, int64_t graph, const int64_t[:, :] triples, int op, int64_t at_tick, int64_t change):
        """Triples that enter (op 1) or leave (-1) a graph, a set, in order of changes."""
        cdef int64_t quad[TERMS]
        cdef int64_t row
        cdef int64_t* values
        cdef int i
        if triples.shape[1] != GRAPH:
            raise ValueError(f"expected triples, got {triples.shape[1]} columns")
        if at_tick != self.tick or change != self.change:
            self.close_change()
            self.tick, self.change = at_tick, change
        quad[GRAPH] = graph
        for row in range(triples.shape[0]):
            for i in range(GRAPH):
                quad[i] = triples[row, i]
            if not self.matches(quad):
                continue
            values = change_row(&self.group)
            for i in range(self.width):
                values[i] = self.rows.row[i] = quad[self.places[i]]
            values[self.width] = op
            self.count(op, at_tick)

    cdef bint matches(self, const int64_t* quad) noexcept nogil:
        cdef int i
        for i in range(TERMS):
            if (self.constants[i] >= 0 and self.constants[i] != quad[i]) or quad[i] != quad[self.first[i]]:
                return False
        return True

    cdef int count(self, int64_t weight, int64_t at_tick) except -1:
        """Takes the row that the counter has."""
        cdef int sign
        self.rows.add(weight)
        if self.name >= 0:
            self.graphs.row[0] = self.rows.row[self.name]
            sign = self.graphs.add(weight)
            if sign > 0:
                self.dictionary.hold_one(self.graphs.row[0])
            elif sign < 0:
                self.dictionary.release_one(self.graphs.row[0], at_tick)
        return 0

    cdef void close_change(self) noexcept:
        if self.group.size:
            change_write(&self.group, &self.waiting.rows, self.tick, self.change)

    def drain(self):
        """What came since the last call; good until the next."""
        self.close_change()
        self.drained.clear()
        self.waiting, self.drained = self.drained, self.waiting
        return self.drained

    def counted(self):
        """The rows that are there, each with how often."""
        return self.rows.counted()

    def load(self, const int64_t[:, :] columns, const int64_t[:] weight):
        """Takes what was counted; nothing waits for that."""
        cdef int64_t row
        cdef int i
        if columns.shape[1] != self.width or columns.shape[0] != weight.shape[0]:
            raise ValueError("columns differ in number or length")
        for row in range(weight.shape[0]):
            for i in range(self.width):
                self.rows.row[i] = columns[row, i]
            self.count(weight[row], 0)

    def close(self, int64_t at_tick):
        """Lets go of the names of graphs."""
        for name in self.graphs.counted()[0][:, 0].tolist():
            self.dictionary.release_one(name, at_tick)
