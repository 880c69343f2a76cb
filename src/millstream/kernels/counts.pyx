"""Counts of rows and of operands in groups."""

import cython

from libc.stdint cimport int64_t

from millstream.kernels.arrays cimport word_at
from millstream.kernels.dictionary_values cimport INTEGER, make_id
from millstream.kernels.distinct cimport Distinct, weights_of
from millstream.kernels.groups cimport GroupTable
from millstream.kernels.growing cimport Growing, growing_close, growing_room


cdef inline int64_t count_id(int64_t count) noexcept nogil:
    return make_id(INTEGER, count + (<int64_t>1 << 58))


@cython.final
cdef class RowCounts:
    """The number of rows of each group; the table counts them anyway."""

    def accumulate(self, GroupTable table not None, int place, int operand, Distinct distinct):
        cdef int64_t event
        cdef int64_t* into
        table.check(place, operand)
        into = table.results(place)
        with nogil:
            for event in range(table.event_count):
                into[event] = count_id(table.event_rows[event])


@cython.final
cdef class Counts:
    """The number of rows of each group whose operand has a value; of all rows for operand -1."""

    cdef Growing counts

    def __dealloc__(self):
        growing_close(&self.counts)

    def accumulate(self, GroupTable table not None, int place, int operand, Distinct distinct):
        cdef int64_t change, row = 0, event = 0
        cdef int64_t* counts
        cdef int64_t* weights
        cdef int64_t* into
        table.check(place, operand)
        growing_room(&self.counts, table.slot_count(), sizeof(int64_t))
        counts = <int64_t*>self.counts.data
        weights = weights_of(table, distinct)
        into = table.results(place)
        with nogil:
            for change in range(table.change_count):
                while row < table.changes[change].row_end:
                    if operand < 0 or word_at(&table.columns, row, operand) >= 0:
                        counts[table.slots[row]] += weights[row]
                    row += 1
                while event < table.changes[change].event_end:
                    into[event] = count_id(counts[table.event_slots[event]])
                    event += 1
