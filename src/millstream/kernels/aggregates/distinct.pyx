"""Distinct tuples of columns within groups.

The weights of rows become weights of distinct tuples: 1 where a group meets a tuple for the first time, -1 where it
loses the last one, else 0. Whatever accumulates with those weights accumulates distinct values. A record is slot, tuple |
multiplicity, and goes when that is 0.
"""

import cython

from libc.stdint cimport int32_t, int64_t

from millstream.kernels.containers.growing cimport growing_close, growing_room
from millstream.kernels.containers.keyed cimport keyed_at, keyed_close, keyed_drop, keyed_get, keyed_hash, keyed_open
from millstream.kernels.flow.change_rows cimport WEIGHT, Written


@cython.final
cdef class DistinctTuples:
    """The multiplicities of tuples of the columns at some places."""

    def __cinit__(self, places):
        if not all(place >= 0 for place in places):
            raise ValueError(f"places {places} of columns are negative")
        self.last = max(places, default=-1)
        keyed_open(&self.tuples, 1 + len(places), 1)
        growing_room(&self.places, 1 + len(places), sizeof(int64_t))
        growing_room(&self.key, 1 + len(places), sizeof(int64_t))
        growing_room(&self.into, 1, sizeof(int64_t))
        for i, place in enumerate(places):
            (<int64_t*>self.places.data)[<int64_t>i] = place

    def __dealloc__(self):
        keyed_close(&self.tuples)
        growing_close(&self.places)
        growing_close(&self.key)
        growing_close(&self.into)

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

    cdef int64_t* weigh(self, const Written* rows, const int64_t* slots, int64_t count) noexcept nogil:
        """The weights of distinct tuples for the first rows, of groups with these slots."""
        cdef int64_t* key = <int64_t*>self.key.data
        cdef int64_t* places = <int64_t*>self.places.data
        cdef int64_t* into
        cdef int64_t row
        cdef int i
        growing_room(&self.into, count, sizeof(int64_t))
        into = <int64_t*>self.into.data
        for row in range(count):
            key[0] = slots[row]
            for i in range(self.tuples.width - 1):
                key[1 + i] = rows.columns[places[i]][row]
            into[row] = self.take(rows.columns[rows.width + WEIGHT][row])
        return into
