"""The union of inputs: their rows, change by change."""

import cython

from libc.stdint cimport int64_t

from millstream.kernels.containers.growing cimport Growing, growing_close, growing_room
from millstream.kernels.flow.change_rows cimport (
    CHANGE, TICK, WEIGHT, ChangeRows, Written, change_close, change_open, change_row, change_write, written_copy,
)
from millstream.kernels.flow.deltas cimport Deltas, Operator
from millstream.kernels.flow.two_sided cimport is_before


@cython.final
cdef class Union(Operator):
    """The rows of all inputs: `places` says for each input, for each column, which of its own stands there, -1 for none.

    With `numbered` the number of the input goes before its columns. No input's rows may lose what tells them apart.
    """

    cdef Growing places         # of all inputs, one after the other
    cdef Growing taken          # rows of each input
    cdef ChangeRows group
    cdef bint numbered

    def __cinit__(self, inputs, int width, places, bint numbered=False):
        cdef int i = 0, place
        cdef Deltas given
        if len(places) != len(self.inputs) or any(len(own) + numbered != width for own in places):
            raise ValueError(f"expected {width} places for each of {len(self.inputs)} inputs, got {places}")
        self.numbered = numbered
        change_open(&self.group, width)
        growing_room(&self.taken, len(self.inputs), sizeof(int64_t))
        growing_room(&self.places, width * len(self.inputs), sizeof(int64_t))
        for given, own in zip(self.inputs, places):
            for place in own:
                if not -1 <= place < given.rows.width:
                    raise ValueError(f"there is no column {place} among {given.rows.width}")
                (<int64_t*>self.places.data)[i] = place
                i += 1

    def __dealloc__(self):
        growing_close(&self.places)
        growing_close(&self.taken)
        change_close(&self.group)

    cdef void copy(self, int number) noexcept:
        """All rows of one input, in its order."""
        cdef Written* out = &self.out.rows
        cdef int64_t i
        written_copy(out, self.numbered, &(<Deltas>self.inputs[number]).rows, self.places_of(number))
        if self.numbered:
            for i in range(out.size):
                out.columns[0][i] = number

    cdef int64_t* places_of(self, int number) noexcept nogil:
        return (<int64_t*>self.places.data) + number * (self.group.width - self.numbered)

    cdef void put(self, const Written* given, int number, int64_t row) noexcept nogil:
        cdef int width = self.group.width - self.numbered, column
        cdef int64_t* places = self.places_of(number)
        cdef int64_t* values = change_row(&self.group)
        if self.numbered:
            values[0] = number
            values += 1
        for column in range(width):
            values[column] = -1 if places[column] < 0 else given.columns[places[column]][row]
        values[width] = given.columns[given.width + WEIGHT][row]

    cdef int apply(self) except -1:
        cdef int64_t* taken = <int64_t*>self.taken.data
        cdef Written* first = NULL
        cdef Written* given
        cdef int number, at = -1, some = 0, last = -1
        cdef int64_t tick = 0, change = 0
        cdef Deltas rows
        for number, rows in enumerate(self.inputs):
            taken[number] = 0
            if rows.rows.size:
                some += 1
                last = number
        if some <= 1:
            if some:
                self.copy(last)
            return 0
        while True:
            at = -1
            for number, rows in enumerate(self.inputs):
                given = &rows.rows
                if taken[number] < given.size and (at < 0 or is_before(given, taken[number], first, taken[at])):
                    at = number
                    first = given
            if at < 0:
                break
            if (first.columns[first.width + TICK][taken[at]] != tick
                    or first.columns[first.width + CHANGE][taken[at]] != change):
                change_write(&self.group, &self.out.rows, tick, change)
                tick = first.columns[first.width + TICK][taken[at]]
                change = first.columns[first.width + CHANGE][taken[at]]
            self.put(first, at, taken[at])
            taken[at] += 1
        change_write(&self.group, &self.out.rows, tick, change)
        return 0
