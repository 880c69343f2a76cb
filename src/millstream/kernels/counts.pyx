"""Counting: rows, terms, and distinct terms of groups.

`Distinct` turns the weights of rows into weights of distinct tuples: 1 where a group meets a tuple for the first time, -1 where it
loses the last one, else 0. Whatever accumulates with those weights accumulates distinct values. Its records are
slot, tuple | multiplicity, and go when that is 0.
"""

import cython
import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from millstream.kernels.dictionary_values cimport INTEGER, make_id
from millstream.kernels.groups cimport GroupTable
from millstream.kernels.growing cimport Growing, growing_close, growing_room
from millstream.kernels.keyed cimport Keyed, keyed_at, keyed_close, keyed_drop, keyed_get, keyed_hash, keyed_open

cnp.import_array()


cdef inline int64_t count_id(int64_t count) noexcept nogil:
    return make_id(INTEGER, count + (<int64_t>1 << 58))


@cython.final
cdef class RowCounts:
    """The number of rows of each group; the table counts them anyway."""

    def accumulate(self, GroupTable table, int place, const int64_t[:, :] columns, int operand, const int64_t[:] weight):
        cdef int64_t event
        cdef int64_t* into
        table.check(place, columns, operand, weight)
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

    def accumulate(self, GroupTable table, int place, const int64_t[:, :] columns, int operand, const int64_t[:] weight):
        cdef int64_t change, row = 0, event = 0
        cdef int64_t* counts
        cdef int64_t* into
        table.check(place, columns, operand, weight)
        growing_room(&self.counts, table.slot_count(), sizeof(int64_t))
        counts = <int64_t*>self.counts.data
        into = table.results(place)
        with nogil:
            for change in range(table.change_count):
                while row < table.changes[change].row_end:
                    if operand < 0 or columns[row, operand] >= 0:
                        counts[table.slots[row]] += weight[row]
                    row += 1
                while event < table.changes[change].event_end:
                    into[event] = count_id(counts[table.event_slots[event]])
                    event += 1


@cython.final
cdef class Distinct:
    """The multiplicities of tuples of some columns within groups."""

    cdef Keyed tuples
    cdef Growing places
    cdef Growing key

    def __cinit__(self, places):
        if not all(place >= 0 for place in places):
            raise ValueError(f"places {places} of columns are negative")
        keyed_open(&self.tuples, 1 + len(places), 1)
        growing_room(&self.places, 1 + len(places), sizeof(int64_t))
        growing_room(&self.key, 1 + len(places), sizeof(int64_t))
        for i, place in enumerate(places):
            (<int64_t*>self.places.data)[<int64_t>i] = place

    def __dealloc__(self):
        keyed_close(&self.tuples)
        growing_close(&self.places)
        growing_close(&self.key)

    cdef int64_t take(self, int64_t weight) noexcept nogil:
        """What becomes of the tuple in `key` by a weight: 1 if it is new, -1 if it went, else 0."""
        cdef int64_t* key = <int64_t*>self.key.data
        cdef int32_t number = keyed_get(&self.tuples, key, keyed_hash(&self.tuples, key))
        cdef int64_t* multiplicity = keyed_at(&self.tuples, number) + self.tuples.width
        cdef bint before = multiplicity[0] > 0
        multiplicity[0] += weight
        cdef bint after = multiplicity[0] > 0
        if multiplicity[0] == 0:
            keyed_drop(&self.tuples, number)
        return <int64_t>after - <int64_t>before

    def weights(self, GroupTable table, const int64_t[:, :] columns, const int64_t[:] weight):
        """The weights of distinct tuples by row of the batch that the table has entered."""
        cdef int64_t* key = <int64_t*>self.key.data
        cdef int64_t* places = <int64_t*>self.places.data
        cdef int64_t row, n = table.row_count
        cdef int i
        if columns.shape[0] != n or weight.shape[0] != n:
            raise ValueError(f"{n} rows were entered, not {columns.shape[0]}")
        for i in range(self.tuples.width - 1):
            if places[i] >= columns.shape[1]:
                raise ValueError(f"there is no column {places[i]} among {columns.shape[1]}")
        array = np.empty(n, np.int64)
        cdef int64_t[::1] into = array
        with nogil:
            for row in range(n):
                key[0] = table.slots[row]
                for i in range(self.tuples.width - 1):
                    key[1 + i] = columns[row, places[i]]
                into[row] = self.take(weight[row])
        return array
