"""Multisets of rows that change: which rows are there at all, and which have a match.

Rows come as columns of ids (-1: unbound) with weights to be added to their counts, each change consolidated.
"""

import cython
import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from millstream.kernels.group cimport (
    Group, Written, group_close, group_open, group_row, group_write, written_close, written_open, written_take,
)
from millstream.kernels.keyed cimport (
    Keyed, keyed_at, keyed_bytes, keyed_close, keyed_drop, keyed_get, keyed_hash, keyed_open,
)
from millstream.kernels.memory cimport block_free, block_resize
from millstream.kernels.multiset cimport (
    Multiset, multiset_bytes, multiset_close, multiset_enter, multiset_find, multiset_leave, multiset_open, row_at, row_hash,
    take_row,
)
from millstream.kernels.sides cimport LEFT, NEITHER, RIGHT, check_deltas, next_side
from millstream.kernels.store cimport next_free

cnp.import_array()


@cython.final
cdef class RowCounter:
    """Counts rows, and tells when a count leaves zero and when it comes back to it."""

    cdef Multiset rows
    cdef int64_t* row

    def __cinit__(self, int width):
        if width < 0:
            raise ValueError(f"width must be at least 0, got {width}")
        multiset_open(&self.rows, width, 1)
        self.row = <int64_t*>block_resize(NULL, 0, width * sizeof(int64_t))

    def __dealloc__(self):
        multiset_close(&self.rows)
        block_free(self.row, self.rows.width * sizeof(int64_t))

    cdef int add(self, int64_t weight) noexcept nogil:
        """Counts the row being taken: 1 if it is there now and was not before, -1 if it is the other way round."""
        cdef uint32_t hash = row_hash(self.row, self.rows.width)
        cdef int32_t number = multiset_find(&self.rows, self.row, hash)
        cdef int64_t* count
        cdef bint before
        if weight == 0:
            return 0
        if number < 0:
            number = multiset_enter(&self.rows, self.row, hash)
        count = row_at(&self.rows, number) + self.rows.width
        before = count[0] > 0
        count[0] += weight
        weight = count[0]
        if weight == 0:
            multiset_leave(&self.rows, number, hash)
        return <int>(weight > 0) - <int>before

    def apply(self, const int64_t[:, :] columns, const int64_t[::1] weight):
        """Adds weights row by row. Gives the places of rows whose count left zero or came back to it, and the sign of each."""
        cdef int64_t n = weight.shape[0], i, size = 0
        cdef int sign
        if columns.shape[1] != self.rows.width:
            raise ValueError(f"expected {self.rows.width} columns, got {columns.shape[1]}")
        if columns.shape[0] != n:
            raise ValueError("columns differ in length")
        found = np.empty((2, n), np.int64)
        cdef int64_t[:, ::1] into = found
        with nogil:
            for i in range(n):
                take_row(self.row, columns, i, self.rows.width)
                sign = self.add(weight[i])
                if sign != 0:
                    into[0, size] = i
                    into[1, size] = sign
                    size += 1
        return found[0, :size], found[1, :size]

    def counted(self):
        """All rows, in no order, and their counts."""
        cdef int64_t size = self.rows.records.size, live = self.rows.records.live, at = 0, i
        cdef int32_t number = self.rows.records.free
        cdef int width = self.rows.width
        free = np.zeros(size, np.uint8)
        found = np.empty((live, width + 1), np.int64)
        cdef uint8_t[::1] is_free = free
        cdef int64_t[:, ::1] into = found
        while number >= 0:
            is_free[number] = 1
            number = next_free(&self.rows.records, self.rows.bytes_each, number)[0]
        for i in range(size):
            if not is_free[i]:
                memcpy(&into[at, 0], row_at(&self.rows, <int32_t>i), (width + 1) * sizeof(int64_t))
                at += 1
        return np.ascontiguousarray(found[:, :width]), np.ascontiguousarray(found[:, width])

    @property
    def stats(self):
        return {"rows": int(self.rows.records.live), "bytes": int(multiset_bytes(&self.rows))}


@cython.final
cdef class MatchCounter:
    """Left rows, each with how often it is matched: those without a match, or all of them with a mark.

    A row has two counts, left and matched; it is matched while the second is not zero.
    """

    cdef Multiset rows
    cdef int64_t* row
    cdef bint marked
    cdef int64_t marks[2]       # the value of a mark, unmatched and matched
    cdef Group group
    cdef Written out

    def __cinit__(self, int width, marks=None):
        if width < 0:
            raise ValueError(f"width must be at least 0, got {width}")
        self.marked = marks is not None
        if self.marked:
            self.marks[0], self.marks[1] = marks
        multiset_open(&self.rows, width, 2)
        self.row = <int64_t*>block_resize(NULL, 0, width * sizeof(int64_t))
        group_open(&self.group, width + self.marked)
        written_open(&self.out, width + self.marked)

    def __dealloc__(self):
        multiset_close(&self.rows)
        block_free(self.row, self.rows.width * sizeof(int64_t))
        group_close(&self.group)
        written_close(&self.out)

    cdef void put(self, bint matched, int64_t weight) noexcept nogil:
        """Collects a change of the row being taken, as one that is matched or not."""
        cdef int64_t* values
        cdef int i, width = self.rows.width
        if weight == 0 or (matched and not self.marked):
            return
        values = group_row(&self.group)
        for i in range(width):
            values[i] = self.row[i]
        if self.marked:
            values[width] = self.marks[matched]
            width += 1
        values[width] = weight

    cdef void add(self, int side, int64_t weight) noexcept nogil:
        """Adds to a count of the row being taken."""
        cdef uint32_t hash = row_hash(self.row, self.rows.width)
        cdef int32_t number = multiset_find(&self.rows, self.row, hash)
        cdef int64_t* counts
        cdef int64_t left
        cdef bint before, after
        if weight == 0:
            return
        if number < 0:
            number = multiset_enter(&self.rows, self.row, hash)
        counts = row_at(&self.rows, number) + self.rows.width
        left = counts[LEFT]
        before = counts[RIGHT] != 0
        counts[side] += weight
        after = counts[RIGHT] != 0
        if before == after:
            self.put(after, counts[LEFT] - left)
        else:
            self.put(before, -left)
            self.put(after, left)
        if counts[LEFT] == 0 and counts[RIGHT] == 0:
            multiset_leave(&self.rows, number, hash)

    def feed(self, const int64_t[:, :] left, const int64_t[::1] left_tick, const int64_t[::1] left_change,
             const int64_t[::1] left_weight, const int64_t[:, :] matched, const int64_t[::1] matched_tick,
             const int64_t[::1] matched_change, const int64_t[::1] matched_weight):
        """Takes left rows and rows that are matched. Gives columns, tick, change, weight of the result, consolidated."""
        cdef int64_t i = 0, j = 0, tick, change, at_tick = 0, at_change = 0
        cdef int side, width = self.rows.width
        check_deltas(left, width, left_tick, left_change, left_weight)
        check_deltas(matched, width, matched_tick, matched_change, matched_weight)
        with nogil:
            while True:
                side = next_side(left_tick, left_change, i, matched_tick, matched_change, j)
                if side == NEITHER:
                    break
                tick = left_tick[i] if side == LEFT else matched_tick[j]
                change = left_change[i] if side == LEFT else matched_change[j]
                if tick != at_tick or change != at_change:
                    group_write(&self.group, &self.out, at_tick, at_change)
                    at_tick = tick
                    at_change = change
                if side == LEFT:
                    take_row(self.row, left, i, width)
                    self.add(LEFT, left_weight[i])
                    i += 1
                else:
                    take_row(self.row, matched, j, width)
                    self.add(RIGHT, matched_weight[j])
                    j += 1
            group_write(&self.group, &self.out, at_tick, at_change)
        return written_take(&self.out)

    @property
    def stats(self):
        return {"rows": int(self.rows.records.live), "bytes": int(multiset_bytes(&self.rows))}


cdef enum:
    COUNT = 0                   # behind a left row: its count and its neighbours of the same key, by number + 1
    NEXT = 1
    PREVIOUS = 2
    MATCHES = 0                 # behind a key: how often it is matched, and the first left row that has it, by number + 1
    FIRST = 1


@cython.final
cdef class KeyMatcher:
    """Left rows, matched by rows that have just some of their columns, the key: those without a match, or all with a mark."""

    cdef Multiset rows
    cdef Keyed keys
    cdef int* places            # of the key among the columns of a left row
    cdef int64_t* row
    cdef int64_t* key
    cdef bint marked
    cdef int64_t marks[2]
    cdef Group group
    cdef Written out

    def __cinit__(self, int width, key, marks=None):
        cdef int i, size = len(key)
        if width < 0 or not all(0 <= place < width for place in key):
            raise ValueError(f"a key is columns of a row of {width}, got {key}")
        self.marked = marks is not None
        if self.marked:
            self.marks[0], self.marks[1] = marks
        multiset_open(&self.rows, width, 3)
        keyed_open(&self.keys, size, 2)
        self.row = <int64_t*>block_resize(NULL, 0, width * sizeof(int64_t))
        self.key = <int64_t*>block_resize(NULL, 0, size * sizeof(int64_t))
        self.places = <int*>block_resize(NULL, 0, size * sizeof(int))
        for i in range(size):
            self.places[i] = key[i]
        group_open(&self.group, width + self.marked)
        written_open(&self.out, width + self.marked)

    def __dealloc__(self):
        block_free(self.row, self.rows.width * sizeof(int64_t))
        block_free(self.key, self.keys.width * sizeof(int64_t))
        block_free(self.places, self.keys.width * sizeof(int))
        multiset_close(&self.rows)
        keyed_close(&self.keys)
        group_close(&self.group)
        written_close(&self.out)

    cdef void put(self, int64_t* row, bint matched, int64_t weight) noexcept nogil:
        """Collects a change of a row, as one that is matched or not."""
        cdef int64_t* values
        cdef int width = self.rows.width
        if weight == 0 or (matched and not self.marked):
            return
        values = group_row(&self.group)
        memcpy(values, row, width * sizeof(int64_t))
        if self.marked:
            values[width] = self.marks[matched]
            width += 1
        values[width] = weight

    cdef void drop_unused(self, int32_t key) noexcept nogil:
        cdef int64_t* kept = keyed_at(&self.keys, key) + self.keys.width
        if kept[MATCHES] == 0 and kept[FIRST] == 0:
            keyed_drop(&self.keys, key)

    cdef void chain(self, int32_t key, int32_t number) noexcept nogil:
        """Puts a new row before the others of its key."""
        cdef int width = self.rows.width
        cdef int64_t* first = keyed_at(&self.keys, key) + self.keys.width + FIRST
        (row_at(&self.rows, number) + width)[NEXT] = first[0]
        if first[0]:
            (row_at(&self.rows, <int32_t>(first[0] - 1)) + width)[PREVIOUS] = number + 1
        first[0] = number + 1

    cdef void unchain(self, int32_t key, int32_t number) noexcept nogil:
        cdef int width = self.rows.width
        cdef int64_t* kept = row_at(&self.rows, number) + width
        if kept[NEXT]:
            (row_at(&self.rows, <int32_t>(kept[NEXT] - 1)) + width)[PREVIOUS] = kept[PREVIOUS]
        if kept[PREVIOUS]:
            (row_at(&self.rows, <int32_t>(kept[PREVIOUS] - 1)) + width)[NEXT] = kept[NEXT]
        else:
            (keyed_at(&self.keys, key) + self.keys.width)[FIRST] = kept[NEXT]

    cdef void add_left(self, int64_t weight) noexcept nogil:
        """Adds to the count of the left row being taken."""
        cdef uint32_t hash = row_hash(self.row, self.rows.width)
        cdef int32_t number, key
        cdef int64_t* count
        cdef int i
        if weight == 0:
            return
        for i in range(self.keys.width):
            self.key[i] = self.row[self.places[i]]
        key = keyed_get(&self.keys, self.key, keyed_hash(&self.keys, self.key))
        number = multiset_find(&self.rows, self.row, hash)
        if number < 0:
            number = multiset_enter(&self.rows, self.row, hash)
            self.chain(key, number)
        count = row_at(&self.rows, number) + self.rows.width + COUNT
        count[0] += weight
        self.put(self.row, (keyed_at(&self.keys, key) + self.keys.width)[MATCHES] != 0, weight)
        if count[0] == 0:
            self.unchain(key, number)
            multiset_leave(&self.rows, number, hash)
            self.drop_unused(key)

    cdef void add_match(self, int64_t weight) noexcept nogil:
        """Adds to the matches of the key being taken, which may turn all rows that have it."""
        cdef int32_t key = keyed_get(&self.keys, self.key, keyed_hash(&self.keys, self.key))
        cdef int64_t* kept = keyed_at(&self.keys, key) + self.keys.width
        cdef bint before = kept[MATCHES] != 0, after
        cdef int64_t at = kept[FIRST]
        cdef int64_t* row
        kept[MATCHES] += weight
        after = kept[MATCHES] != 0
        if before != after:
            while at:
                row = row_at(&self.rows, <int32_t>(at - 1))
                self.put(row, before, -(row + self.rows.width)[COUNT])
                self.put(row, after, (row + self.rows.width)[COUNT])
                at = (row + self.rows.width)[NEXT]
        self.drop_unused(key)

    def feed(self, const int64_t[:, :] left, const int64_t[::1] left_tick, const int64_t[::1] left_change,
             const int64_t[::1] left_weight, const int64_t[:, :] matched, const int64_t[::1] matched_tick,
             const int64_t[::1] matched_change, const int64_t[::1] matched_weight):
        """Takes left rows and keys that are matched. Gives columns, tick, change, weight of the result, consolidated."""
        cdef int64_t i = 0, j = 0, tick, change, at_tick = 0, at_change = 0
        cdef int side, width = self.rows.width, size = self.keys.width
        check_deltas(left, width, left_tick, left_change, left_weight)
        check_deltas(matched, size, matched_tick, matched_change, matched_weight)
        with nogil:
            while True:
                side = next_side(left_tick, left_change, i, matched_tick, matched_change, j)
                if side == NEITHER:
                    break
                tick = left_tick[i] if side == LEFT else matched_tick[j]
                change = left_change[i] if side == LEFT else matched_change[j]
                if tick != at_tick or change != at_change:
                    group_write(&self.group, &self.out, at_tick, at_change)
                    at_tick = tick
                    at_change = change
                if side == LEFT:
                    take_row(self.row, left, i, width)
                    self.add_left(left_weight[i])
                    i += 1
                else:
                    take_row(self.key, matched, j, size)
                    self.add_match(matched_weight[j])
                    j += 1
            group_write(&self.group, &self.out, at_tick, at_change)
        return written_take(&self.out)

    @property
    def stats(self):
        used = multiset_bytes(&self.rows) + keyed_bytes(&self.keys)
        return {"rows": int(self.rows.records.live), "keys": int(self.keys.records.live), "bytes": int(used)}
