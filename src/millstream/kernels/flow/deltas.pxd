"""What flows between operators, in C: rows column by column that stay where they are from call to call, and what an operator
is.
"""

from libc.stdint cimport int64_t

from millstream.kernels.flow.change_rows cimport Written


cdef class Deltas:
    """Rows that appear and disappear: `width` columns, then tick, change and weight, in order of (tick, change)."""

    cdef Written rows
    # Of the step that writes it: changes that it has given in all, each row as often as its weight says, and CPU time that
    # it took while somebody measured.
    cdef readonly int64_t given
    cdef public int64_t spent_ns

    cdef inline int64_t size(self) noexcept nogil:
        return self.rows.size

    cdef inline int64_t* ticks(self) noexcept nogil:
        return self.rows.columns[self.rows.width]

    cdef inline int64_t* changes(self) noexcept nogil:
        return self.rows.columns[self.rows.width + 1]

    cdef inline int64_t* weights(self) noexcept nogil:
        return self.rows.columns[self.rows.width + 2]

    cdef write(self, int place, column)
    cdef object read(self, int place)
    cdef void clear(self) noexcept nogil
    cdef void room(self, int64_t more) noexcept nogil
    cdef void take(self, Deltas other) noexcept nogil
    cdef void copy_column(self, int place, Deltas other, int of) noexcept nogil

    cdef inline void tally(self) noexcept nogil:
        """Counts what it holds as given."""
        cdef int64_t* weight = self.weights()
        cdef int64_t i, sum = 0
        for i in range(self.rows.size):
            sum += weight[i] if weight[i] > 0 else -weight[i]
        self.given += sum


cdef class Bound:
    """How many rows a step may make of what comes at once."""

    cdef public int64_t most


cdef class Operator:
    """A node of the dataflow: what its inputs hold in, its own deltas out."""

    cdef readonly Deltas out
    cdef readonly tuple inputs

    cdef int apply(self) except -1


cdef int check_widths(inputs, int width) except -1


cdef class Arrivals:
    """Changes of patterns' contents, in order of change."""

    cdef int64_t length
    cdef int64_t capacity
    cdef int64_t* columns[8]

    cdef object read(self, int place)
    cdef void clear(self) noexcept nogil
    cdef void room(self, int64_t more) noexcept nogil


cdef enum:
    # added to a pattern's number: the triple comes to all patterns that are alike, of which it is the first
    ALIKE = 1 << 30

cdef enum:
    # Columns of arrivals.
    PATTERN = 0
    SUBJECT = 1
    PREDICATE = 2
    OBJECT = 3
    NOW = 4
    UNTIL = 5
    OP = 6
    NUMBER = 7
    ARRIVAL_COLUMNS = 8
