"""Programs that look at one row at a time, for operators (layout in row_program.pyx)."""

from libc.stdint cimport int64_t

from millstream.kernels.containers.hash_index cimport prefetch
from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.rows.row_cells cimport Cell
from millstream.kernels.rows.row_quotients cimport Quotient, Quotients, quotient_place
from millstream.kernels.rows.row_steps cimport Step
from millstream.kernels.rows.row_texts cimport Arena

cdef enum Outcome:
    KEPT
    DROPPED


cdef class RowProgram:
    cdef Dictionary dictionary
    cdef int width
    cdef int steps_count, outputs_count
    cdef Step* steps
    cdef int64_t* outputs
    cdef int64_t* computed
    cdef Cell* stack
    cdef tuple definitions
    cdef int64_t* asked         # the columns of a definition
    cdef tuple choices          # of members, as sorted columns
    cdef tuple tests            # of texts
    cdef Arena arena
    cdef int stored             # of the row being run
    cdef Quotients quotients    # that were calculated last
    cdef Quotient* sought       # where the one being calculated is to be remembered
    cdef int first_quotient     # the first step that looks one of two given columns up, -1 without one
    cdef bint made_terms        # whether a result is outside of ids, so that somebody must hold it

    cdef int check(self, const Step* step, int depth, int stored) except -1
    cdef int make_short(self) except -1
    cdef int64_t define(self, int64_t number, int64_t** columns, int64_t row) except -2
    cdef bint matches(self, int64_t number, Cell* cell) except -1
    cdef int resolve(self, Cell* cell) except -1
    cdef int store(self, Cell* cell) except -1
    cdef bint put(self, int64_t term_id) noexcept nogil
    cdef int run_row(self, int64_t** columns, int64_t row) except -1

    cdef inline void look_ahead(self, int64_t** columns, int64_t row) noexcept nogil:
        """A row is run soon: fetches where its quotient is remembered."""
        cdef const Step* step = self.steps + self.first_quotient
        if self.first_quotient >= 0 and self.quotients.table != NULL:
            prefetch(quotient_place(&self.quotients, columns[step.argument][row], columns[step.other][row]))

    cdef inline int64_t value(self, int64_t place, int64_t** columns, int64_t row) noexcept nogil:
        """A column of the row being run, given or computed."""
        return columns[place][row] if place < self.width else self.computed[place - self.width]

    cdef inline int64_t output(self, int which, int64_t** columns, int64_t row) noexcept nogil:
        """A column that stays of the row that was run."""
        cdef int64_t place = self.outputs[which]
        return -1 if place < 0 else self.value(place, columns, row)
