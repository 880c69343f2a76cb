"""A multiset of rows kept up to date by deltas, consolidated when somebody looks, or now and then.

Consolidated rows lie one after the other, each with its weight behind it, ordered by their columns; none has weight 0. What
came since then is a group, which is sorted and merged with them. So what a look costs beyond its rows depends on what has
come.
"""

from libc.stdint cimport int64_t
from libc.string cimport memcpy

from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.flow.change_rows cimport KEPT, change_close, change_open, change_row, write_row
from millstream.kernels.flow.change_sort cimport change_sort, compare_rows
from millstream.kernels.flow.deltas cimport Deltas

cdef enum:
    WAITING = 1 << 12           # so many rows, or twice as many as there are, may come before they are merged


cdef class AnswerSet:
    """Distinct rows and how often each is there; weights may be negative while not all has come."""

    def __cinit__(self, int width):
        if width < 0:
            raise ValueError(f"width must be at least 0, got {width}")
        change_open(&self.fresh, width)

    def __dealloc__(self):
        change_close(&self.fresh)
        block_free(self.rows, self.capacity * self.fresh.stride * sizeof(int64_t))
        block_free(self.spare, self.spare_capacity * self.fresh.stride * sizeof(int64_t))

    cdef int take(self, Deltas rows, int64_t times) except -1:
        cdef int64_t* values
        cdef int64_t i
        cdef int column
        if rows.rows.width < self.fresh.width:
            raise ValueError(f"expected {self.fresh.width} columns, got {rows.rows.width}")
        for i in range(rows.rows.size):
            values = change_row(&self.fresh)
            for column in range(self.fresh.width):
                values[column] = rows.rows.columns[column][i]
            values[self.fresh.width] = rows.weights()[i] * times
        if self.fresh.size > max(WAITING, 2 * self.size):
            self.settle()
        return 0

    cdef void settle(self) noexcept nogil:
        """Merges what has come with what is there."""
        cdef int64_t stride = self.fresh.stride, i = 0, j = 0, capacity = self.size + self.fresh.size, weight
        cdef int width = self.fresh.width, order
        cdef int64_t* to
        cdef int64_t* row
        if self.fresh.size == 0:
            return
        if capacity > self.spare_capacity:
            capacity = max(16, capacity + capacity // 2)
            self.spare = <int64_t*>block_resize(self.spare, self.spare_capacity * stride * sizeof(int64_t),
                                                capacity * stride * sizeof(int64_t))
            self.spare_capacity = capacity
        change_sort(&self.fresh)
        to = self.spare
        while i < self.size or j < self.fresh.size:
            order = 1
            if j == self.fresh.size:
                order = -1
            elif i < self.size:
                order = compare_rows(self.rows + i * stride, self.fresh.rows + self.fresh.order[j] * stride, width)
            row = self.rows + i * stride if order <= 0 else self.fresh.rows + self.fresh.order[j] * stride
            weight = 0
            if order <= 0:
                weight = row[width]
                i += 1
            if order >= 0:
                weight += self.fresh.rows[self.fresh.order[j] * stride + width]
                j += 1
                while j < self.fresh.size and self.fresh.order[j] < 0:
                    weight += self.fresh.rows[~self.fresh.order[j] * stride + width]
                    j += 1
            if weight != 0:
                memcpy(to, row, width * sizeof(int64_t))
                to[width] = weight
                to += stride
        self.size = (to - self.spare) // stride
        self.rows, self.spare = self.spare, self.rows
        self.capacity, self.spare_capacity = self.spare_capacity, self.capacity
        self.fresh.size = 0
        if self.fresh.capacity > KEPT:
            change_close(&self.fresh)
        if self.spare_capacity > KEPT:
            block_free(self.spare, self.spare_capacity * stride * sizeof(int64_t))
            self.spare = NULL
            self.spare_capacity = 0

    def apply(self, Deltas rows not None, int64_t times=1):
        """Takes rows in, each so many times; columns beyond its own do not count."""
        self.take(rows, times)

    def __len__(self):
        """How many distinct rows there are."""
        self.settle()
        return self.size

    @property
    def total(self):
        """How many rows there are."""
        cdef int64_t i, total = 0
        self.settle()
        for i in range(self.size):
            total += self.rows[i * self.fresh.stride + self.fresh.width]
        return total

    def counted(self):
        """Distinct rows and how often each stands in the set."""
        cdef Deltas found = self.at(0)
        return found.columns, found.weight

    def at(self, int64_t tick):
        """Its rows as one change at a tick."""
        cdef Deltas found = Deltas(width=self.fresh.width)
        cdef int64_t i
        cdef int64_t* row
        self.settle()
        found.room(self.size)
        for i in range(self.size):
            row = self.rows + i * self.fresh.stride
            write_row(&found.rows, row, tick, 0, row[self.fresh.width])
        return found


def summed(int width, *parts):
    """The sum of several, of so many of their columns."""
    cdef AnswerSet found = AnswerSet(width)
    for part in parts:
        found.take(part, 1)
    return found
