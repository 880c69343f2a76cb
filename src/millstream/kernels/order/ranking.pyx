"""What changes between two ranks of rows in an order.

The slice is what lies at ranks [offset, end), a row of weight w taking w of them. Copies put in at a rank shift what is
behind them: their part in the slice appears, what they push over its end disappears, what they push over its beginning
appears. Taking them out is the same, reversed, seen from what is left. The *edge* is the first key of the slice's last row:
a row with a greater one lies behind the slice, and nobody asks for its rank. Within a change `pending` sums what is to be
written for a row, so only the difference is; rows of weight 0 are kept until the change ends.
"""

import cython

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from millstream.kernels.containers.growing cimport numbers_close, numbers_push
from millstream.kernels.containers.hash_index cimport prefetch
from millstream.kernels.containers.keyed cimport (
    AHEAD, SOON, ahead_begin, ahead_fetch, ahead_hash, ahead_show, keyed_at, keyed_drop, keyed_enter, keyed_find, keyed_hash,
)
from millstream.kernels.containers.ordered_tree cimport (
    Spot, TreeNode, place_of, tree_insert, tree_rank, tree_remove, tree_reweigh, tree_select, tree_step,
)
from millstream.kernels.flow.change_rows cimport WEIGHT, Written, read_row, write_row
from millstream.kernels.order.row_order cimport COUNT, PENDING, PLACE, RowOrder
from millstream.kernels.order.term_order cimport TermOrder

ALL = 1 << 62

cdef uint64_t LAST_KEY = <uint64_t>-1


@cython.final
cdef class Ranking(RowOrder):
    """The rows between two ranks of an order, kept up to date."""

    def __cinit__(self, int width, levels, TermOrder order not None, int64_t offset=0, int64_t limit=ALL):
        if not 0 <= offset <= ALL or not 0 <= limit <= ALL:
            raise ValueError(f"offset and limit must be at least 0, got {offset} and {limit}")
        self.offset = offset
        self.end = min(offset + limit, <int64_t>1 << 62)
        self.edge = LAST_KEY

    def __dealloc__(self):
        numbers_close(&self.touched)
        numbers_close(&self.gone)

    # The slice

    cdef void note(self, int32_t number, int64_t weight) noexcept nogil:
        cdef int64_t* record = self.kept(number)
        if record[PENDING] == 0:
            numbers_push(&self.touched, number)
        record[PENDING] += weight

    cdef void walk(self, int64_t first, int64_t last, int sign) noexcept nogil:
        """Notes all at ranks from `first` to before `last`."""
        cdef Spot spot
        cdef TreeNode* node
        cdef int64_t left = last - first, taken
        if left <= 0:
            return
        spot = tree_select(&self.tree, first)
        while True:
            node = self.tree.nodes + spot.leaf
            taken = min(node.sums[spot.place] - spot.within, left)
            self.note(node.entries[spot.place], sign * taken)
            left -= taken
            if left == 0 or not tree_step(&self.tree, &spot):
                return

    cdef void shift(self, int32_t number, int64_t rank, int64_t weight, int sign) noexcept nogil:
        """Notes what copies of a row at a rank change in the slice; they are not in the tree yet, or no more."""
        cdef int64_t first = max(rank, self.offset), last = min(rank + weight, self.end)
        if rank >= self.end:
            return
        if first < last:
            self.note(number, sign * (last - first))
        self.walk(max(first, self.end - weight), min(self.end, self.tree.total), -sign)
        self.walk(max(rank, self.offset - weight), min(min(self.offset, self.end - weight), self.tree.total), sign)

    cdef void find_edge(self) noexcept nogil:
        """Finds the last row of the slice anew, after a change at or before it."""
        cdef Spot spot
        self.edge = LAST_KEY
        if 0 < self.end <= self.tree.total:
            spot = tree_select(&self.tree, self.end - 1)
            self.edge = self.tree.nodes[spot.leaf].keys[spot.place]

    # Changes

    cdef int add(self, uint32_t hash, int64_t weight) except -1:
        cdef int32_t number = keyed_find(&self.rows, self.ids, hash)
        cdef int64_t rank = 0
        cdef Spot spot
        cdef bint is_loose = False, matters = False
        if weight > (<int64_t>1 << 61) - self.tree.total - self.loose.weight:
            raise OverflowError("more rows than can be counted")
        if number >= 0 and self.kept(number)[PLACE] >= 0:
            self.loose.weight += weight
        elif number >= 0 and self.kept(number)[COUNT] > 0:
            matters = self.keys_of(number)[0] <= self.edge
            if matters:
                rank = tree_rank(&self.tree, self.tree.leaf_of[number], place_of(&self.tree, number))
                self.shift(number, rank + self.kept(number)[COUNT], weight, 1)
            tree_reweigh(&self.tree, number, weight)
        else:
            self.make_keys(0, 1)
            is_loose = self.is_far_behind()
            if not is_loose:
                matters = self.keys[0] <= self.edge
                self.descend(&spot, &rank if matters else NULL)
            if number < 0:
                number = keyed_enter(&self.rows, self.ids, hash)
                self.kept(number)[PLACE] = -1
            memcpy(self.keys_of(number), self.keys, self.key_count * sizeof(uint64_t))
            if matters:
                self.shift(number, rank, weight, 1)
            if is_loose:
                self.loosen(number, weight)
            else:
                tree_insert(&self.tree, spot.leaf, spot.place, self.keys[0], number, weight)
        self.kept(number)[COUNT] += weight
        if matters:
            self.find_edge()
        if not is_loose:
            self.shorten(0)
        return 0

    cdef int take(self, uint32_t hash, int64_t weight) except -1:
        cdef int32_t number = keyed_find(&self.rows, self.ids, hash)
        cdef int64_t rank = 0, left
        cdef bint matters
        if number < 0 or self.kept(number)[COUNT] < weight:
            raise ValueError("a row is taken out more often than it was put in")
        left = self.kept(number)[COUNT] - weight
        if self.kept(number)[PLACE] >= 0:
            self.kept(number)[COUNT] = left
            if left:
                self.loose.weight -= weight
            else:
                self.fasten(number, weight)
                numbers_push(&self.gone, number)
            return 0
        if self.loose.size and self.tree.total - weight < max(<int64_t>1, self.end):
            self.lengthen(self.end + weight + self.spare())
        matters = self.keys_of(number)[0] <= self.edge
        if matters:
            rank = tree_rank(&self.tree, self.tree.leaf_of[number], place_of(&self.tree, number))
        self.kept(number)[COUNT] = left
        if left:
            tree_reweigh(&self.tree, number, -weight)
        else:
            tree_remove(&self.tree, number)
            numbers_push(&self.gone, number)
        if matters:
            self.shift(number, rank + left, weight, -1)
            self.find_edge()
        return 0

    cdef void finish(self, Written* into, int64_t tick, int64_t change) noexcept nogil:
        """Writes what a change made of the slice, and frees the rows that are gone."""
        cdef int64_t i
        cdef int32_t number
        for i in range(self.touched.size):
            number = self.touched.items[i]
            if self.kept(number)[PENDING]:
                write_row(into, keyed_at(&self.rows, number), tick, change, self.kept(number)[PENDING])
                self.kept(number)[PENDING] = 0
        for i in range(self.gone.size):
            number = self.gone.items[i]
            if self.kept(number)[COUNT] == 0:
                self.kept(number)[COUNT] = -1
                keyed_drop(&self.rows, number)
        self.touched.size = self.gone.size = 0

    cdef int change(self, const Written* rows, int64_t row) except -1:
        """Takes a row that appears or disappears; `finish` ends its change."""
        cdef int64_t weight = rows.columns[rows.width + WEIGHT][row]
        read_row(self.ids, rows, row)
        if weight > 0:
            self.add(keyed_hash(&self.rows, self.ids), weight)
        elif weight < 0:
            self.take(keyed_hash(&self.rows, self.ids), -weight)
        return 0

    cdef void show_ahead(self, const Written* rows, int64_t row) noexcept nogil:
        read_row(self.ids, rows, row)
        ahead_show(&self.ahead, &self.rows, self.ids, row)

    cdef int change_ahead(self, const Written* rows, int64_t row) except -1:
        """As `change` where all rows are taken, in order."""
        cdef int64_t weight = rows.columns[rows.width + WEIGHT][row], i
        cdef uint32_t hash
        cdef int32_t number
        if row == 0:
            ahead_begin(&self.ahead, &self.rows)
            for i in range(min(rows.size, <int64_t>AHEAD) if self.ahead.on else 0):
                self.show_ahead(rows, i)
        if not self.ahead.on:
            return self.change(rows, row)
        hash = ahead_hash(&self.ahead, row)
        if row + AHEAD < rows.size:
            self.show_ahead(rows, row + AHEAD)
        if row + SOON < rows.size:
            number = ahead_fetch(&self.ahead, &self.rows, row + SOON)
            if number >= 0:
                prefetch(self.kept(number))
        read_row(self.ids, rows, row)
        if weight > 0:
            self.add(hash, weight)
        elif weight < 0:
            self.take(hash, -weight)
        return 0

    # Looking in

    cdef int read_slice(self, Written* into, int64_t offset, int64_t limit) except -1:
        """Writes the rows of any slice in their order, with how often each is there."""
        if not 0 <= offset <= ALL or not 0 <= limit <= ALL:
            raise ValueError(f"offset and limit must be at least 0, got {offset} and {limit}")
        if self.touched.size or self.gone.size:
            raise ValueError("a change failed halfway")
        self.lengthen(min(offset + limit, self.tree.total + self.loose.weight))
        self.walk(offset, min(offset + limit, self.tree.total), 1)
        self.finish(into, 0, 0)
        return 0
