"""Which nodes reach which over edges that come and go: the pairs of one or more steps, of any number, or of at most one.

Rows of edges are (tags..., from, to), at most two tags; paths do not leave their tags. An edge, a node or a demand is
there while the weights it was given sum to more than 0. All rows of one change are taken before any is acted upon, then:
sources that are no longer asked for go, edges go, edges come, new sources start (derivation.pxd). What came and what went
is logged, and compared at the end of the change with what was shown, so that the output of a change is its net
difference.

Sources are one node (a constant), the nodes asked for, or all. A pair (n, n) is shown if there is a cycle or a path of
length zero: always for a constant (with tags: for those given), else for nodes that are given as such and, where that
matters, asked for. Reversed, paths are followed against the edges, and rows are turned around on the way in and on the
way out.

Output is a function of the rows that are there before and after a change; only trees (reach.pxd) depend on how these
came, and they do not show.
"""

import cython

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from millstream.kernels.aggregates.term_references cimport TermReferences
from millstream.kernels.containers.growing cimport Numbers, numbers_close, numbers_push
from millstream.kernels.flow.change_rows cimport (
    CHANGE, TICK, WEIGHT, ChangeRows, Written, change_close, change_open, change_row, change_write,
)
from millstream.kernels.flow.deltas cimport Deltas, Operator, check_widths
from millstream.kernels.flow.two_sided cimport is_before
from millstream.kernels.paths.derivation cimport (
    Derivation, edge_comes, edges_go, source_comes, source_goes, touch_node,
)
from millstream.kernels.paths.reach cimport (
    LINKED, LOGGED, MOST_TAGS, REACHED, SHOWN, SOURCE, TOUCHED, Edge, Node, Pair, edge_at, edge_find, edge_forget,
    edge_new, node_at, node_forget, node_of, pair_at, pair_find, pair_forget, reach_bytes, reach_close, reach_open,
)

cdef enum:
    EDGES = 0                   # inputs
    NODES = 1
    ASKED = 2
    INPUTS = 3
    MOST_KEPT = 1 << 20         # numbers for which room is kept from one call to the next


cdef struct Rows:
    const Written* rows         # NULL for an input that there is not
    int64_t at


cdef inline int64_t told(const Rows* given, int which) noexcept nogil:
    """Tick, change or weight of the row in turn."""
    return given.rows.columns[given.rows.width + which][given.at]


cdef inline int64_t value(const Rows* given, int column) noexcept nogil:
    return given.rows.columns[column][given.at]


cdef inline bint is_left(const Rows* given) noexcept nogil:
    return given.rows != NULL and given.at < given.rows.size


@cython.final
cdef class PathClosure(Operator):
    """Pairs of nodes that edges connect, kept up to date.

    Inputs are edges, nodes where paths of length zero depend on them, and what is asked for if `demanded`.
    """

    cdef Derivation d
    cdef int tags
    cdef bint zero_length
    cdef bint has_source
    cdef bint has_target
    cdef bint demanded
    cdef bint reversed
    cdef bint negative          # something was taken back that was not there
    cdef int64_t source
    cdef int64_t target
    cdef Numbers touched_edges
    cdef Numbers going
    cdef ChangeRows group
    cdef TermReferences references          # of constants
    cdef Rows given[INPUTS]

    def __cinit__(self, inputs, int width, *, source=None, target=None, bint zero_length=False, bint demanded=False,
                  bint reversed=False, TermReferences references=None):
        cdef int i, which
        self.tags = width - 2
        if not 0 <= self.tags <= MOST_TAGS:
            raise ValueError(f"tags must be from 0 to {MOST_TAGS}, got {self.tags}")
        if demanded and source is not None:
            raise ValueError("a closure of one source has no others that could be asked for")
        self.has_source = source is not None
        self.has_target = target is not None
        self.source = 0 if source is None else source
        self.target = 0 if target is None else target
        self.zero_length = zero_length and (source is None or target is None or source == target)
        self.demanded = demanded
        self.reversed = reversed
        self.d.chosen = demanded or self.has_source
        places = [EDGES, *[NODES] * (self.zero_length and (self.tags > 0 or not self.has_source)), *[ASKED] * demanded]
        if len(places) != len(self.inputs):
            names = ("edges", "tags" if self.has_source else "nodes", "demand")
            raise ValueError(
                f"expected {len(places)} inputs ({', '.join(names[i] for i in places)}), got {len(self.inputs)}"
            )
        for i, which in enumerate(places):
            check_widths([self.inputs[i]], self.tags + (2 if which == EDGES else which == ASKED or not self.has_source))
            self.given[which].rows = &(<Deltas>self.inputs[i]).rows
        self.references = references
        if references is not None:
            self.keep(1, 0)
        reach_open(&self.d.reach)
        change_open(&self.group, width)

    cdef int keep(self, int sign, int64_t at) except -1:
        """Holds the constants, or lets go of them."""
        for id, is_there in ((self.source, self.has_source), (self.target, self.has_target)):
            if is_there and sign > 0:
                self.references.hold_term(id)
            elif is_there:
                self.references.release_term(id, at)
        return 0

    def close(self, int64_t at_tick):
        if self.references is not None:
            self.keep(-1, at_tick)

    def __dealloc__(self):
        reach_close(&self.d.reach)
        numbers_close(&self.d.log)
        numbers_close(&self.d.touched)
        numbers_close(&self.d.queue)
        numbers_close(&self.d.doubted)
        numbers_close(&self.touched_edges)
        numbers_close(&self.going)
        change_close(&self.group)

    # Taking rows

    cdef int32_t node(self, Rows* rows, int64_t id) noexcept nogil:
        """The node of an id under the tags of the row in turn."""
        cdef int64_t ids[MOST_TAGS + 1]
        cdef int32_t number
        cdef int i
        ids[0] = id
        for i in range(MOST_TAGS):
            ids[1 + i] = value(rows, i) if i < self.tags else 0
        number = node_of(&self.d.reach, ids)
        if self.has_source and id == self.source:
            node_at(&self.d.reach, number).flags |= SOURCE
        return number

    cdef void take_edge(self, Rows* rows) noexcept nogil:
        cdef int32_t start = self.node(rows, value(rows, self.tags + self.reversed))
        cdef int32_t end = self.node(rows, value(rows, self.tags + 1 - self.reversed))
        cdef int32_t number = edge_find(&self.d.reach, start, end)
        cdef Edge* edge
        if number < 0:
            number = edge_new(&self.d.reach, start, end)
        edge = edge_at(&self.d.reach, number)
        edge.weight += told(rows, WEIGHT)
        if not edge.flags & TOUCHED:
            edge.flags |= TOUCHED
            numbers_push(&self.touched_edges, number)

    cdef void take_node(self, Rows* rows, bint asked) noexcept nogil:
        cdef int32_t number
        cdef Node* node
        if not asked and self.has_source:
            number = self.node(rows, self.source)
        else:
            number = self.node(rows, value(rows, self.tags))
        node = node_at(&self.d.reach, number)
        if asked:
            node.asked += told(rows, WEIGHT)
        else:
            node.present += told(rows, WEIGHT)
        touch_node(&self.d, number)

    # Acting upon a change

    cdef void act(self) noexcept nogil:
        cdef int64_t i
        cdef int32_t number
        cdef Edge* edge
        if self.demanded:
            for i in range(self.d.touched.size):
                number = self.d.touched.items[i]
                if node_at(&self.d.reach, number).flags & SOURCE and node_at(&self.d.reach, number).asked <= 0:
                    source_goes(&self.d, number)
        self.edges_that_go()
        for i in range(self.touched_edges.size):
            number = self.touched_edges.items[i]
            edge = edge_at(&self.d.reach, number)
            edge.flags &= ~TOUCHED
            if not edge.flags & LINKED:
                edge_comes(&self.d, number)
        self.touched_edges.size = 0
        if self.demanded:
            for i in range(self.d.touched.size):
                number = self.d.touched.items[i]
                if not node_at(&self.d.reach, number).flags & SOURCE and node_at(&self.d.reach, number).asked > 0:
                    source_comes(&self.d, number)

    cdef void edges_that_go(self) noexcept nogil:
        """Leaves only those among the touched that stay or come."""
        cdef int64_t i, kept = 0
        cdef int32_t number
        cdef Edge* edge
        for i in range(self.touched_edges.size):
            number = self.touched_edges.items[i]
            edge = edge_at(&self.d.reach, number)
            if edge.weight > 0:
                self.touched_edges.items[kept] = number
                kept += 1
                continue
            self.negative |= edge.weight < 0
            if edge.flags & LINKED:
                numbers_push(&self.going, number)
            else:
                touch_node(&self.d, edge.start)
                touch_node(&self.d, edge.end)
                edge_forget(&self.d.reach, number)
        self.touched_edges.size = kept
        if self.going.size:
            edges_go(&self.d, self.going.items, self.going.size)
            self.going.size = 0

    # Showing what a change did

    cdef void write(self, int32_t start, int32_t end, int64_t weight) noexcept nogil:
        cdef int64_t* values
        cdef int column
        if self.has_target and node_at(&self.d.reach, end).ids[0] != self.target:
            return
        values = change_row(&self.group)
        for column in range(self.tags):
            values[column] = node_at(&self.d.reach, start).ids[1 + column]
        values[self.tags + self.reversed] = node_at(&self.d.reach, start).ids[0]
        values[self.tags + 1 - self.reversed] = node_at(&self.d.reach, end).ids[0]
        values[self.tags + 2] = weight

    cdef bint has_zero_length(self, Node* node) noexcept nogil:
        if not self.zero_length:
            return False
        if self.has_source:
            return node.ids[0] == self.source and (self.tags == 0 or node.present > 0)
        return node.present > 0 and (not self.demanded or node.asked > 0)

    cdef void show_pair(self, int32_t number) noexcept nogil:
        cdef Pair* pair = pair_at(&self.d.reach, number)
        cdef bint reached = pair.flags & REACHED != 0
        pair.flags &= ~LOGGED
        if pair.source != pair.node and reached != (pair.flags & SHOWN != 0):
            self.write(pair.source, pair.node, 1 if reached else -1)
            pair.flags ^= SHOWN
        if not reached:
            pair_forget(&self.d.reach, number)

    cdef void show_node(self, int32_t number) noexcept nogil:
        """Shows the pair of a node with itself; forgets the node if nothing is known of it any more."""
        cdef Node* node = node_at(&self.d.reach, number)
        cdef bint shown = self.has_zero_length(node)
        node.flags &= ~TOUCHED
        self.negative |= node.present < 0 or node.asked < 0
        if not shown and node.out >= 0 and node.into >= 0:
            shown = pair_find(&self.d.reach, number, number) >= 0
        if shown != (node.flags & SHOWN != 0):
            self.write(number, number, 1 if shown else -1)
            node.flags ^= SHOWN
        if not shown and node.out < 0 and node.into < 0 and node.present <= 0 and node.asked <= 0:
            node_forget(&self.d.reach, number)

    cdef void show(self, int64_t tick, int64_t change) noexcept nogil:
        cdef int64_t i
        for i in range(self.d.log.size):
            self.show_pair(self.d.log.items[i])
        self.d.log.size = 0
        for i in range(self.d.touched.size):
            self.show_node(self.d.touched.items[i])
        self.d.touched.size = 0
        change_write(&self.group, &self.out.rows, tick, change)

    cdef void give_back(self) noexcept nogil:
        """Room for far more than a call mostly needs is given back."""
        if self.d.log.capacity > MOST_KEPT:
            numbers_close(&self.d.log)
        if self.d.doubted.capacity > MOST_KEPT:
            numbers_close(&self.d.doubted)

    # From outside

    def begin(self, int64_t tick, int64_t change):
        """What is there without any rows: a constant reaches itself. To be called once, before `apply`."""
        cdef int64_t ids[MOST_TAGS + 1]
        if self.has_source and self.zero_length and self.tags == 0:
            memset(ids, 0, sizeof(ids))
            ids[0] = self.source
            number = node_of(&self.d.reach, ids)
            node_at(&self.d.reach, number).flags |= SOURCE
            touch_node(&self.d, number)
            self.show(tick, change)

    cdef int next_change(self) noexcept nogil:
        """The input whose row in turn is the first in order of tick and change, -1 after the last."""
        cdef int i, first = -1
        for i in range(INPUTS):
            if is_left(&self.given[i]) and (
                    first < 0 or is_before(
                        self.given[i].rows, self.given[i].at, self.given[first].rows, self.given[first].at
                    )):
                first = i
        return first

    cdef void run_all(self) noexcept nogil:
        cdef Rows* rows
        cdef int first, i
        cdef int64_t tick, change
        while True:
            first = self.next_change()
            if first < 0:
                return
            tick = told(&self.given[first], TICK)
            change = told(&self.given[first], CHANGE)
            for i in range(first, INPUTS):
                rows = &self.given[i]
                while is_left(rows) and told(rows, TICK) == tick and told(rows, CHANGE) == change:
                    if i == EDGES:
                        self.take_edge(rows)
                    else:
                        self.take_node(rows, i == ASKED)
                    rows.at += 1
            self.act()
            self.show(tick, change)

    cdef int apply(self) except -1:
        """Nodes, given or asked for, are rows (tags..., node); those given are (tags...) if the source is a constant."""
        cdef int i
        for i in range(INPUTS):
            self.given[i].at = 0
        self.run_all()
        self.give_back()
        if self.d.full:
            self.out.rows.size = 0
            raise MemoryError("more pairs of nodes are connected than can be numbered")
        if self.negative:
            self.negative = False
            self.out.rows.size = 0
            raise ValueError("a row was taken back that was not there")
        return 0

    @property
    def stats(self):
        return {
            "nodes": int(self.d.reach.nodes.records.live),
            "edges": int(self.d.reach.edges.live),
            "pairs": int(self.d.reach.pairs.live),
            "bytes": int(reach_bytes(&self.d.reach)),
        }

    @property
    def stored(self):
        return int(self.d.reach.pairs.live)
