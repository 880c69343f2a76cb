"""Rows in an order: records with keys, found by their ids.

Rows are records that are found by their ids (keyed.pxd), behind which are weight, what is to be written of them, their place
among loose rows, and keys. A tree (ordered_tree.pxd) holds rows of a weight above 0 in their order. The order has levels: a
column each, in the solution order, the same reversed, or the term order (term_order.pyx). Of the conditions and the level
behind them keys are kept, inverted where reversed; behind equal keys the ids are compared. Columns that no level names come
last in term order, hence different rows never tie.

The tree holds the first rows only, up to the rank `end` and some to spare. All others are *loose* (loose_rows.pxd): most
rows come and go without being compared with any but the tree's last one, of which the first key mostly tells. What makes the
tree too large goes from its end, row by row. When it would not reach to `end` any more, the first of the loose rows are
looked for: about twice as many as the square root of how many there are, so that looking through all of them is seldom.

Invariants
- A loose row comes behind all rows of the tree. It has its first key; the others are made when it enters the tree.
- While there are loose rows, the tree's weight is at least `end`, and at least 1.
"""

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from millstream.kernels.containers.keyed cimport keyed_at, keyed_bytes, keyed_close, keyed_open
from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.containers.ordered_tree cimport (
    Spot, TreeNode, sum_before, tree_bytes, tree_close, tree_insert, tree_last, tree_open, tree_remove,
)
from millstream.kernels.order.loose_rows cimport LooseRow, loose_close, loose_drop, loose_key, loose_put
from millstream.kernels.order.term_order cimport DIFFERENT, Anchor, TermOrder, compare_near

ASCENDING, DESCENDING, TERM = 0, 1, 2

cdef enum:
    REVERSED = 1                # DESCENDING
    BY_TERM = 2                 # TERM
    MOST_LEVELS = 1 << 16
    LEAST_SPARE = 32            # weight behind `end` that the tree has at least, after loose rows were looked for
    MOST_LOOSENED = 2           # rows that leave the tree for one that comes


cdef class RowOrder:
    """Rows by their ids, the first of them in their order."""

    def __cinit__(self, int width, levels, TermOrder order not None, *args, **kwargs):
        named = [(int(place), int(how)) for place, how in levels]
        if not 0 <= width < MOST_LEVELS or len(named) >= MOST_LEVELS:
            raise ValueError(f"width must be at least 0, got {width} for {len(named)} levels")
        if any(not 0 <= place < width or how not in (ASCENDING, DESCENDING, TERM) for place, how in named):
            raise ValueError(f"levels must be (place, how) with a place below {width}, got {named}")
        named += [(place, TERM) for place in range(width) if (place, TERM) not in named]
        self.order = order
        self.level_count = len(named)
        # Further down keys are not worth their memory.
        self.key_count = max(1, min(len(named), sum(how != TERM for _, how in named) + 1))
        self.levels = <Level*>block_resize(NULL, 0, self.level_count * sizeof(Level))
        self.ids = <int64_t*>block_resize(NULL, 0, width * sizeof(int64_t))
        self.keys = <uint64_t*>block_resize(NULL, 0, self.key_count * sizeof(uint64_t))
        self.anchors = <Anchor*>block_resize(NULL, 0, self.key_count * sizeof(Anchor))
        for i in range(self.key_count):
            self.anchors[i].length = -1
        for i, (place, how) in enumerate(named):
            self.levels[i].place = place
            self.levels[i].how = how
        keyed_open(&self.rows, width, KEY + self.key_count)
        tree_open(&self.tree)

    def __dealloc__(self):
        if self.levels == NULL:
            return
        block_free(self.levels, self.level_count * sizeof(Level))
        block_free(self.anchors, self.key_count * sizeof(Anchor))
        block_free(self.ids, self.rows.width * sizeof(int64_t))
        block_free(self.keys, self.key_count * sizeof(uint64_t))
        loose_close(&self.loose)
        keyed_close(&self.rows)
        tree_close(&self.tree)

    # Finding rows

    cdef int make_keys(self, int first, int last) except -1:
        """Some keys of the row at hand."""
        cdef uint64_t* keys = self.keys
        cdef int64_t* ids = self.ids
        cdef int i
        keys[0] = 0 if first == 0 else keys[0]
        for i in range(first, min(last, self.level_count)):
            if self.order.iri_key(ids[self.levels[i].place], self.anchors + i, keys + i):
                pass
            elif self.levels[i].how == BY_TERM:
                self.order.term_key(ids[self.levels[i].place], keys + i)
            else:
                self.order.order_key(ids[self.levels[i].place], keys + i)
            if self.levels[i].how == REVERSED:
                keys[i] = ~keys[i]
        return 0

    cdef int near(self, int32_t number, int* level) noexcept nogil:
        """The row at hand against a row held, from a level on: -1, 0 or 1; or DIFFERENT and the level at which keys and ids
        do not tell."""
        cdef const int64_t* held = keyed_at(&self.rows, number)
        cdef const uint64_t* keys = self.keys_of(number)
        cdef int64_t a, b
        cdef int i = level[0], found
        while i < self.level_count:
            a = self.ids[self.levels[i].place]
            b = held[self.levels[i].place]
            if a != b:
                if i < self.key_count and self.keys[i] != keys[i]:
                    return -1 if self.keys[i] < keys[i] else 1
                found = compare_near(a, b)
                if found == DIFFERENT:
                    level[0] = i
                    return DIFFERENT
                return -found if self.levels[i].how == REVERSED else found
            i += 1
        return 0

    cdef int compare(self, int32_t number) except -2:
        """The row at hand against a row held: -1, 0 or 1."""
        cdef int32_t place, how
        cdef int64_t held
        cdef int i = 0, found = self.near(number, &i)
        while found == DIFFERENT:
            place = self.levels[i].place
            how = self.levels[i].how
            held = keyed_at(&self.rows, number)[place]
            if how == BY_TERM:
                found = self.order.compare_terms(self.ids[place], held)
            else:
                found = self.order.compare_order(self.ids[place], held)
            if found:
                return -found if how == REVERSED else found
            i += 1
            found = self.near(number, &i)
        return found

    cdef int descend(self, Spot* spot, int64_t* rank) except -1:
        """Where the row at hand belongs, and the weight before it if that is asked for."""
        cdef uint64_t key = self.keys[0]
        cdef int32_t number = self.tree.root, low, high, middle
        cdef TreeNode* node
        cdef bint after
        cdef int found, level
        while True:
            node = self.tree.nodes + number
            low = 0
            high = node.count
            while low < high:
                middle = (low + high) >> 1
                after = key > node.keys[middle]
                if key == node.keys[middle]:
                    level = 0
                    found = self.near(node.entries[middle], &level)
                    after = (found if found != DIFFERENT else self.compare(node.entries[middle])) > 0
                if after:
                    low = middle + 1
                else:
                    high = middle
            if node.level:
                low = max(0, low - 1)
            if rank != NULL:
                rank[0] += sum_before(node, low)
            if node.level == 0:
                spot.leaf = number
                spot.place = low
                return 0
            number = node.children[low]

    # Loose rows

    cdef int64_t spare(self) noexcept nogil:
        return LEAST_SPARE + 2 * <int64_t>sqrt(<double>self.loose.size)

    cdef bint is_far_behind(self) except -1:
        """Whether the row at hand, of which there is the first key, is to be loose; if not, it has all keys then."""
        cdef int32_t last
        cdef uint64_t key = self.keys[0]
        if self.tree.total and (self.loose.size or self.tree.total >= self.end + 2 * LEAST_SPARE):
            last = tree_last(&self.tree)
            if key > self.keys_of(last)[0]:
                return True
            self.make_keys(1, self.key_count)
            return key == self.keys_of(last)[0] and self.compare(last) > 0
        self.make_keys(1, self.key_count)
        return False

    cdef void loosen(self, int32_t number, int64_t weight) noexcept nogil:
        self.kept(number)[PLACE] = loose_put(&self.loose, self.keys_of(number)[0], number)
        self.loose.weight += weight

    cdef void fasten(self, int32_t number, int64_t weight) noexcept nogil:
        """Takes a loose row from among the others."""
        cdef int64_t place = self.kept(number)[PLACE], moved = loose_drop(&self.loose, place)
        if moved >= 0:
            self.kept(moved)[PLACE] = place
        self.kept(number)[PLACE] = -1
        self.loose.weight -= weight

    cdef void shorten(self, int64_t least) noexcept nogil:
        """Makes the last rows of the tree loose if it has twice the spare ones, and this weight, without them."""
        cdef int64_t most = max(least, self.end + 2 * self.spare())
        cdef int32_t last, i
        for i in range(MOST_LOOSENED):
            if self.tree.total <= most:
                return
            last = tree_last(&self.tree)
            if self.tree.total - self.kept(last)[COUNT] < most:
                return
            tree_remove(&self.tree, last)
            self.loosen(last, self.kept(last)[COUNT])

    cdef int lengthen(self, int64_t least) except -1:
        """Has the tree hold the first of the loose rows, until its weight is at least this much or there are no more."""
        cdef int64_t place
        cdef uint64_t key
        cdef int32_t number
        cdef Spot spot
        while self.loose.size and self.tree.total < least:
            key = loose_key(&self.loose, least - self.tree.total)
            place = 0
            while place < self.loose.size:
                number = <int32_t>self.loose.data[place].number
                place += 1
                if self.loose.data[place - 1].key > key:
                    continue
                memcpy(self.ids, keyed_at(&self.rows, number), self.rows.width * sizeof(int64_t))
                self.keys[0] = self.keys_of(number)[0]
                if self.is_far_behind() and self.tree.total >= least:
                    continue
                self.make_keys(1, self.key_count)
                memcpy(self.keys_of(number), self.keys, self.key_count * sizeof(uint64_t))
                self.descend(&spot, NULL)
                place -= 1
                self.fasten(number, self.kept(number)[COUNT])
                tree_insert(&self.tree, spot.leaf, spot.place, self.keys_of(number)[0], number, self.kept(number)[COUNT])
                self.shorten(least)
        return 0

    @property
    def stats(self):
        return {
            "rows": int(self.rows.records.live),
            "weight": int(self.tree.total + self.loose.weight),
            "bytes": int(keyed_bytes(&self.rows) + tree_bytes(&self.tree)
                         + self.loose.capacity * <int64_t>sizeof(LooseRow)),
        }
