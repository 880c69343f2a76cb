"""The interval join: a connected conjunctive pattern over pairs of ids with ends, kept incrementally.

Fed with changes of its views in order, it writes for every change the matches that begin (weight 1) or end early (-1), with the
interval in which they hold. Patterns of one variable are not views with lists but qualifications of rows (waiting.pxd); the rest are
edges between rows (store.pxd); matches are enumerated from what changed (matching.pxd).

A change of one view, at tick `now`:

    insert, not live        +1 on [now, until)            then stored
    insert, live            +1 on [old end, until)        if that is later; then the entry ends at `until`
    end, live               -1 on [now, old end)          then removed

always intersected with the other entries of a match. What expires writes nothing: its matches were written with their end.
Rows of one pair that follow one another and concern one relation are taken as a group, so that a pair that waits is looked up once.
"""

import cython
import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from millstream.kernels.agenda cimport FOREVER as AGENDA_FOREVER
from millstream.kernels.agenda cimport LANES, NEVER, agenda_bytes, agenda_close, agenda_open
from millstream.kernels.matching cimport (
    CHANGE, MORE_COLUMNS, START, UNTIL, WEIGHT, Matcher, finish, match_edge, match_row,
)
from millstream.kernels.memory cimport CHUNK_BYTES, SHELVED, block_free, shelf_close, shelf_give
from millstream.kernels.edges cimport edge_add, edge_extend, edge_find, edge_remove, kind_hash, pair_hash
from millstream.kernels.store cimport (
    MOST, NO_VARIABLE, UNARY_NOTE, UNIT, Edge, List, Node, Row, Store, Wait, edge_at, ends_of, lists_of, node_at, node_drop,
    node_find, node_get, node_release, note, row_at, row_find, row_get, row_release, trailing_zeros, wait_at,
)
from millstream.kernels.table cimport fold, index_bytes, index_close, index_open, prefetch, prefetch_slot
from millstream.kernels.waiting cimport (
    INDEXED, expire, least_end, o_ready, place_o, place_s, row_open, s_ready, wait_end, wait_put,
)

cnp.import_array()

FOREVER = 1 << 62
SAME = 0
DIFFERENT = 1

cdef enum:
    EXPIRED_A_ROW = 6           # notes looked at for every row fed: more than a row can add
    AHEAD = 32                  # rows whose nodes are found, and what hangs on these asked for, before their turn


cdef struct Change:
    int64_t a
    int64_t b
    int64_t until
    int64_t number
    bint inserted
    int32_t s_node              # as found ahead: may be gone or another's by now
    int32_t o_node


@cython.final
cdef class IntervalJoin:
    """Matches of a connected pattern, from changes of its views."""

    cdef Store store
    cdef Matcher matcher
    cdef bint silent
    cdef uint64_t qualified_relations   # those with a view that asks for a qualification
    cdef uint8_t pattern[2 * MOST]      # of a row's view: the pattern, or the first of the relation

    def __cinit__(self):
        cdef int i
        # Cython hands out zeroed memory.
        self.store.nodes.free = self.store.edges.free = self.store.waits.free = -1
        index_open(&self.store.node_index)
        for i in range(2):
            index_open(&self.store.edge_index[i])
            index_open(&self.store.wait_index[i])

    def __init__(self, patterns, lanes, int variables, *, bint lazy=True, bint adaptive=True, relations=None, filters=None,
                 visible=None):
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
        self.lay_out(table, lane_of, variables)
        self.group(table, lane_of, np.arange(len(table)) if relations is None else np.asarray(relations, np.int64))
        self.matcher.store = &self.store
        self.matcher.lazy = lazy
        self.matcher.adaptive = adaptive
        self.show(list(range(variables)) if visible is None else [int(x) for x in visible])
        for kind, x, y in () if filters is None else np.asarray(filters, np.int64).reshape(-1, 3).tolist():
            if not 0 <= x < variables or not 0 <= y < variables or x == y or kind not in (SAME, DIFFERENT):
                raise ValueError(f"a filter compares two variables with SAME or DIFFERENT, got {(kind, x, y)}")
            if kind == SAME:
                self.matcher.same[<int>x] |= <uint64_t>1 << <int>y
                self.matcher.same[<int>y] |= <uint64_t>1 << <int>x
            else:
                self.matcher.differ[<int>x] |= <uint64_t>1 << <int>y
                self.matcher.differ[<int>y] |= <uint64_t>1 << <int>x

    cdef lay_out(self, table, lane_of, int variables):
        """Slots of patterns in rows, and which ends are free, bare or leaves."""
        cdef Store* store = &self.store
        cdef int view, x, y
        cdef uint64_t bit
        store.views = len(table)
        store.variables = variables
        for x in range(variables):
            store.spare_row[x] = -1
        for view in range(store.views):
            x, y = table[view]
            bit = <uint64_t>1 << view
            store.s_variable[view] = x
            store.o_variable[view] = y
            store.lane[view] = lane_of[view]
            store.long_lived[view] = lane_of[view] < 0
            if y < 0:
                store.s_slot[view] = store.unary[x]
                store.unary_view[x][store.unary[x]] = view
                store.unary[x] += 1
                continue
            store.s_slot[view] = store.degree[x]
            store.degree[x] += 1
            store.o_slot[view] = store.degree[y]
            store.degree[y] += 1
            store.incident[x] |= bit
            store.incident[y] |= bit
            store.s_views[x] |= bit
            store.o_views[y] |= bit
            store.empty_views += 1
        for view in range(store.views):
            x, y = table[view]
            bit = <uint64_t>1 << view
            if y < 0:
                continue
            if store.unary[x] == 0:
                store.s_free |= bit
            if store.unary[y] == 0:
                store.o_free |= bit
            if store.unary[x] == 0 and store.degree[x] == 1:
                store.s_bare |= bit
            if store.unary[y] == 0 and store.degree[y] == 1:
                store.o_bare |= bit
            if store.degree[x] == 1 or store.degree[y] == 1:
                store.leaf |= bit
        self.check_connected()
        agenda_open(&store.agenda, int(lane_of.max()) + 1)

    cdef check_connected(self):
        cdef Store* store = &self.store
        cdef int view, x, y
        reached = {store.s_variable[0]}
        grown = True
        while grown:
            before = len(reached)
            for view in range(store.views):
                x = store.s_variable[view]
                y = store.o_variable[view]
                if y >= 0 and (x in reached or y in reached):
                    reached |= {x, y}
            grown = len(reached) > before
        if len(reached) != store.variables:
            raise ValueError("the pattern is not connected, or a variable is in no pattern")

    cdef group(self, table, lane_of, relations):
        """Numbers the relations: views that take the same pairs and live in one lane."""
        cdef Store* store = &self.store
        cdef int view, number
        if len(relations) != store.views:
            raise ValueError("there is one relation for each pattern")
        numbers = {}
        for view in range(store.views):
            # A unary pattern is a relation of its own.
            key = (int(relations[view]), int(lane_of[view])) if table[view, 1] >= 0 else (view, None)
            number = numbers.setdefault(key, len(numbers))
            self.pattern[view] = view
            self.pattern[store.views + view] = view
            store.relation[view] = number
            store.relation_views[number] |= <uint64_t>1 << view
            store.relation_long_lived[number] = store.long_lived[view]
            if table[view, 1] >= 0 and not ((store.s_free & store.o_free) >> view) & 1:
                self.qualified_relations |= <uint64_t>1 << number
        for number in range(len(numbers)):
            store.s_id[number] = store.relation_views[number] & ~store.s_bare == 0
            store.o_id[number] = store.relation_views[number] & ~store.o_bare == 0
            if store.relation_views[number] & store.s_free:
                store.s_free_relations |= <uint64_t>1 << number

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
        for i in range(2):
            index_close(&store.edge_index[i])
            index_close(&store.wait_index[i])
        agenda_close(&store.agenda)
        block_free(store.nodes.data, store.nodes.capacity * sizeof(Node))
        block_free(store.rows.data, store.rows.capacity * UNIT)
        block_free(store.edges.data, store.edges.capacity * sizeof(Edge))
        block_free(store.waits.data, store.waits.capacity * sizeof(Wait))
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

    cdef void change_end(self, int view, int32_t number, Change* change) noexcept nogil:
        """A change of a unary pattern at a node."""
        cdef Store* store = &self.store
        cdef int variable = store.s_variable[view], place = store.s_slot[view]
        cdef int32_t row
        cdef int64_t* ends
        cdef int64_t old, new, first = self.matcher.size
        row = row_get(store, number, variable) if change.inserted else row_find(store, number, variable)
        if row < 0:
            return
        ends = ends_of(store, row_at(store, row))
        old = row_at(store, row).until
        if not change.inserted:
            if ends[place] <= store.now:
                return
            if old > store.now and not self.silent:
                match_row(&self.matcher, row, store.now, old)
                finish(&self.matcher, first, change.number, store.now, -1)
            ends[place] = NEVER
            store.held[view] -= 1
            row_at(store, row).until = NEVER
            row_release(store, row)
            return
        if ends[place] > store.now and ends[place] >= change.until:
            return
        if ends[place] == NEVER:
            store.held[view] += 1
        ends[place] = change.until
        note(store, view, change.until, row, UNARY_NOTE + place)
        new = least_end(store, row_at(store, row))
        row_at(store, row).until = new
        if new <= store.now or new == old:
            return
        if not row_at(store, row).open:
            row_open(store, row)
        if not self.silent:
            match_row(&self.matcher, row, max(old, store.now), new)
            finish(&self.matcher, first, change.number, max(old, store.now), 1)

    cdef void change_edge(self, int view, int64_t s, int64_t o, Change* change) noexcept nogil:
        """A change of a pair in a view whose qualifications it has; s and o are rows, or ids where bare."""
        cdef Store* store = &self.store
        cdef int32_t number = edge_find(store, view, s, o)
        cdef int64_t old = NEVER, low = store.now, high = change.until, first = self.matcher.size
        if number >= 0:
            old = edge_at(store, number).until
        if not change.inserted:
            if old <= store.now:
                return
            high = old
        elif old > store.now:
            if old >= change.until:
                return
            low = old
        if not self.silent:
            match_edge(&self.matcher, view, s, o, low, high)
            finish(&self.matcher, first, change.number, low, 1 if change.inserted else -1)
        if not change.inserted:
            edge_remove(store, number)
        elif number >= 0:
            edge_extend(store, number, change.until)
        else:
            edge_add(store, view, s, o, change.until)

    cdef inline int32_t node_of(self, int64_t id, int32_t found) noexcept nogil:
        """The node of an id, the one found ahead if it still is that."""
        if found < 0 or node_at(&self.store, found).id != id:
            found = node_get(&self.store, id, fold(<uint64_t>id))
        return found

    cdef void insert_pair(self, int relation, uint64_t views, Change* change) noexcept nogil:
        """A pair comes to several views of a relation."""
        cdef Store* store = &self.store
        cdef bint s_id = store.s_id[relation], o_id = store.o_id[relation]
        cdef int64_t s = change.a if s_id else self.node_of(change.a, change.s_node)
        cdef int64_t o = change.b if o_id else self.node_of(change.b, change.o_node)
        cdef uint64_t admitted = views
        cdef int view
        if (self.qualified_relations >> relation) & 1:
            admitted &= s_ready(store, relation, s) & o_ready(store, relation, o)
            if admitted != views:
                wait_put(store, relation, s, o, views & ~admitted, change.until)
        while admitted:
            view = trailing_zeros(admitted)
            admitted &= admitted - 1
            self.change_edge(view, place_s(store, relation, view, s), place_o(store, relation, view, o), change)
        # Nothing was removed on the way; but a view that holds the bare id makes no use of a node.
        if not s_id:
            node_drop(store, s)
        if not o_id:
            node_drop(store, o)

    cdef void end_pair(self, int relation, uint64_t views, Change* change) noexcept nogil:
        """A pair leaves several views of a relation."""
        cdef Store* store = &self.store
        cdef bint s_id = store.s_id[relation], o_id = store.o_id[relation]
        cdef int64_t s = change.a, o = change.b
        cdef int64_t s_end, o_end
        cdef uint64_t admitted
        cdef int view
        # Pinned, because a removal on the way may free what the next view still needs.
        if not s_id:
            s = self.node_of(change.a, change.s_node)
            node_at(store, s).uses += 1
        if not o_id:
            o = self.node_of(change.b, change.o_node)
            node_at(store, o).uses += 1
        admitted = views & s_ready(store, relation, s) & o_ready(store, relation, o)
        if admitted != views:
            wait_end(store, relation, s, o, views & ~admitted)
        while admitted:
            view = trailing_zeros(admitted)
            admitted &= admitted - 1
            s_end = change.a if (store.s_bare >> view) & 1 else row_find(store, s, store.s_variable[view])
            o_end = change.b if (store.o_bare >> view) & 1 else row_find(store, o, store.o_variable[view])
            if s_end >= 0 and o_end >= 0:
                self.change_edge(view, s_end, o_end, change)
        if not s_id:
            node_release(store, s)
        if not o_id:
            node_release(store, o)

    cdef inline void change(self, int first, uint64_t views, Change* change) noexcept nogil:
        """A change of one view, or of several of a relation."""
        cdef Store* store = &self.store
        cdef int32_t node
        if change.inserted and change.until <= store.now:
            return
        if store.o_variable[first] < 0:
            node = self.node_of(change.a, change.s_node)
            node_at(store, node).uses += 1
            self.change_end(first, node, change)
            node_release(store, node)
        elif change.inserted:
            self.insert_pair(store.relation[first], views, change)
        else:
            self.end_pair(store.relation[first], views, change)

    cdef void look_ahead(self, int64_t n, const int64_t* view, const int64_t* a, const int64_t* b,
                         int32_t* s_node, int32_t* o_node) noexcept nogil:
        """Finds the nodes of up to AHEAD rows, and asks for what hangs on them; -1 where there is none or none is needed."""
        cdef Store* store = &self.store
        cdef uint32_t s_hash[AHEAD]
        cdef uint32_t o_hash[AHEAD]
        cdef int relation
        cdef int64_t i
        cdef bint indexed
        cdef Node* node
        for i in range(n):
            relation = store.relation[self.pattern[view[i]]]
            s_node[i] = store.s_id[relation] - 1
            o_node[i] = -1 if b[i] >= 0 and not store.o_id[relation] else 0
            if s_node[i]:
                s_hash[i] = fold(<uint64_t>a[i])
                prefetch_slot(&store.node_index, s_hash[i])
            if o_node[i]:
                o_hash[i] = fold(<uint64_t>b[i])
                prefetch_slot(&store.node_index, o_hash[i])
        for i in range(n):
            indexed = False
            s_node[i] = node_find(store, a[i], s_hash[i]) if s_node[i] else -1
            o_node[i] = node_find(store, b[i], o_hash[i]) if o_node[i] else -1
            if s_node[i] >= 0:
                node = node_at(store, s_node[i])
                indexed = node.s_chained == INDEXED
                self.look_at(node, node.s_waiting)
            if o_node[i] >= 0:
                node = node_at(store, o_node[i])
                indexed |= node.o_chained == INDEXED
                self.look_at(node, node.o_waiting)
            if indexed and b[i] >= 0:
                relation = store.relation[self.pattern[view[i]]]
                prefetch_slot(&store.wait_index[store.relation_long_lived[relation]],
                              kind_hash(pair_hash(a[i], b[i]), relation))

    cdef inline void look_at(self, Node* node, int32_t waiting) noexcept nogil:
        if node.rows >= 0:
            prefetch(row_at(&self.store, node.rows))
        if waiting >= 0:
            prefetch(wait_at(&self.store, waiting))

    def feed(self, const int64_t[::1] view, const int64_t[::1] a, const int64_t[::1] b, const int64_t[::1] now,
             const int64_t[::1] until, const int64_t[::1] op, const int64_t[::1] change):
        """Takes changes in order; returns how many rows are waiting to be taken.

        A row's view is a pattern, or the number of patterns plus the first pattern of a relation: all views of that."""
        cdef int64_t n = view.shape[0], i = 0, j, seen = 0, looked = 0
        cdef Store* store = &self.store
        cdef uint64_t views, together
        cdef int first
        cdef Change one
        cdef int32_t s_node[AHEAD]
        cdef int32_t o_node[AHEAD]
        if not (a.shape[0] == b.shape[0] == now.shape[0] == until.shape[0] == op.shape[0] == change.shape[0] == n):
            raise ValueError("columns differ in length")
        for j in range(n):
            if not 0 <= view[j] < 2 * store.views or a[j] < 0 or (b[j] < 0 and store.o_variable[self.pattern[view[j]]] >= 0):
                raise ValueError(f"row {j}: view {view[j]} or ids {a[j]}, {b[j]} out of range")
        with nogil:
            while i < n:
                if i >= seen:
                    looked = i
                    seen = min(n, i + AHEAD)
                    self.look_ahead(seen - i, &view[i], &a[i], &b[i], s_node, o_node)
                one.a = a[i]
                one.b = b[i]
                one.until = until[i]
                one.number = change[i]
                one.inserted = op[i] > 0
                one.s_node = s_node[i - looked]
                one.o_node = o_node[i - looked]
                store.now = now[i]
                first = self.pattern[view[i]]
                views = <uint64_t>1 << first
                together = store.relation_views[store.relation[first]] & ~views
                j = i + 1
                if view[i] >= store.views:
                    views |= together
                elif together:
                    while (j < n and a[j] == one.a and b[j] == one.b and view[j] < store.views and (together >> view[j]) & 1
                           and now[j] == store.now and until[j] == one.until
                           and change[j] == one.number and (op[j] > 0) == one.inserted):
                        views |= <uint64_t>1 << view[j]
                        together &= ~views
                        j += 1
                if store.agenda.next_tick <= store.now:
                    expire(store, EXPIRED_A_ROW * (j - i))
                self.change(first, views, &one)
                i = j
        return self.matcher.size

    def feed_one(self, int64_t view, int64_t a, int64_t b, int64_t now, int64_t until, int64_t op, int64_t change):
        """As `feed` with one row of one view, without the cost of columns."""
        cdef Store* store = &self.store
        cdef Change one
        if not 0 <= view < store.views or a < 0 or (b < 0 and store.o_variable[view] >= 0):
            raise ValueError(f"view {view} or ids {a}, {b} out of range")
        one.a = a
        one.b = b
        one.until = until
        one.number = change
        one.inserted = op > 0
        one.s_node = one.o_node = -1
        store.now = now
        with nogil:
            if store.agenda.next_tick <= now:
                expire(store, EXPIRED_A_ROW)
            self.change(<int>view, <uint64_t>1 << view, &one)
        return self.matcher.size

    def expire(self, int64_t now):
        """Removes everything that is dead at `now`. Never needed for answers: it only gives memory back sooner."""
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
        cdef Wait* pair
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
        for number in range(store.waits.size):
            pair = wait_at(store, <int32_t>number)
            if pair.views == 0 or pair.until <= now:
                continue
            i = pair.relation
            s = pair.s if store.s_id[i] else node_at(store, pair.s).id
            o = pair.o if store.o_id[i] else node_at(store, pair.o).id
            for view in range(store.views):
                if (pair.views >> view) & 1:
                    found.append((view, s, o, pair.until))
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
        table = table[np.lexsort((table[:, 2], table[:, 1], table[:, 0], table[:, 3]))]
        return tuple(np.ascontiguousarray(table[:, i]) for i in range(4))

    def load(self, view, a, b, until):
        """Stores what was dumped, without output."""
        n = len(view)
        self.silent = True
        try:
            self.feed(view, a, b, np.full(n, NEVER + 1, np.int64), until, np.ones(n, np.int64), np.zeros(n, np.int64))
        finally:
            self.silent = False

    @property
    def stats(self):
        """Entries of each view, pairs that wait, rows, nodes, notes, bytes; the dead not yet removed included."""
        cdef Store* store = &self.store
        cdef int64_t number
        cdef int view, column
        cdef uint64_t views
        entries = [int(store.held[view]) for view in range(store.views)]
        for number in range(store.waits.size):
            views = wait_at(store, <int32_t>number).views
            while views:
                entries[trailing_zeros(views)] += 1
                views &= views - 1
        size = (
            store.nodes.capacity * sizeof(Node) + store.rows.capacity * UNIT + store.edges.capacity * sizeof(Edge)
            + store.waits.capacity * sizeof(Wait) + index_bytes(&store.node_index)
            + index_bytes(&store.edge_index[0]) + index_bytes(&store.edge_index[1])
            + index_bytes(&store.wait_index[0]) + index_bytes(&store.wait_index[1]) + store.shelf.chunk_count * CHUNK_BYTES + store.shelf.large
            + agenda_bytes(&store.agenda)
        )
        return {
            "entries": entries,
            "edges": int(store.edges.live),
            "waiting": int(store.waits.live),
            "rows": int(store.row_count),
            "nodes": int(store.nodes.live),
            "notes": int(store.agenda.size),
            "bytes": int(size),
            "output_bytes": int(self.matcher.capacity * sizeof(int64_t) * (self.matcher.width + MORE_COLUMNS)),
        }
