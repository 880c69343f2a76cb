"""Multisets of rows that change: which rows are there at all, and which have a match.

Rows come as columns of ids (-1: unbound) with weights to be added to their counts, each change consolidated.
"""

import cython
import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from millstream.kernels.containers.hash_index cimport is_far, words_hash
from millstream.kernels.containers.keyed cimport (
    AHEAD, SOON, Keyed, LookAhead, ahead_fetch, ahead_show, keyed_at, keyed_bytes, keyed_close, keyed_drop,
    keyed_enter, keyed_find, keyed_get, keyed_hash, keyed_leave, keyed_open,
)
from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.containers.records cimport next_free
from millstream.kernels.flow.change_rows cimport CHANGE, TICK, WEIGHT, Written, change_row, read_row, write_row
from millstream.kernels.flow.deltas cimport Deltas, Operator, check_widths
from millstream.kernels.flow.two_sided cimport LEFT, RIGHT, TwoSided

cnp.import_array()


def row_hashes(const int64_t[:, ::1] rows):
    """The hash by which tables find each row."""
    found = np.empty(rows.shape[0], np.uint32)
    cdef uint32_t[::1] into = found
    cdef int width = <int>rows.shape[1]
    cdef int64_t i
    if width:
        for i in range(rows.shape[0]):
            into[i] = words_hash(&rows[i, 0], width)
    else:
        found[:] = words_hash(NULL, 0)
    return found


@cython.final
cdef class RowCounter:
    """Counts rows, and tells when a count leaves zero and when it comes back to it."""

    def __cinit__(self, int width):
        if width < 0:
            raise ValueError(f"width must be at least 0, got {width}")
        keyed_open(&self.rows, width, 1)
        self.row = <int64_t*>block_resize(NULL, 0, width * sizeof(int64_t))

    def __dealloc__(self):
        keyed_close(&self.rows)
        block_free(self.row, self.rows.width * sizeof(int64_t))

    cdef int add(self, int64_t weight) noexcept nogil:
        """Counts the row being taken: 1 if it is there now and was not before, -1 if it is the other way round."""
        cdef uint32_t hash = keyed_hash(&self.rows, self.row)
        cdef int32_t number
        cdef int64_t* count
        cdef bint before
        if weight == 0:
            return 0
        number = keyed_get(&self.rows, self.row, hash)
        count = keyed_at(&self.rows, number) + self.rows.width
        before = count[0] > 0
        count[0] += weight
        weight = count[0]
        if weight == 0:
            keyed_leave(&self.rows, number, hash)
        return <int>(weight > 0) - <int>before

    def apply(self, const int64_t[:, :] columns, const int64_t[::1] weight):
        """Adds weights row by row. Gives the places of rows whose count left zero or came back to it, each with its sign."""
        cdef int64_t n = weight.shape[0], i, size = 0
        cdef int sign, column
        if columns.shape[1] != self.rows.width:
            raise ValueError(f"expected {self.rows.width} columns, got {columns.shape[1]}")
        if columns.shape[0] != n:
            raise ValueError("columns differ in length")
        found = np.empty((2, n), np.int64)
        cdef int64_t[:, ::1] into = found
        with nogil:
            for i in range(n):
                for column in range(self.rows.width):
                    self.row[column] = columns[i, column]
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
            number = next_free(&self.rows.records, self.rows.stride * sizeof(int64_t), number)[0]
        for i in range(size):
            if not is_free[i]:
                memcpy(&into[at, 0], keyed_at(&self.rows, i), (width + 1) * sizeof(int64_t))
                at += 1
        return np.ascontiguousarray(found[:, :width]), np.ascontiguousarray(found[:, width])

    @property
    def stats(self):
        return {"rows": int(self.rows.records.live), "bytes": int(keyed_bytes(&self.rows))}


@cython.final
cdef class Distinct(Operator):
    """Every different row once."""

    cdef RowCounter counter
    cdef Deltas given

    def __cinit__(self, inputs, int width):
        (self.given,) = self.inputs
        check_widths(self.inputs, width)
        self.counter = RowCounter(width)

    cdef int apply(self) except -1:
        cdef Written* given = &self.given.rows
        cdef int64_t i
        cdef int sign
        for i in range(given.size):
            read_row(self.counter.row, given, i)
            sign = self.counter.add(given.columns[given.width + WEIGHT][i])
            if sign != 0:
                write_row(&self.out.rows, self.counter.row, given.columns[given.width + TICK][i],
                          given.columns[given.width + CHANGE][i], sign)
        return 0

    @property
    def stats(self):
        return self.counter.stats

    @property
    def stored(self):
        return int(self.counter.rows.records.live)


cdef class Matched(TwoSided):
    """Left rows and rows that match them: those without a match, or all of them with a mark.

    A row is matched while the weights of what matches it do not sum to zero. A mark is one more column: the first of two
    values for a row without a match, the second for the others.
    """

    cdef int row_width
    cdef bint marked
    cdef int64_t marks[2]
    cdef bint looks_ahead[2]    # by side

    def __cinit__(self, inputs, int width, *args, marks=None, **kwargs):
        self.marked = marks is not None
        if self.marked:
            self.marks[0], self.marks[1] = marks
        self.row_width = width - self.marked
        check_widths([self.left], self.row_width)

    cdef bint looks(self) noexcept nogil:
        """Whether what it keeps is so much that looking ahead is worth while."""
        return False

    cdef void look_far(self, int side, int64_t row) noexcept nogil:
        """A row is taken soon."""

    cdef void look_near(self, int side, int64_t row) noexcept nogil:
        """A row that was looked at when it was far is taken sooner."""

    cdef void look_ahead(self, int side, int64_t row) noexcept nogil:
        """Before a row is taken; those of a side are taken in order."""
        cdef int64_t size = self.left.rows.size if side == LEFT else self.right.rows.size, i
        if row == 0:
            self.looks_ahead[side] = self.looks()
            for i in range(min(size, <int64_t>AHEAD) if self.looks_ahead[side] else 0):
                self.look_far(side, i)
        if self.looks_ahead[side]:
            if row + AHEAD < size:
                self.look_far(side, row + AHEAD)
            if row + SOON < size:
                self.look_near(side, row + SOON)

    cdef void put(self, int64_t* row, bint matched, int64_t weight) noexcept nogil:
        """Collects a change of a row, as one that is matched or not."""
        cdef int64_t* values
        cdef int width = self.row_width
        if weight == 0 or (matched and not self.marked):
            return
        values = change_row(&self.group)
        memcpy(values, row, width * sizeof(int64_t))
        if self.marked:
            values[width] = self.marks[matched]
            width += 1
        values[width] = weight


@cython.final
cdef class MatchCounter(Matched):
    """Matched by rows that are equal. A row has two counts, left and matched."""

    cdef Keyed rows
    cdef int64_t* row
    cdef LookAhead ahead[2]

    def __cinit__(self, inputs, int width, *, marks=None):
        check_widths([self.right], self.row_width)
        keyed_open(&self.rows, self.row_width, 2)
        self.row = <int64_t*>block_resize(NULL, 0, self.row_width * sizeof(int64_t))

    def __dealloc__(self):
        keyed_close(&self.rows)
        block_free(self.row, self.row_width * sizeof(int64_t))

    cdef bint looks(self) noexcept nogil:
        return is_far(&self.rows.index)

    cdef void look_far(self, int side, int64_t row) noexcept nogil:
        read_row(self.row, &self.left.rows if side == LEFT else &self.right.rows, row)
        ahead_show(&self.ahead[side], &self.rows, self.row, row)

    cdef void look_near(self, int side, int64_t row) noexcept nogil:
        ahead_fetch(&self.ahead[side], &self.rows, row)

    cdef int add(self, int side, int64_t row) except -1:
        cdef Written* given = &self.left.rows if side == LEFT else &self.right.rows
        cdef int64_t weight = given.columns[given.width + WEIGHT][row], left
        cdef int64_t* counts
        cdef uint32_t hash
        cdef int32_t number
        cdef bint before, after
        self.look_ahead(side, row)
        if weight == 0:
            return 0
        read_row(self.row, given, row)
        hash = keyed_hash(&self.rows, self.row)
        number = keyed_get(&self.rows, self.row, hash)
        counts = keyed_at(&self.rows, number) + self.rows.width
        left = counts[LEFT]
        before = counts[RIGHT] != 0
        counts[side] += weight
        after = counts[RIGHT] != 0
        if before == after:
            self.put(self.row, after, counts[LEFT] - left)
        else:
            self.put(self.row, before, -left)
            self.put(self.row, after, left)
        if counts[LEFT] == 0 and counts[RIGHT] == 0:
            keyed_leave(&self.rows, number, hash)
        return 0

    @property
    def stats(self):
        return {"rows": int(self.rows.records.live), "bytes": int(keyed_bytes(&self.rows))}

    @property
    def stored(self):
        return int(self.rows.records.live)


cdef enum:
    COUNT = 0                   # behind a left row: its count and its neighbours of the same key, by number + 1
    NEXT = 1
    PREVIOUS = 2
    KEY = 3                     # the number of its key
    MATCHES = 0                 # behind a key: how often it is matched, and the first left row that has it, by number + 1
    FIRST = 1


@cython.final
cdef class KeyMatcher(Matched):
    """Matched by rows that have just some of their columns, the key."""

    cdef Keyed rows
    cdef Keyed keys
    cdef int* places            # of the key among the columns of a left row
    cdef int64_t* row
    cdef int64_t* key
    cdef LookAhead rows_ahead
    cdef LookAhead keys_ahead[2]

    def __cinit__(self, inputs, int width, key, *, marks=None):
        cdef int i, size = len(key)
        if not all(0 <= place < self.row_width for place in key):
            raise ValueError(f"a key is columns of a row of {self.row_width}, got {key}")
        check_widths([self.right], size)
        keyed_open(&self.rows, self.row_width, 4)
        keyed_open(&self.keys, size, 2)
        self.row = <int64_t*>block_resize(NULL, 0, self.row_width * sizeof(int64_t))
        self.key = <int64_t*>block_resize(NULL, 0, size * sizeof(int64_t))
        self.places = <int*>block_resize(NULL, 0, size * sizeof(int))
        for i in range(size):
            self.places[i] = key[i]

    def __dealloc__(self):
        block_free(self.row, self.row_width * sizeof(int64_t))
        block_free(self.key, self.keys.width * sizeof(int64_t))
        block_free(self.places, self.keys.width * sizeof(int))
        keyed_close(&self.rows)
        keyed_close(&self.keys)

    cdef void read_key(self) noexcept nogil:
        """The key of the left row being taken."""
        cdef int i
        for i in range(self.keys.width):
            self.key[i] = self.row[self.places[i]]

    cdef bint looks(self) noexcept nogil:
        return is_far(&self.rows.index) or is_far(&self.keys.index)

    cdef void look_far(self, int side, int64_t row) noexcept nogil:
        if side == LEFT:
            read_row(self.row, &self.left.rows, row)
            ahead_show(&self.rows_ahead, &self.rows, self.row, row)
            self.read_key()
        else:
            read_row(self.key, &self.right.rows, row)
        ahead_show(&self.keys_ahead[side], &self.keys, self.key, row)

    cdef void look_near(self, int side, int64_t row) noexcept nogil:
        if side == LEFT:
            ahead_fetch(&self.rows_ahead, &self.rows, row)
        ahead_fetch(&self.keys_ahead[side], &self.keys, row)

    cdef void drop_unused(self, int32_t key) noexcept nogil:
        cdef int64_t* kept = keyed_at(&self.keys, key) + self.keys.width
        if kept[MATCHES] == 0 and kept[FIRST] == 0:
            keyed_drop(&self.keys, key)

    cdef void chain(self, int32_t key, int32_t number) noexcept nogil:
        """Puts a new row before the others of its key."""
        cdef int width = self.rows.width
        cdef int64_t* first = keyed_at(&self.keys, key) + self.keys.width + FIRST
        (keyed_at(&self.rows, number) + width)[KEY] = key
        (keyed_at(&self.rows, number) + width)[NEXT] = first[0]
        if first[0]:
            (keyed_at(&self.rows, first[0] - 1) + width)[PREVIOUS] = number + 1
        first[0] = number + 1

    cdef void unchain(self, int32_t key, int32_t number) noexcept nogil:
        cdef int width = self.rows.width
        cdef int64_t* kept = keyed_at(&self.rows, number) + width
        if kept[NEXT]:
            (keyed_at(&self.rows, kept[NEXT] - 1) + width)[PREVIOUS] = kept[PREVIOUS]
        if kept[PREVIOUS]:
            (keyed_at(&self.rows, kept[PREVIOUS] - 1) + width)[NEXT] = kept[NEXT]
        else:
            (keyed_at(&self.keys, key) + self.keys.width)[FIRST] = kept[NEXT]

    cdef void add_left(self, int64_t weight) noexcept nogil:
        """Adds to the count of the left row being taken."""
        cdef uint32_t hash = keyed_hash(&self.rows, self.row)
        cdef int32_t number, key
        cdef int64_t* kept
        if weight == 0:
            return
        number = keyed_find(&self.rows, self.row, hash)
        if number < 0:
            self.read_key()
            key = keyed_get(&self.keys, self.key, keyed_hash(&self.keys, self.key))
            number = keyed_enter(&self.rows, self.row, hash)
            self.chain(key, number)
        kept = keyed_at(&self.rows, number) + self.rows.width
        key = <int32_t>kept[KEY]
        kept[COUNT] += weight
        self.put(self.row, (keyed_at(&self.keys, key) + self.keys.width)[MATCHES] != 0, weight)
        if kept[COUNT] == 0:
            self.unchain(key, number)
            keyed_leave(&self.rows, number, hash)
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
                row = keyed_at(&self.rows, at - 1)
                self.put(row, before, -(row + self.rows.width)[COUNT])
                self.put(row, after, (row + self.rows.width)[COUNT])
                at = (row + self.rows.width)[NEXT]
        self.drop_unused(key)

    cdef int add(self, int side, int64_t row) except -1:
        self.look_ahead(side, row)
        if side == LEFT:
            read_row(self.row, &self.left.rows, row)
            self.add_left(self.left.weights()[row])
        else:
            read_row(self.key, &self.right.rows, row)
            self.add_match(self.right.weights()[row])
        return 0

    @property
    def stats(self):
        used = keyed_bytes(&self.rows) + keyed_bytes(&self.keys)
        return {"rows": int(self.rows.records.live), "keys": int(self.keys.records.live), "bytes": int(used)}

    @property
    def stored(self):
        return int(self.rows.records.live)
