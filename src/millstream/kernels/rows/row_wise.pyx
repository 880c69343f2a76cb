"""Chains of computed columns, filters and choices of columns: a program makes one row of each row of the input, or none."""

import cython

from libc.stdint cimport int64_t

from millstream.kernels.aggregates.term_references cimport TermReferences, CountedTerms
from millstream.kernels.flow.change_rows cimport (
    CHANGE, MORE_COLUMNS, TICK, WEIGHT, ChangeRows, Written, change_close, change_open, change_row, change_write,
    written_copy, written_room,
)
from millstream.kernels.flow.deltas cimport Deltas, Operator, check_widths
from millstream.kernels.flow.two_sided cimport same_change
from millstream.kernels.rows.row_program cimport KEPT, RowProgram


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

    cdef void write(self, int64_t row) noexcept nogil:
        """Writes the columns that stay of a row, or collects them where they may be those of others too."""
        cdef Written* given = &self.given.rows
        cdef Written* out = &self.out.rows
        cdef int64_t* values
        cdef int i
        if self.drops:
            values = change_row(&self.group)
            for i in range(out.width):
                values[i] = self.program.output(i, given.columns, row)
            values[out.width] = given.columns[given.width + WEIGHT][row]
            return
        written_room(out, 1)
        for i in range(out.width):
            out.columns[i][out.size] = self.program.output(i, given.columns, row)
        for i in range(MORE_COLUMNS):
            out.columns[out.width + i][out.size] = given.columns[given.width + i][row]
        out.size += 1

    cdef int run_program(self) except -1:
        cdef Written* given = &self.given.rows
        cdef int64_t row
        self.group.size = 0
        for row in range(given.size):
            if self.program.run_row(given.columns, row) == KEPT:
                self.write(row)
            if self.drops and (row + 1 == given.size or not same_change(given, row, row + 1)):
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
        self.run_program()
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
