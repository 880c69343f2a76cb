"""Templates: the triples that each row makes, of its columns, of constants, and of terms made for the row.

What is no triple (a literal as subject, something unbound) is left out.
"""

import cython

from libc.stdint cimport int64_t

from millstream.kernels.aggregates.term_references cimport TermReferences, CountedTerms
from millstream.kernels.containers.growing cimport Growing, growing_close, growing_room
from millstream.kernels.dictionary.values cimport BLANK, IRI, kind_of
from millstream.kernels.flow.change_rows cimport (
    CHANGE, TICK, WEIGHT, ChangeRows, Written, change_close, change_open, change_row, change_write,
)
from millstream.kernels.flow.deltas cimport Deltas, Operator, check_widths
from millstream.kernels.flow.two_sided cimport same_change

cpdef enum Origin:
    COLUMN = 0
    CONSTANT = 1
    MADE = 2


cdef struct Source:
    int origin
    int64_t value               # a place, an id, or a place among the terms made


@cython.final
cdef class Template(Operator):
    """Rows of `width` columns, the last three a triple's: each of `rows` says for every column its origin and which one.

    `make` gives the terms made for rows, a column each; these, and constants, stay in the dictionary.
    """

    cdef Deltas given
    cdef Growing sources
    cdef int64_t row_count
    cdef int64_t made_count     # columns of terms made
    cdef ChangeRows group
    cdef TermReferences references
    cdef CountedTerms kept
    cdef list constants
    cdef object make

    def __cinit__(self, inputs, int width, rows, TermReferences references not None, make=None):
        cdef Source* source
        (self.given,) = self.inputs
        if width < 3 or any(len(row) != width for row in rows):
            raise ValueError(f"expected {width} columns, of which three are a triple's, got {rows}")
        change_open(&self.group, width)
        self.row_count = len(rows)
        growing_room(&self.sources, self.row_count * width, sizeof(Source))
        source = <Source*>self.sources.data
        self.references = references
        self.kept = CountedTerms(references)
        self.make = make
        for row in rows:
            for origin, value in row:
                if origin == COLUMN and not 0 <= value < self.given.rows.width:
                    raise ValueError(f"there is no column {value} among {self.given.rows.width}")
                if not COLUMN <= origin <= MADE or (origin == MADE and (make is None or value < 0)):
                    raise ValueError(f"nothing makes {value} of origin {origin}")
                if origin == MADE:
                    self.made_count = max(self.made_count, value + 1)
                source[0] = Source(origin, value)
                source += 1
        self.constants = sorted({value for row in rows for origin, value in row if origin == CONSTANT})
        for value in self.constants:
            references.hold_term(value)

    def __dealloc__(self):
        growing_close(&self.sources)
        change_close(&self.group)

    cdef void put(self, Source* source, const Written* given, const Written* made, int64_t row) noexcept nogil:
        """Collects what a row of the template makes of a row."""
        cdef int64_t* values = change_row(&self.group)
        cdef int i, width = self.group.width
        for i in range(width):
            values[i] = (given.columns[source[i].value][row] if source[i].origin == COLUMN
                         else source[i].value if source[i].origin == CONSTANT else made.columns[source[i].value][row])
        values[width] = given.columns[given.width + WEIGHT][row]
        values += width - 3
        if values[0] < 0 or values[2] < 0 or kind_of(values[0]) > BLANK or kind_of(values[1]) != IRI:
            self.group.size -= 1

    cdef int apply(self) except -1:
        cdef Written* given = &self.given.rows
        cdef Written* more = NULL
        cdef Deltas made
        cdef int64_t row, i
        cdef int column
        if self.make is not None:
            made = self.make(self.given)
            check_widths([made], self.made_count)
            more = &made.rows
            if more.size != given.size:
                raise ValueError(f"expected terms for {given.size} rows, got {more.size}")
            for column in range(more.width):
                for row in range(more.size):
                    self.kept.add(more.columns[column][row], given.columns[given.width + WEIGHT][row],
                                  given.columns[given.width + TICK][row])
        self.group.size = 0
        for row in range(given.size):
            for i in range(self.row_count):
                self.put((<Source*>self.sources.data) + i * self.group.width, given, more, row)
            if row + 1 == given.size or not same_change(given, row, row + 1):
                change_write(&self.group, &self.out.rows, given.columns[given.width + TICK][row],
                            given.columns[given.width + CHANGE][row])
        return 0

    def close(self, int64_t at_tick):
        """Lets go of constants and of terms made."""
        for value in self.constants:
            self.references.release_term(value, at_tick)
        self.kept.close(at_tick)
