"""Counts of rows and of operands in groups."""

import cython

from libc.stdint cimport int64_t

from millstream.kernels.aggregates.groups cimport Accumulator, GroupTable
from millstream.kernels.containers.growing cimport Growing, growing_close, growing_room
from millstream.kernels.dictionary.values cimport INTEGER, make_id
from millstream.kernels.numbers.number_ids cimport number_id

cdef int64_t MOST_INLINED = <int64_t>1 << 58


cdef inline int64_t count_id(GroupTable table, int64_t count) except -1:
    if -MOST_INLINED < count < MOST_INLINED:
        return make_id(INTEGER, count + MOST_INLINED)
    return number_id(table.references.dictionary, count, 0, False)


@cython.final
cdef class RowCounts(Accumulator):
    """The number of rows of each group; the table counts them anyway."""

    cdef int accumulate(self, GroupTable table, int place) except -1:
        cdef int64_t event
        cdef int64_t* into = table.results(place)
        for event in range(table.event_count):
            into[event] = count_id(table, table.event_rows[event])
        return 0


@cython.final
cdef class Counts(Accumulator):
    """The number of rows of each group whose operand has a value; of all rows for operand -1."""

    cdef Growing counts

    def __dealloc__(self):
        growing_close(&self.counts)

    cdef int accumulate(self, GroupTable table, int place) except -1:
        cdef int64_t change, row = 0, event = 0
        cdef int64_t* counts
        cdef int64_t* weights = self.weights(table)
        cdef int64_t* operands = NULL if self.operand < 0 else table.rows.columns[self.operand]
        cdef int64_t* into = table.results(place)
        growing_room(&self.counts, table.slot_count(), sizeof(int64_t))
        counts = <int64_t*>self.counts.data
        for change in range(table.change_count):
            while row < table.changes[change].row_end:
                if self.operand < 0 or operands[row] >= 0:
                    counts[table.slots[row]] += weights[row]
                row += 1
            while event < table.changes[change].event_end:
                into[event] = count_id(table, counts[table.event_slots[event]])
                event += 1
        return 0
