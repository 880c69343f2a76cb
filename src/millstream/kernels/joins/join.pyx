"""The interval join: a connected conjunctive pattern over pairs of ids with ends, kept incrementally.

Fed with changes of its views in order, it writes for every change the matches that begin (weight 1) or end early (-1), with
the interval in which they hold. Patterns of one variable are not views with lists but qualifications of rows
(qualifications.pxd), for which pairs may have to wait (dangling.pxd, waiting.pxd); the rest are edges between rows
(store.pxd, laid out by layout.pxd); a change (changes.pxd) updates these, and matches are enumerated from what changed
(matching.pxd), those of what nobody asks for counted (counting.pxd).

A change of one view, at tick `now`:

    insert, not live        +1 on [now, until)            then stored
    insert, live            +1 on [old end, until)        if that is later; then the entry ends at `until`
    end, live               -1 on [now, old end)          then removed

always intersected with the other entries of a match. What expires writes nothing: its matches were written with their end.
Rows of one pair that follow one another and concern one relation are taken as a group, so that a pair that waits is looked
up once.
"""

import cython
import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from millstream.kernels.containers.agenda cimport FOREVER as AGENDA_FOREVER
from millstream.kernels.containers.agenda cimport LANES, NEVER, agenda_bytes, agenda_close
from millstream.kernels.containers.chunked cimport chunked_bytes, chunked_close
from millstream.kernels.containers.hash_index cimport index_bytes, index_close, index_open
from millstream.kernels.containers.memory cimport CHUNK_BYTES, SHELVED, block_free, block_new, shelf_close, shelf_give
from millstream.kernels.joins.changes cimport AHEAD, Ahead, Change, change_views, insert_lasting, lasting_first, look_ahead
from millstream.kernels.joins.counting cimport find_counted, known_free, spans_free
from millstream.kernels.joins.filters cimport Filters, OrderTest
from millstream.kernels.joins.inspection cimport Waiting, count_waiting, most_waiting, waiting_pairs
from millstream.kernels.joins.layout cimport group, lay_out
from millstream.kernels.joins.matcher cimport CHANGE, MORE_COLUMNS, START, UNTIL, WEIGHT, Matcher, Span
from millstream.kernels.joins.qualifications cimport expire
from millstream.kernels.joins.store cimport (
    MOST, UNIT, Dangling, Edge, List, Node, Row, Store, Target, Wait, edge_at, ends_of, lists_of, node_at, row_at,
    trailing_zeros,
)

cnp.import_array()

FOREVER = 1 << 62
SAME = 0
DIFFERENT = 1
# Outcomes of an order, to be added up.
BEFORE = 1
AT = 2
AFTER = 4

cdef int64_t FARTHEST = <int64_t>1 << 58

cdef enum:
    EXPIRED_A_ROW = 6           # notes looked at for every row fed: more than a row can add


@cython.final
cdef class IntervalJoin:
    """Matches of a connected pattern, from changes of its views."""

    def __cinit__(self):
        cdef int i
        # Cython hands out zeroed memory.
        self.store.nodes.free = self.store.edges.free = self.store.waits.free = self.store.dangling.free = -1
        index_open(&self.store.node_index)
        index_open(&self.store.dangling_index)
        for i in range(2):
            index_open(&self.store.edge_index[i])
            index_open(&self.store.wait_index[i])

    def __init__(self, patterns, lanes, int variables, *, bint lazy=True, bint adaptive=True, relations=None, filters=None,
                 orders=None, visible=None, int64_t most=FOREVER):
        """`most`: rows waiting to be taken with which no more are looked for; who takes them must see to that."""
        table = np.asarray(patterns, np.int64).reshape(-1, 2)
        lane_of = np.asarray(lanes, np.int64)
        if not 0 < len(table) <= MOST or not 0 < variables <= MOST or len(lane_of) != len(table):
            raise ValueError(f"a join takes 1 to {MOST} patterns, each with a lane, over 1 to {MOST} variables")
        if table.min() < -1 or table[:, 0].min() < 0 or table.max() >= variables:
            raise ValueError("a pattern names a variable that is not there")
        if (table[:, 0] == table[:, 1]).any():
            raise ValueError("a pattern with one variable at both ends is a unary pattern")
        if lane_of.min() < -1 or lane_of.max() >= LANES:
            raise ValueError(f"lanes are -1 to {LANES - 1}")
        if self.store.views:
            raise ValueError("a join is initialised once")
        lay_out(&self.store, table, lane_of, variables)
        group(&self.store, table, lane_of, np.arange(len(table)) if relations is None else np.asarray(relations, np.int64))
        self.matcher.store = &self.store
        self.matcher.lazy = lazy
        self.matcher.most = most
        self.matcher.adaptive = adaptive
        self.show(list(range(variables)) if visible is None else [int(x) for x in visible])
        for kind, x, y in () if filters is None else np.asarray(filters, np.int64).reshape(-1, 3).tolist():
            self.compare_ids(kind, x, y)
        for outcomes, x, y, offset in () if orders is None else np.asarray(orders, np.int64).reshape(-1, 4).tolist():
            self.compare_values(outcomes, x, y, offset)
        find_counted(&self.matcher)

    cdef compare_ids(self, int kind, int x, int y):
        cdef Filters* filters = &self.matcher.filters
        if not 0 <= x < self.store.variables or not 0 <= y < self.store.variables or x == y or kind not in (SAME, DIFFERENT):
            raise ValueError(f"a filter compares two variables with SAME or DIFFERENT, got {(kind, x, y)}")
        if kind == SAME:
            filters.same[x] |= <uint64_t>1 << y
            filters.same[y] |= <uint64_t>1 << x
        else:
            filters.differ[x] |= <uint64_t>1 << y
            filters.differ[y] |= <uint64_t>1 << x

    cdef compare_values(self, int outcomes, int x, int y, int64_t offset):
        cdef Filters* filters = &self.matcher.filters
        if not 0 <= x < self.store.variables or not 0 <= y < self.store.variables or x == y or not 0 < outcomes < 7:
            raise ValueError(f"an order is of two variables, with BEFORE, AT or AFTER allowed, got {(outcomes, x, y)}")
        if not -FARTHEST < offset < FARTHEST:
            raise ValueError(f"an offset is between -2^58 and 2^58, got {offset}")
        if filters.count == MOST:
            # What is not asked here is asked by who takes the matches.
            return
        filters.tests[filters.count] = OrderTest(x, y, outcomes, offset)
        filters.ordered[x] |= <uint64_t>1 << filters.count
        filters.ordered[y] |= <uint64_t>1 << filters.count
        filters.count += 1

    cdef show(self, visible):
        cdef int x
        for x in range(self.store.variables):
            self.matcher.column_of[x] = -1
        for x in visible:
            if not 0 <= x < self.store.variables or self.matcher.column_of[x] >= 0:
                raise ValueError(f"variable {x} cannot be shown, or is shown twice")
            self.matcher.column_of[x] = self.matcher.width
            self.matcher.width += 1

    def __dealloc__(self):
        cdef Store* store = &self.store
        cdef int column, i
        cdef int64_t number
        for number in range(store.edges.size):
            # Only lists longer than a shelf's arrays need giving back one by one; every list is some edge's.
            if edge_at(store, <int32_t>number).view < 0:
                continue
            self.free_large(<int32_t>number)
        shelf_close(&store.shelf)
        index_close(&store.node_index)
        index_close(&store.dangling_index)
        for i in range(2):
            index_close(&store.edge_index[i])
            index_close(&store.wait_index[i])
        agenda_close(&store.agenda)
        block_free(store.nodes.data, store.nodes.capacity * sizeof(Node))
        block_free(store.rows.data, store.rows.capacity * UNIT)
        block_free(store.edges.data, store.edges.capacity * sizeof(Edge))
        block_free(store.waits.data, store.waits.capacity * sizeof(Wait))
        chunked_close(&store.dangling)
        spans_free(&self.matcher)
        known_free(&self.matcher)
        for column in range(self.matcher.width + MORE_COLUMNS):
            block_free(self.matcher.columns[column], self.matcher.capacity * sizeof(int64_t))

    cdef void free_large(self, int32_t number) noexcept nogil:
        cdef Store* store = &self.store
        cdef Edge* edge = edge_at(store, number)
        cdef List* lst
        if not (store.s_bare >> edge.view) & 1:
            lst = lists_of(row_at(store, edge.s.place.row)) + store.s_slot[edge.view]
            if lst.capacity > SHELVED:
                shelf_give(&store.shelf, lst.entries, lst.capacity)
                lst.capacity = 0
        if not (store.o_bare >> edge.view) & 1:
            lst = lists_of(row_at(store, edge.o.place.row)) + store.o_slot[edge.view]
            if lst.capacity > SHELVED:
                shelf_give(&store.shelf, lst.entries, lst.capacity)
                lst.capacity = 0

    # Changes

    def feed(self, const int64_t[::1] view, const int64_t[::1] a, const int64_t[::1] b, const int64_t[::1] now,
             const int64_t[::1] until, const int64_t[::1] op, const int64_t[::1] change):
        """Takes changes in order; returns how many rows are waiting to be taken.

        A row's view is a pattern, or the number of patterns plus the first pattern of a relation: all views of that."""
        cdef int64_t n = view.shape[0]
        if not (a.shape[0] == b.shape[0] == now.shape[0] == until.shape[0] == op.shape[0] == change.shape[0] == n):
            raise ValueError("columns differ in length")
        if n:
            self.check(n, &view[0], &a[0], &b[0], &now[0], &until[0])
            with nogil:
                self.run(n, &view[0], &a[0], &b[0], &now[0], &until[0], &op[0], &change[0])
        return self.matcher.size

    cdef int check(self, int64_t n, const int64_t* view, const int64_t* a, const int64_t* b, const int64_t* now,
                   const int64_t* until) except -1:
        """Refuses rows that the store cannot hold: a tick at or past FOREVER would never come to be due."""
        cdef int64_t views = 2 * self.store.views, i, wrong = 0, some_negative = 0
        # In sign bits, so that it is done for several rows at a time; a tick of FOREVER or more has bit 62 and not 63.
        for i in range(n):
            wrong |= view[i] | (views - 1 - view[i]) | a[i] | (~now[i] & (now[i] << 1)) | (
                ~until[i] & (<int64_t>(<uint64_t>until[i] - 1) << 1)
            )
            some_negative |= b[i]
        if wrong >= 0 and some_negative >= 0:
            return 0
        for i in range(n):
            if not 0 <= view[i] < views or a[i] < 0 or (b[i] < 0 and not self.store.targets[view[i]].unary):
                raise ValueError(f"row {i}: view {view[i]} or ids {a[i]}, {b[i]} out of range")
            if now[i] >= AGENDA_FOREVER or until[i] > AGENDA_FOREVER:
                raise ValueError(
                    f"row {i}: ticks {now[i]}, {until[i]} out of range: now is before FOREVER, until not after it"
                )
        return 0

    cdef void run(self, int64_t n, const int64_t* view, const int64_t* a, const int64_t* b, const int64_t* now,
                  const int64_t* until, const int64_t* op, const int64_t* change) noexcept nogil:
        cdef int64_t i = 0, j, seen = 0, looked = 0
        cdef Store* store = &self.store
        cdef uint64_t views, others
        cdef Target* target
        cdef Change one
        cdef Ahead ahead
        while i < n:
            target = &store.targets[view[i]]
            if target.lasting:
                j = lasting_first(store, min(n - i, <int64_t>AHEAD), view + i, now + i, until + i, op + i)
                if j:
                    insert_lasting(&self.matcher, target, j, a + i, b + i, now + i, change + i)
                    i += j
                    continue
            if i >= seen:
                looked = i
                seen = min(n, i + AHEAD)
                look_ahead(store, seen - i, view + i, a + i, b + i, until + i, &ahead)
            one.a = a[i]
            one.b = b[i]
            one.until = until[i]
            one.number = change[i]
            one.inserted = op[i] > 0
            one.s_node = ahead.s_node[i - looked]
            one.o_node = ahead.o_node[i - looked]
            one.hash = ahead.hash[i - looked]
            store.now = now[i]
            views = target.views
            others = target.others
            j = i + 1
            while (others and j < n and a[j] == one.a and b[j] == one.b and view[j] < store.views and (others >> view[j]) & 1
                   and now[j] == store.now and until[j] == one.until
                   and change[j] == one.number and (op[j] > 0) == one.inserted):
                views |= <uint64_t>1 << view[j]
                others &= ~views
                j += 1
            if one.until < AGENDA_FOREVER:
                self.matcher.expiring |= views
            if store.agenda.next_tick <= store.now:
                expire(store, EXPIRED_A_ROW * (j - i))
            change_views(&self.matcher, target, views, &one)
            i = j

    def expire(self, int64_t now):
        """Removes everything that is dead at `now`. Never needed for answers: it only gives memory back sooner."""
        if now >= AGENDA_FOREVER:
            raise ValueError(f"tick {now} out of range: now is before FOREVER")
        self.store.now = now
        with nogil:
            expire(&self.store, AGENDA_FOREVER)

    def take(self):
        """The rows written since the last take: columns, change, start, until, weight."""
        cdef Matcher* matcher = &self.matcher
        columns = np.empty((matcher.width, matcher.size), np.int64)
        more = np.empty((MORE_COLUMNS, matcher.size), np.int64)
        cdef int64_t[:, ::1] into
        cdef int column
        if matcher.size:
            into = columns
            for column in range(matcher.width):
                memcpy(&into[column, 0], matcher.columns[column], matcher.size * sizeof(int64_t))
            into = more
            for column in range(MORE_COLUMNS):
                memcpy(&into[column, 0], matcher.columns[matcher.width + column], matcher.size * sizeof(int64_t))
        matcher.size = 0
        return columns.T, more[CHANGE], more[START], more[UNTIL], more[WEIGHT]

    # Looking in

    def dump(self, int64_t now):
        """What is live at `now`, as view, a, b, until, by end: what `load` of an equal join takes."""
        cdef Store* store = &self.store
        cdef int64_t number
        cdef int view, x, i
        cdef Edge* edge
        cdef Waiting* waiting = <Waiting*>block_new(most_waiting(store) * sizeof(Waiting))
        cdef Row* row
        cdef int32_t at
        found = []
        for number in range(store.edges.size):
            edge = edge_at(store, <int32_t>number)
            view = edge.view
            if view >= 0 and edge.until > now:
                found.append((
                    view,
                    edge.s.id if (store.s_bare >> view) & 1 else row_at(store, edge.s.place.row).id,
                    edge.o.id if (store.o_bare >> view) & 1 else row_at(store, edge.o.place.row).id,
                    edge.until,
                ))
        for number in range(waiting_pairs(store, waiting)):
            for view in range(store.views):
                if (waiting[number].views >> view) & 1 and waiting[number].until > now:
                    found.append((view, waiting[number].a, waiting[number].b, waiting[number].until))
        block_free(waiting, most_waiting(store) * sizeof(Waiting))
        for number in range(store.nodes.size):
            if node_at(store, number).id < 0:
                continue
            at = node_at(store, number).rows
            while at >= 0:
                row = row_at(store, at)
                for i in range(store.unary[row.variable]):
                    if ends_of(store, row)[i] > now:
                        found.append((store.unary_view[row.variable][i], row.id, -1, ends_of(store, row)[i]))
                at = row.next
        table = np.array(found, np.int64).reshape(-1, 4)
        # A pair that waits may be there several times: its latest end counts.
        table = table[np.lexsort((table[:, 3], table[:, 2], table[:, 1], table[:, 0]))]
        last = np.ones(len(table), np.bool_)
        last[: len(table) - 1] = (table[1:, :3] != table[: len(table) - 1, :3]).any(axis=1)
        table = table[last]
        table = table[np.lexsort((table[:, 2], table[:, 1], table[:, 0], table[:, 3]))]
        return tuple(np.ascontiguousarray(table[:, i]) for i in range(4))

    def load(self, view, a, b, until):
        """Stores what was dumped, without output."""
        n = len(view)
        self.matcher.silent = True
        try:
            self.feed(view, a, b, np.full(n, NEVER + 1, np.int64), until, np.ones(n, np.int64), np.zeros(n, np.int64))
        finally:
            self.matcher.silent = False

    @property
    def stats(self):
        """Entries of each view, pairs that wait, rows, nodes, notes, bytes; the dead not yet removed included."""
        cdef Store* store = &self.store
        cdef int64_t waiting[MOST]
        cdef int view
        count_waiting(store, waiting)
        entries = [int(store.held[view] + waiting[view]) for view in range(store.views)]
        size = (
            store.nodes.capacity * sizeof(Node) + store.rows.capacity * UNIT + store.edges.capacity * sizeof(Edge)
            + store.waits.capacity * sizeof(Wait) + chunked_bytes(&store.dangling) + index_bytes(&store.node_index)
            + index_bytes(&store.edge_index[0]) + index_bytes(&store.edge_index[1])
            + index_bytes(&store.wait_index[0]) + index_bytes(&store.wait_index[1]) + index_bytes(&store.dangling_index)
            + store.shelf.chunk_count * CHUNK_BYTES + store.shelf.large
            + agenda_bytes(&store.agenda)
        )
        return {
            "entries": entries,
            "edges": int(store.edges.live),
            "waiting": int(store.waits.live + store.dangling.live),
            "rows": int(store.row_count),
            "nodes": int(store.nodes.live),
            "notes": int(store.agenda.size),
            "bytes": int(size),
            "output_bytes": int(self.matcher.capacity * sizeof(int64_t) * (self.matcher.width + MORE_COLUMNS)
                                + self.matcher.span_capacity * sizeof(Span)),
        }
