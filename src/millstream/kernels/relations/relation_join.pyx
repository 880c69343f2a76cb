"""The join of two multisets that change: every row that comes is joined with the rows the other side holds then.

Rows match as SPARQL's solutions do: where both have a value for a shared column the values are equal (-1: none). How rows
are found is said in chains.pxd. A row that goes as another with its key comes, as rows of groups do, is replaced where it
stands: both are joined with what is found once. A row of the result has the left row's columns, completed where the right
row has a value and the left one has not, then the right row's columns that are not shared, then copies of left columns as
they were. Its weight is the product of the two.

With `overlap` rows only match if both have a value in a shared column that is not certain. A side that is `distinct` has
each of its rows once, however often it came.
"""

import cython

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from millstream.kernels.containers.hash_index cimport prefetch, words_equal
from millstream.kernels.containers.keyed cimport keyed_at
from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.flow.change_rows cimport WEIGHT, Written, change_row, read_row
from millstream.kernels.flow.deltas cimport check_widths
from millstream.kernels.flow.two_sided cimport LEFT, RIGHT, TwoSided, same_change
from millstream.kernels.relations.chains cimport (
    COUNT, NEXT_ROW, RowClass, Side, bound_columns, chain_find, class_key, link_of, look_ahead, only_row, read_key, side_add,
    side_bytes, side_close, side_open, side_size, times,
)

cdef enum:
    MOST_UNCERTAIN = 64


@cython.final
cdef class JoinTable(TwoSided):
    """Two multisets of rows and the changes of their join."""

    cdef Side sides[2]
    cdef bint overlap
    cdef int* rest              # right columns that are not shared
    cdef int rest_count
    cdef int* copies
    cdef int copy_count
    cdef int64_t* replaced      # the row that goes as the one being taken comes
    cdef int64_t taken[2]       # by side, the row that was taken with the one before it, else -1

    def __cinit__(self, inputs, int width, pairs, certain, copies=(), bint overlap=False,
                  distinct=(False, False)):
        cdef int left_width = self.left.rows.width, right_width = self.right.rows.width
        pairs = sorted_by_certainty(left_width, right_width, pairs, certain)
        rest = sorted(set(range(right_width)) - {right for _, right in pairs})
        if any(not 0 <= place < left_width for place in copies):
            raise ValueError(f"copies must be places of the {left_width} left columns, got {copies}")
        cdef int sure = sum(map(bool, certain)), i
        self.overlap = overlap
        side_open(&self.sides[LEFT], left_width, sure, len(pairs))
        side_open(&self.sides[RIGHT], right_width, sure, len(pairs))
        self.sides[LEFT].once, self.sides[RIGHT].once = distinct
        for i, (left, right) in enumerate(pairs):
            self.sides[LEFT].places[i] = left
            self.sides[RIGHT].places[i] = right
        self.rest_count = len(rest)
        self.rest = <int*>block_resize(NULL, 0, self.rest_count * sizeof(int))
        for i in range(self.rest_count):
            self.rest[i] = rest[i]
        self.copy_count = len(copies)
        self.copies = <int*>block_resize(NULL, 0, self.copy_count * sizeof(int))
        for i in range(self.copy_count):
            self.copies[i] = copies[i]
        self.replaced = <int64_t*>block_resize(NULL, 0, max(left_width, right_width) * sizeof(int64_t))
        self.taken[LEFT] = self.taken[RIGHT] = -1
        check_widths([self.out], left_width + self.rest_count + self.copy_count)

    def __dealloc__(self):
        side_close(&self.sides[LEFT])
        side_close(&self.sides[RIGHT])
        block_free(self.rest, self.rest_count * sizeof(int))
        block_free(self.copies, self.copy_count * sizeof(int))
        block_free(self.replaced, max(self.sides[LEFT].width, self.sides[RIGHT].width) * sizeof(int64_t))

    cdef void put(self, int64_t* left, int64_t* right, bint complete, int64_t weight) noexcept nogil:
        """Collects a pair of rows."""
        cdef int64_t* values = change_row(&self.group)
        cdef int width = self.sides[LEFT].width, i
        for i in range(width):
            values[i] = left[i]
        if complete:
            for i in range(self.sides[LEFT].certain, self.sides[LEFT].shared):
                if left[self.sides[LEFT].places[i]] < 0:
                    values[self.sides[LEFT].places[i]] = right[self.sides[RIGHT].places[i]]
        values += width
        for i in range(self.rest_count):
            values[i] = right[self.rest[i]]
        values += self.rest_count
        for i in range(self.copy_count):
            values[i] = left[self.copies[i]]
        values[self.copy_count] = weight

    cdef inline void put_both(self, int which, int64_t* row, int64_t* found, bint complete, int64_t weight) noexcept nogil:
        """Collects the pair of a row of one side and a row found on the other."""
        if which == LEFT:
            self.put(row, found, complete, weight)
        else:
            self.put(found, row, complete, weight)

    cdef void match_class(self, int which, uint64_t mask, uint32_t hash, RowClass* rows, int64_t weight,
                          bint replaces) noexcept nogil:
        """Collects the pairs of the row being taken, its columns bound as in `mask`, and the rows of a class of the other
        side; and those of the row that it replaces. Its key is read and has this hash."""
        cdef Side* side = &self.sides[which]
        cdef Side* other = &self.sides[1 - which]
        cdef bint complete = mask != rows.mask
        cdef int64_t* wanted = side.key
        cdef int key = 0
        cdef int32_t number, following
        cdef int64_t* found
        cdef int64_t made
        if complete:
            key = class_key(other, rows, mask & rows.mask)
            wanted = side.other_key
            hash = read_key(wanted, side, side.row, mask & rows.mask)
        number = chain_find(rows, &rows.keys[key], wanted, hash)
        while number >= 0:
            found = keyed_at(&rows.rows, number)
            following = link_of(rows, number, key)[NEXT_ROW]
            if following >= 0:
                prefetch(keyed_at(&rows.rows, following))
            made = weight * times(other, found[other.width + COUNT])
            self.put_both(which, side.row, found, complete, made)
            if replaces:
                self.put_both(which, self.replaced, found, complete, -made)
            number = following

    cdef bint replace(self, int which, const Written* given, int64_t row, uint64_t mask, uint32_t hash) noexcept nogil:
        """Whether a row and the next one are one that goes and one that comes, alike but for what is no key, and the first
        is all that there is of their key: the other takes its place then, and is the row being taken."""
        cdef Side* side = &self.sides[which]
        cdef const int64_t* weights = given.columns[given.width + WEIGHT]
        cdef int64_t* held
        cdef int64_t goes = row if weights[row] < 0 else row + 1
        cdef int i
        if row + 1 >= given.size or weights[row] + weights[row + 1] != 0 or not same_change(given, row, row + 1):
            return False
        for i in range(side.shared):
            if given.columns[side.places[i]][row] != given.columns[side.places[i]][row + 1]:
                return False
        held = only_row(side, mask, hash)
        if held == NULL or held[side.width + COUNT] + weights[goes] != 0:
            return False
        read_row(self.replaced, given, goes)
        if not words_equal(held, self.replaced, side.width):
            return False
        if goes == row:
            read_row(side.row, given, row + 1)
        memcpy(held, side.row, side.width * sizeof(int64_t))
        self.taken[which] = row + 1
        return True

    cdef int add(self, int which, int64_t row) except -1:
        """Adds a row to its side and collects what that changes."""
        cdef Side* side = &self.sides[which]
        cdef Side* other = &self.sides[1 - which]
        cdef Written* given = &self.left.rows if which == LEFT else &self.right.rows
        cdef int64_t weight = given.columns[given.width + WEIGHT][row]
        cdef uint64_t mask
        cdef uint32_t hash
        cdef RowClass* rows
        cdef bint replaces
        cdef int i
        look_ahead(side, other, given, row)
        if row == self.taken[which]:
            self.taken[which] = -1
            return 0
        if weight == 0:
            return 0
        read_row(side.row, given, row)
        mask = bound_columns(side, side.row)
        hash = read_key(side.key, side, side.row, mask)
        replaces = self.replace(which, given, row, mask, hash)
        if replaces:
            weight = times(side, weight if weight > 0 else -weight)
        else:
            weight = side_add(side, mask, hash, weight)
            if weight == 0:
                return 0
        for i in range(other.class_count):
            rows = &other.classes[i]
            if rows.rows.records.live == 0 or (self.overlap and mask & rows.mask == 0):
                continue
            self.match_class(which, mask, hash, rows, weight, replaces)
        return 0

    @property
    def stats(self):
        return {
            "left": int(side_size(&self.sides[LEFT])),
            "right": int(side_size(&self.sides[RIGHT])),
            "bytes": int(side_bytes(&self.sides[LEFT]) + side_bytes(&self.sides[RIGHT])),
        }

    @property
    def stored(self):
        return int(side_size(&self.sides[LEFT]) + side_size(&self.sides[RIGHT]))


cdef list sorted_by_certainty(int left_width, int right_width, pairs, certain):
    """The shared columns, those that are certain first."""
    if len(pairs) != len(certain):
        raise ValueError(f"{len(pairs)} shared columns, but {len(certain)} of which is known whether they are certain")
    if len(certain) - sum(map(bool, certain)) > MOST_UNCERTAIN:
        raise ValueError(f"at most {MOST_UNCERTAIN} shared columns may be uncertain")
    for side, width in ((0, left_width), (1, right_width)):
        places = [pair[side] for pair in pairs]
        if len(set(places)) != len(places) or any(not 0 <= place < width for place in places):
            raise ValueError(f"shared columns must be different places of {width} columns, got {places}")
    return [pair for _, pair in sorted(zip(certain, pairs), key=lambda member: not member[0])]
