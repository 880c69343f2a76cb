"""Delete-and-rederive: how pairs of a closure come and go with edges.

A new edge (u, v): every source that reaches u and not v goes on from v, breadth first, so that trees stay shallow, over
nodes it has not reached yet.

Edges that went: only pairs whose last edge went are in doubt, and what is below them in their source's tree. Counting
paths would go wrong on cycles, and deleting and deriving again (DRed) all that is reachable from v would go through a
whole strongly connected component for every source, to find that nothing changed. With trees it is

1. a pair whose last edge went and that has much below it takes another edge into its node, if a few steps up the tree
   from there come to the source;
2. any other is doubted, and all below it: mostly that is little;
3. a doubted pair with an edge from a node that is reached without doubt has that as its last edge, and so has what
   follows from it;
4. what is doubted still is not reached.

All edges that go in one change go together, or each would make the next one's work. They go before new edges come: the
work is then at most what is torn down and what is built, while the closure of old and new edges together may be far
larger than both.
"""

from libc.stdint cimport int32_t, int64_t

from millstream.kernels.containers.growing cimport Numbers, numbers_push
from millstream.kernels.paths.reach cimport (
    DOUBTED, LINKED, LOGGED, REACHED, SOURCE, TOUCHED, Edge, Node, Pair, Reach, edge_at, edge_find, edge_forget,
    edge_link, edge_unlink, node_at, pair_at, pair_enter, pair_find, pair_leave, pair_new, user_link,
    user_unlink,
)

cdef enum:
    FEW_BELOW = 32              # edges looked at to see that there is little below a pair
    FEW_EDGES = 8               # tried for a way up the tree
    FEW_STEPS = 64              # taken up the tree, for each
    MOST_PAIRS = 0x7FFFFFFE


cdef struct Derivation:
    Reach reach
    bint chosen                 # only nodes flagged as SOURCE are sources
    bint full                   # some pair found no place: what is stored is wrong from then on
    Numbers log                 # pairs that came or went in this change
    Numbers touched             # nodes
    Numbers queue
    Numbers doubted


cdef inline void touch_node(Derivation* d, int32_t number) noexcept nogil:
    cdef Node* node = node_at(&d.reach, number)
    if not node.flags & TOUCHED:
        node.flags |= TOUCHED
        numbers_push(&d.touched, number)


cdef inline void log_pair(Derivation* d, int32_t number) noexcept nogil:
    cdef Pair* pair = pair_at(&d.reach, number)
    if not pair.flags & LOGGED:
        pair.flags |= LOGGED
        numbers_push(&d.log, number)
        if pair.source == pair.node:
            touch_node(d, pair.node)


cdef inline bint is_sure(Derivation* d, int32_t source, int32_t node) noexcept nogil:
    """Whether a source reaches a node, itself included, and that is not in doubt."""
    cdef int32_t number
    if source == node:
        return True
    number = pair_find(&d.reach, source, node)
    return number >= 0 and pair_at(&d.reach, number).flags & (REACHED | DOUBTED) == REACHED


# Edges that come

cdef inline bint reach_over(Derivation* d, int32_t source, int32_t edge_number) noexcept nogil:
    """Adds the pair of a source and an edge's end; False if it is there already."""
    cdef int32_t end = edge_at(&d.reach, edge_number).end
    cdef int32_t number = pair_find(&d.reach, source, end)
    if number < 0:
        if d.reach.pairs.live >= MOST_PAIRS:
            d.full = True
            return False
        number = pair_new(&d.reach, source, end)
    elif pair_at(&d.reach, number).flags & REACHED:
        return False
    pair_enter(&d.reach, number, edge_number)
    log_pair(d, number)
    return True


cdef inline void go_on(Derivation* d, int32_t source, int32_t edge_number) noexcept nogil:
    """Adds what a source reaches over an edge whose start it reaches."""
    cdef int64_t at = 0
    cdef int32_t node, next_edge
    if not reach_over(d, source, edge_number):
        return
    d.queue.size = 0
    numbers_push(&d.queue, edge_at(&d.reach, edge_number).end)
    while at < d.queue.size:
        node = d.queue.items[at]
        at += 1
        if node == source:
            continue
        next_edge = node_at(&d.reach, node).out
        while next_edge >= 0:
            if reach_over(d, source, next_edge):
                numbers_push(&d.queue, edge_at(&d.reach, next_edge).end)
            next_edge = edge_at(&d.reach, next_edge).out.next


cdef inline void edge_comes(Derivation* d, int32_t edge_number) noexcept nogil:
    cdef int32_t start = edge_at(&d.reach, edge_number).start
    cdef int32_t used, user
    edge_link(&d.reach, edge_number)
    if not d.chosen or node_at(&d.reach, start).flags & SOURCE:
        go_on(d, start, edge_number)
    # Sources met here reach the start already, so these chains grow at their heads only, by what need not be met.
    used = node_at(&d.reach, start).used
    while used >= 0:
        user = edge_at(&d.reach, used).users
        while user >= 0:
            go_on(d, pair_at(&d.reach, user).source, edge_number)
            user = pair_at(&d.reach, user).user.next
        used = edge_at(&d.reach, used).used.next


cdef inline void source_comes(Derivation* d, int32_t source) noexcept nogil:
    cdef int32_t edge_number = node_at(&d.reach, source).out
    node_at(&d.reach, source).flags |= SOURCE
    while edge_number >= 0:
        go_on(d, source, edge_number)
        edge_number = edge_at(&d.reach, edge_number).out.next


cdef inline void source_goes(Derivation* d, int32_t source) noexcept nogil:
    cdef int32_t number
    node_at(&d.reach, source).flags &= ~SOURCE
    while True:
        number = node_at(&d.reach, source).pairs
        if number < 0:
            return
        pair_leave(&d.reach, number)
        log_pair(d, number)


# Edges that go

cdef inline bint has_little_below(Derivation* d, int32_t number) noexcept nogil:
    cdef int64_t at = 0
    cdef int32_t source = pair_at(&d.reach, number).source
    cdef int32_t node, edge_number, below
    cdef int looked = 0
    d.queue.size = 0
    numbers_push(&d.queue, pair_at(&d.reach, number).node)
    while at < d.queue.size:
        node = d.queue.items[at]
        at += 1
        if node == source:
            continue
        edge_number = node_at(&d.reach, node).out
        while edge_number >= 0:
            looked += 1
            if looked > FEW_BELOW:
                return False
            below = pair_find(&d.reach, source, edge_at(&d.reach, edge_number).end)
            if below >= 0 and pair_at(&d.reach, below).edge == edge_number:
                numbers_push(&d.queue, pair_at(&d.reach, below).node)
            edge_number = edge_at(&d.reach, edge_number).out.next
    return True


cdef inline bint leads_up(Derivation* d, int32_t number, int32_t edge_number) noexcept nogil:
    """Whether the tree leads from an edge's start to the source in a few steps, and nothing on the way is in doubt or has an
    edge that went, as this pair itself has."""
    cdef int32_t source = pair_at(&d.reach, number).source
    cdef int32_t node = edge_at(&d.reach, edge_number).start
    cdef int32_t above
    cdef int step
    for step in range(FEW_STEPS):
        if node == source:
            return True
        above = pair_find(&d.reach, source, node)
        if above < 0 or pair_at(&d.reach, above).flags & (REACHED | DOUBTED) != REACHED:
            return False
        edge_number = pair_at(&d.reach, above).edge
        if not edge_at(&d.reach, edge_number).flags & LINKED:
            return False
        node = edge_at(&d.reach, edge_number).start
    return False


cdef inline void change_edge(Derivation* d, int32_t number, int32_t edge_number) noexcept nogil:
    user_unlink(&d.reach, number)
    user_link(&d.reach, number, edge_number)


cdef inline bint finds_way_up(Derivation* d, int32_t number) noexcept nogil:
    cdef int32_t edge_number = node_at(&d.reach, pair_at(&d.reach, number).node).into
    cdef int tried = 0
    while edge_number >= 0 and tried < FEW_EDGES:
        if leads_up(d, number, edge_number):
            change_edge(d, number, edge_number)
            return True
        edge_number = edge_at(&d.reach, edge_number).into.next
        tried += 1
    return False


cdef inline void doubt(Derivation* d, int32_t number) noexcept nogil:
    pair_at(&d.reach, number).flags |= DOUBTED
    numbers_push(&d.doubted, number)


cdef inline void doubt_users(Derivation* d, int32_t edge_number) noexcept nogil:
    cdef int32_t user = edge_at(&d.reach, edge_number).users
    cdef int32_t number
    while user >= 0:
        number = user
        user = pair_at(&d.reach, number).user.next
        if has_little_below(d, number) or not finds_way_up(d, number):
            doubt(d, number)


cdef inline void doubt_below(Derivation* d) noexcept nogil:
    cdef int64_t at = 0
    cdef int32_t source, node, edge_number, below
    while at < d.doubted.size:
        source = pair_at(&d.reach, d.doubted.items[at]).source
        node = pair_at(&d.reach, d.doubted.items[at]).node
        at += 1
        if node == source:
            continue
        edge_number = node_at(&d.reach, node).out
        while edge_number >= 0:
            below = pair_find(&d.reach, source, edge_at(&d.reach, edge_number).end)
            if below >= 0 and pair_at(&d.reach, below).flags & (REACHED | DOUBTED) == REACHED \
                    and pair_at(&d.reach, below).edge == edge_number:
                doubt(d, below)
            edge_number = edge_at(&d.reach, edge_number).out.next


cdef inline int32_t sure_edge(Derivation* d, int32_t number) noexcept nogil:
    """An edge to the pair's node from one that its source reaches without doubt, -1 without any. Either the node's edges
    or the source's pairs are gone through, whichever are fewer: hubs have many of the former."""
    cdef int32_t source = pair_at(&d.reach, number).source
    cdef int32_t node = pair_at(&d.reach, number).node
    cdef int32_t edge_number, other
    if node_at(&d.reach, node).into_count <= node_at(&d.reach, source).pair_count + 1:
        edge_number = node_at(&d.reach, node).into
        while edge_number >= 0 and not is_sure(d, source, edge_at(&d.reach, edge_number).start):
            edge_number = edge_at(&d.reach, edge_number).into.next
        return edge_number
    edge_number = edge_find(&d.reach, source, node)
    if edge_number >= 0 and edge_at(&d.reach, edge_number).flags & LINKED:
        return edge_number
    other = node_at(&d.reach, source).pairs
    while other >= 0:
        if not pair_at(&d.reach, other).flags & DOUBTED:
            edge_number = edge_find(&d.reach, pair_at(&d.reach, other).node, node)
            if edge_number >= 0 and edge_at(&d.reach, edge_number).flags & LINKED:
                return edge_number
        other = pair_at(&d.reach, other).reached.next
    return -1


cdef inline void settle_below(Derivation* d, int32_t number) noexcept nogil:
    """Takes the doubt from what follows from a pair that is no longer in doubt."""
    cdef int64_t at = 0
    cdef int32_t source = pair_at(&d.reach, number).source
    cdef int32_t node, edge_number, below
    d.queue.size = 0
    numbers_push(&d.queue, pair_at(&d.reach, number).node)
    while at < d.queue.size:
        node = d.queue.items[at]
        at += 1
        if node == source:
            continue
        edge_number = node_at(&d.reach, node).out
        while edge_number >= 0:
            below = pair_find(&d.reach, source, edge_at(&d.reach, edge_number).end)
            if below >= 0 and pair_at(&d.reach, below).flags & DOUBTED:
                pair_at(&d.reach, below).flags &= ~DOUBTED
                change_edge(d, below, edge_number)
                numbers_push(&d.queue, pair_at(&d.reach, below).node)
            edge_number = edge_at(&d.reach, edge_number).out.next


cdef inline void settle_doubts(Derivation* d) noexcept nogil:
    cdef int64_t at
    cdef int32_t number, edge_number
    for at in range(d.doubted.size):
        number = d.doubted.items[at]
        if pair_at(&d.reach, number).flags & DOUBTED:
            edge_number = sure_edge(d, number)
            if edge_number >= 0:
                pair_at(&d.reach, number).flags &= ~DOUBTED
                change_edge(d, number, edge_number)
                settle_below(d, number)
    for at in range(d.doubted.size):
        number = d.doubted.items[at]
        if pair_at(&d.reach, number).flags & DOUBTED:
            pair_leave(&d.reach, number)
            log_pair(d, number)
    d.doubted.size = 0


cdef inline void edges_go(Derivation* d, int32_t* numbers, int64_t size) noexcept nogil:
    """Takes edges out and forgets them; their ends are touched."""
    cdef int64_t i
    for i in range(size):
        touch_node(d, edge_at(&d.reach, numbers[i]).start)
        touch_node(d, edge_at(&d.reach, numbers[i]).end)
        edge_unlink(&d.reach, numbers[i])
    for i in range(size):
        doubt_users(d, numbers[i])
    doubt_below(d)
    settle_doubts(d)
    for i in range(size):
        edge_forget(&d.reach, numbers[i])
