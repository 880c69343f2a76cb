"""Chains of computed columns, filters and choices of columns: a program makes one row of each row of the input, or none."""

import cython

from libc.stdint cimport int64_t
from libc.string cimport memcpy

from millstream.kernels.aggregates.term_references cimport TermReferences, CountedTerms
from millstream.kernels.flow.change_rows cimport (
    CHANGE, MORE_COLUMNS, TICK, WEIGHT, ChangeRows, Written, change_close, change_open, change_row, change_write,
    written_copy, written_room,
)
from millstream.kernels.flow.deltas cimport Deltas, Operator, check_widths
from millstream.kernels.flow.two_sided cimport same_change
from millstream.kernels.rows.row_program cimport KEPT, RowProgram


cdef enum:
    BLOCK = 256                 # rows that are written together
    FEW = 8                     # rows for which a call is worth avoiding
    SOON = 8                    # rows ahead


cdef inline void take_rows(int64_t* into, const int64_t* column, const int64_t* rows, int64_t count) noexcept nogil:
    """Some rows of a column, in order; -1 for each without a column."""
    cdef int64_t i
    if column == NULL:
        for i in range(count):
            into[i] = -1
    elif count >= FEW and rows[count - 1] - rows[0] == count - 1:
        memcpy(into, column + rows[0], count * sizeof(int64_t))
    else:
        for i in range(count):
            into[i] = column[rows[i]]


@cython.final
cdef class RowWise(Operator):
    """What a program makes of its input.

    With `drops` different rows may become equal. The terms in the output's columns `kept`, and those of `constants`, stay
    in the dictionary.
    """

    cdef RowProgram program
    cdef TermReferences references
    cdef Deltas given
    cdef tuple kept             # places and what counts their terms
    cdef tuple constants
    cdef bint drops
    cdef ChangeRows group

    def __cinit__(self, inputs, int width, RowProgram program not None, TermReferences references not None, *,
                  bint drops=False, kept=(), constants=()):
        (self.given,) = self.inputs
        check_widths(self.inputs, program.width)
        check_widths([self.out], program.outputs_count)
        if not all(0 <= place < width for place in kept):
            raise ValueError(f"columns {kept} are not among {width}")
        self.program = program
        self.references = references
        self.drops = drops
        change_open(&self.group, width)
        self.kept = tuple((place, CountedTerms(references)) for place in kept)
        self.constants = tuple(constants)
        for term_id in self.constants:
            references.hold_term(term_id)

    def __dealloc__(self):
        change_close(&self.group)

    cdef int select_rows(self, int64_t first, int64_t last) except -1:
        """Runs the program for a block of rows; writes the columns that it computes, and then the others, each at once."""
        cdef Written* given = &self.given.rows
        cdef Written* out = &self.out.rows
        cdef int64_t selected[BLOCK]
        cdef int64_t* places = self.program.outputs
        cdef int64_t size = out.size, kept = 0, row
        cdef int i
        written_room(out, last - first)
        for row in range(first, last):
            if row + SOON < last:
                self.program.look_ahead(given.columns, row + SOON)
            if self.program.run_row(given.columns, row) != KEPT:
                continue
            selected[kept] = row
            for i in range(out.width):
                if places[i] >= given.width:
                    out.columns[i][size + kept] = self.program.computed[places[i] - given.width]
            kept += 1
        for i in range(out.width):
            if places[i] < given.width:
                take_rows(out.columns[i] + size, given.columns[places[i]] if places[i] >= 0 else NULL, selected, kept)
        for i in range(MORE_COLUMNS):
            take_rows(out.columns[out.width + i] + size, given.columns[given.width + i], selected, kept)
        out.size = size + kept
        return 0

    cdef int collect_rows(self) except -1:
        """Runs the program where rows may become equal: what it makes of a change is consolidated."""
        cdef Written* given = &self.given.rows
        cdef int64_t* values
        cdef int64_t row
        cdef int i
        self.group.size = 0
        for row in range(given.size):
            if self.program.run_row(given.columns, row) == KEPT:
                values = change_row(&self.group)
                for i in range(self.group.width):
                    values[i] = self.program.output(i, given.columns, row)
                values[self.group.width] = given.columns[given.width + WEIGHT][row]
            if row + 1 == given.size or not same_change(given, row, row + 1):
                change_write(&self.group, &self.out.rows, given.columns[given.width + TICK][row],
                            given.columns[given.width + CHANGE][row])
        return 0

    cdef int apply(self) except -1:
        cdef Written* out = &self.out.rows
        cdef int64_t row
        cdef CountedTerms kept
        cdef int place
        if self.program.steps_count == 0 and not self.drops:
            written_copy(out, 0, &self.given.rows, self.program.outputs)
            return 0
        self.program.made_terms = False
        if self.drops:
            self.collect_rows()
        else:
            for row in range(0, self.given.rows.size, BLOCK):
                self.select_rows(row, min(row + BLOCK, self.given.rows.size))
        if self.program.made_terms:
            for place, kept in self.kept:
                for row in range(out.size):
                    kept.add(
                        out.columns[place][row], out.columns[out.width + WEIGHT][row], out.columns[out.width + TICK][row]
                    )
        return 0

    def close(self, int64_t at_tick):
        """Lets go of constants and computed terms."""
        cdef CountedTerms kept
        for term_id in self.constants:
            self.references.release_term(term_id, at_tick)
        for _, kept in self.kept:
            kept.close(at_tick)
