"""Programs that look at one row at a time, for operators (layout in row_program.pyx)."""

from libc.stdint cimport int64_t

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.numbers.exact cimport Number
from millstream.kernels.rows.row_cells cimport Cell

cdef enum Outcome:
    KEPT
    DROPPED

cdef enum:
    # Operations of which nobody but a program knows.
    NUMERAL = 64                # pushes a constant that is calculated with, as a number
    SHORTCUT = 65               # decides the test that follows, of a column and a constant, if both are numbers in ids
    ROUNDED_QUOTIENT = 66       # a division and the rounding that follows
    IN_WORDS = 67               # calculates what follows, of columns and a constant, if all of it is in words
    SKIPPED = 4                 # steps that a shortcut replaces
    CALCULATED = 3              # steps that a calculation in words replaces

cdef struct Step:
    int operation
    int meant                   # by a shortcut or in words: which comparison or calculation
    int end                     # the step that takes the result of the expression this one is of
    int64_t argument
    int64_t other               # in words, the second column; -1 for the number, as it is for the argument
    Number number               # of a numeral, of a shortcut, in words


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
    cdef int stored             # of the row being run
    cdef bint made_terms        # whether a result is outside of ids, so that somebody must hold it

    cdef int check(self, const Step* step, int depth, int stored) except -1
    cdef int make_short(self) except -1
    cdef int link(self, const int* place_of) except -1
    cdef int64_t define(self, int64_t number, int64_t** columns, int64_t row) except -2
    cdef bint is_member(self, int64_t number, Cell* cell) except -1
    cdef int resolve(self, Cell* cell) except -1
    cdef int store(self, Cell* cell) except -1
    cdef bint calculate_words(self, const Step* step, int64_t** columns, int64_t row, Cell* into) noexcept nogil
    cdef int run_row(self, int64_t** columns, int64_t row) except -1

    cdef inline int64_t value(self, int64_t place, int64_t** columns, int64_t row) noexcept nogil:
        """A column of the row being run, given or computed."""
        return columns[place][row] if place < self.width else self.computed[place - self.width]

    cdef inline int64_t output(self, int which, int64_t** columns, int64_t row) noexcept nogil:
        """A column that stays of the row that was run."""
        cdef int64_t place = self.outputs[which]
        return -1 if place < 0 else self.value(place, columns, row)
