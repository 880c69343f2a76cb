"""The first rows of an order: what changes of rows make of the slice between two ranks."""

import cython

from libc.stdint cimport int64_t

from millstream.kernels.containers.keyed cimport Keyed, keyed_at, keyed_close, keyed_drop, keyed_get, keyed_hash, keyed_open
from millstream.kernels.flow.change_rows cimport CHANGE, TICK, Written
from millstream.kernels.flow.deltas cimport Deltas, Operator, check_widths
from millstream.kernels.flow.two_sided cimport same_change
from millstream.kernels.order.ranking cimport Ranking
from millstream.kernels.order.term_order cimport TermOrder

ALL = 1 << 62


cdef class Slices(Operator):
    """Takes rows change by change."""

    cdef Deltas given
    cdef bint is_halfway        # through a change

    def __cinit__(self, inputs, int width, *args, **kwargs):
        (self.given,) = self.inputs
        check_widths(self.inputs, width)

    cdef int take(self, int64_t row) except -1:
        raise NotImplementedError

    cdef int finish(self, int64_t tick, int64_t change) except -1:
        """Ends a change: writes what it made of the slices."""
        raise NotImplementedError

    cdef int apply(self) except -1:
        cdef Written* given = &self.given.rows
        cdef int64_t i
        if self.is_halfway:
            raise ValueError("a change failed halfway")
        self.is_halfway = True
        for i in range(given.size):
            self.take(i)
            if i + 1 == given.size or not same_change(given, i, i + 1):
                self.finish(given.columns[given.width + TICK][i], given.columns[given.width + CHANGE][i])
        self.is_halfway = False
        return 0


@cython.final
cdef class TopK(Slices):
    """The rows at ranks [offset, offset + limit)."""

    cdef Ranking ranking

    def __cinit__(self, inputs, int width, levels, TermOrder order not None, int64_t offset=0, int64_t limit=ALL):
        self.ranking = Ranking(width, levels, order, offset, limit)

    cdef int take(self, int64_t row) except -1:
        return self.ranking.change_ahead(&self.given.rows, row)

    cdef int finish(self, int64_t tick, int64_t change) except -1:
        self.ranking.finish(&self.out.rows, tick, change)
        return 0

    def rows(self, int64_t offset, int64_t limit):
        """The rows of any slice in their order, and how often each is there."""
        cdef Deltas found = Deltas(width=self.out.rows.width)
        self.ranking.read_slice(&found.rows, offset, limit)
        return found.columns, found.weight

    @property
    def stats(self):
        return self.ranking.stats

    @property
    def stored(self):
        return self.ranking.stats["rows"]


@cython.final
cdef class TopKOfEach(Slices):
    """The same for each of several orders, told apart by the column `tag`; one without rows is forgotten."""

    cdef Keyed tags             # tag | the number of its order, plus 1 | the last change that touched it
    cdef list orders
    cdef list free
    cdef list touched           # numbers of orders that the change has touched
    cdef int64_t stamp
    cdef int tag
    cdef tuple made_of

    def __cinit__(self, inputs, int width, int tag, levels, TermOrder order not None, int64_t offset=0, int64_t limit=ALL):
        if not 0 <= tag < width:
            raise ValueError(f"there is no column {tag} among {width}")
        self.made_of = (width, tuple(levels), order, offset, limit)
        Ranking(*self.made_of)
        self.tag = tag
        self.orders, self.free, self.touched = [], [], []
        self.stamp = 1
        keyed_open(&self.tags, 1, 2)

    def __dealloc__(self):
        keyed_close(&self.tags)

    cdef int take(self, int64_t row) except -1:
        cdef int64_t* tag = self.given.rows.columns[self.tag] + row
        cdef int64_t* kept = keyed_at(&self.tags, keyed_get(&self.tags, tag, keyed_hash(&self.tags, tag))) + 1
        if kept[0] == 0:
            if self.free:
                kept[0] = self.free.pop() + 1
                self.orders[kept[0] - 1] = Ranking(*self.made_of)
            else:
                self.orders.append(Ranking(*self.made_of))
                kept[0] = len(self.orders)
        if kept[1] != self.stamp:
            kept[1] = self.stamp
            self.touched.append((kept[0] - 1, tag[0]))
        return (<Ranking>self.orders[kept[0] - 1]).change(&self.given.rows, row)

    cdef int finish(self, int64_t tick, int64_t change) except -1:
        cdef Ranking order
        cdef int64_t number, tag
        for number, tag in self.touched:
            order = self.orders[number]
            order.finish(&self.out.rows, tick, change)
            if order.tree.total == 0:
                keyed_drop(&self.tags, keyed_get(&self.tags, &tag, keyed_hash(&self.tags, &tag)))
                self.orders[number] = None
                self.free.append(number)
        self.touched.clear()
        self.stamp += 1
        return 0

    @property
    def stats(self):
        return {"orders": int(self.tags.records.live)}

    @property
    def stored(self):
        return sum([order.stats["rows"] for order in self.orders if order is not None])
