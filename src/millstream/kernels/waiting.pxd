"""Qualifications, and the pairs that wait for one; how everything expires.

A pair of a relation waits once for all views of it that cannot take it yet. It hangs on the chain of its s while some of these views
lack the qualification of s, and on the chain of its o while some have that of s and lack that of o. So when a row opens, its node's
chains hold everything that may now be admitted, and a node that qualifies and disqualifies again and again is not visited
by pairs that wait for their other end. A waiting pair that is dead has `until` <= now; its note removes it.

Two live waiting pairs of one relation, s and o have no view in common (they differ in their ends: the views were fed apart).

A pair is found by walking the chains of its ends while these are short. A chain that grows past WALKED pairs is *indexed*, until it is
empty: all pairs on it are in the index. A pair may be there and on a walked chain too; `Wait.hash` tells.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from millstream.kernels.agenda cimport NEVER, Note, agenda_pop
from millstream.kernels.edges cimport edge_add, edge_remove, kind_hash, pair_hash
from millstream.kernels.store cimport (
    EDGE_NOTE, MOST, NO_VARIABLE, UNARY_NOTE, WAIT_NOTE, Node, Row, Store, Wait, edge_at, ends_of, node_at, node_release, note,
    record_free, record_new, row_at, row_get, row_release, trailing_zeros, wait_at,
)
from millstream.kernels.table cimport Index, Probe, index_drop, index_put, probe, probe_next

cdef enum:
    UNLINKED = -2               # s_prev, o_prev: not on that chain; -1: its first
    WALKED = 4                  # pairs on a chain that is still walked
    INDEXED = 255               # s_chained, o_chained


# Chains

cdef inline uint32_t wait_hash(Store* store, int relation, int64_t s, int64_t o) noexcept nogil:
    cdef int64_t a = s if store.s_id[relation] else node_at(store, s).id
    cdef int64_t b = o if store.o_id[relation] else node_at(store, o).id
    return kind_hash(pair_hash(a, b), relation)


cdef inline void wait_enter(Store* store, int32_t number) noexcept nogil:
    """Puts a pair into the index unless it is there."""
    cdef Wait* pair = wait_at(store, number)
    if pair.hash == 0:
        pair.hash = wait_hash(store, pair.relation, pair.s, pair.o)
        index_put(&store.wait_index[store.relation_long_lived[pair.relation]], pair.hash, number)


cdef inline void s_link(Store* store, int32_t number, bint linked) noexcept nogil:
    cdef Wait* pair = wait_at(store, number)
    cdef Node* node
    cdef int32_t at
    if (pair.s_prev != UNLINKED) == linked:
        return
    node = node_at(store, pair.s)
    if linked:
        pair.s_prev = -1
        pair.s_next = node.s_waiting
        if pair.s_next >= 0:
            wait_at(store, pair.s_next).s_prev = number
        node.s_waiting = number
        if node.s_chained == INDEXED:
            wait_enter(store, number)
        elif node.s_chained < WALKED:
            node.s_chained += 1
        else:
            node.s_chained = INDEXED
            at = number
            while at >= 0:
                wait_enter(store, at)
                at = wait_at(store, at).s_next
        return
    if pair.s_prev >= 0:
        wait_at(store, pair.s_prev).s_next = pair.s_next
    else:
        node.s_waiting = pair.s_next
    if pair.s_next >= 0:
        wait_at(store, pair.s_next).s_prev = pair.s_prev
    pair.s_prev = UNLINKED
    if node.s_chained != INDEXED:
        node.s_chained -= 1
    elif node.s_waiting < 0:
        node.s_chained = 0


cdef inline void o_link(Store* store, int32_t number, bint linked) noexcept nogil:
    cdef Wait* pair = wait_at(store, number)
    cdef Node* node
    cdef int32_t at
    if (pair.o_prev != UNLINKED) == linked:
        return
    node = node_at(store, pair.o)
    if linked:
        pair.o_prev = -1
        pair.o_next = node.o_waiting
        if pair.o_next >= 0:
            wait_at(store, pair.o_next).o_prev = number
        node.o_waiting = number
        if node.o_chained == INDEXED:
            wait_enter(store, number)
        elif node.o_chained < WALKED:
            node.o_chained += 1
        else:
            node.o_chained = INDEXED
            at = number
            while at >= 0:
                wait_enter(store, at)
                at = wait_at(store, at).o_next
        return
    if pair.o_prev >= 0:
        wait_at(store, pair.o_prev).o_next = pair.o_next
    else:
        node.o_waiting = pair.o_next
    if pair.o_next >= 0:
        wait_at(store, pair.o_next).o_prev = pair.o_prev
    pair.o_prev = UNLINKED
    if node.o_chained != INDEXED:
        node.o_chained -= 1
    elif node.o_waiting < 0:
        node.o_chained = 0


cdef inline bint s_walked(Store* store, Wait* pair) noexcept nogil:
    """Whether walking the chain of its s meets the pair."""
    return pair.s_prev != UNLINKED and node_at(store, pair.s).s_chained != INDEXED


cdef inline bint o_walked(Store* store, Wait* pair) noexcept nogil:
    return pair.o_prev != UNLINKED and node_at(store, pair.o).o_chained != INDEXED


cdef inline int wait_find(Store* store, int relation, int64_t s, int64_t o, int32_t* found, int32_t* dead) noexcept nogil:
    """The live waiting pairs of a relation, s and o, each once, and a dead one or -1; how many are live."""
    cdef int count = 0
    cdef bint probed = False
    cdef int32_t number
    cdef Wait* pair
    cdef Index* index
    cdef Probe place
    dead[0] = -1
    if not store.s_id[relation]:
        if node_at(store, s).s_chained == INDEXED:
            probed = True
        else:
            number = node_at(store, s).s_waiting
            while number >= 0:
                pair = wait_at(store, number)
                if pair.o == o and pair.relation == relation:
                    if pair.until > store.now:
                        found[count] = number
                        count += 1
                    else:
                        dead[0] = number
                number = pair.s_next
    if not store.o_id[relation] and ((store.s_free_relations >> relation) & 1 or node_at(store, s).opened):
        if node_at(store, o).o_chained == INDEXED:
            probed = True
        else:
            number = node_at(store, o).o_waiting
            while number >= 0:
                pair = wait_at(store, number)
                if pair.s == s and pair.relation == relation and (store.s_id[relation] or not s_walked(store, pair)):
                    if pair.until > store.now:
                        found[count] = number
                        count += 1
                    else:
                        dead[0] = number
                number = pair.o_next
    if not probed:
        return count
    index = &store.wait_index[store.relation_long_lived[relation]]
    place = probe(index, wait_hash(store, relation, s, o))
    while True:
        number = probe_next(index, &place)
        if number < 0:
            return count
        pair = wait_at(store, number)
        if pair.s != s or pair.o != o or pair.relation != relation or s_walked(store, pair) or o_walked(store, pair):
            continue
        if pair.until > store.now:
            found[count] = number
            count += 1
        else:
            dead[0] = number


cdef inline void wait_remove(Store* store, int32_t number) noexcept nogil:
    cdef Wait* pair = wait_at(store, number)
    cdef int relation = pair.relation
    s_link(store, number, False)
    o_link(store, number, False)
    if pair.hash:
        index_drop(&store.wait_index[store.relation_long_lived[relation]], pair.hash, number)
    if not store.s_id[relation]:
        node_release(store, pair.s)
    if not store.o_id[relation]:
        node_release(store, pair.o)
    pair.views = 0
    record_free(&store.waits, sizeof(Wait), number)


cdef inline int64_t place_s(Store* store, int relation, int view, int64_t s) noexcept nogil:
    """What names a waiting pair's s as that of an edge: a row, or a bare id."""
    if store.s_id[relation]:
        return s
    if (store.s_bare >> view) & 1:
        return node_at(store, s).id
    return row_get(store, s, store.s_variable[view])


cdef inline int64_t place_o(Store* store, int relation, int view, int64_t o) noexcept nogil:
    if store.o_id[relation]:
        return o
    if (store.o_bare >> view) & 1:
        return node_at(store, o).id
    return row_get(store, o, store.o_variable[view])


cdef inline uint64_t s_ready(Store* store, int relation, int64_t s) noexcept nogil:
    """The views that ask nothing more of this s."""
    return ~<uint64_t>0 if store.s_id[relation] else node_at(store, s).s_open | store.s_free


cdef inline uint64_t o_ready(Store* store, int relation, int64_t o) noexcept nogil:
    return ~<uint64_t>0 if store.o_id[relation] else node_at(store, o).o_open | store.o_free


cdef inline void settle(Store* store, int32_t number) noexcept nogil:
    """Admits a pair to the views both of whose ends are ready, without output, and hangs it where the others wait."""
    cdef Wait* pair = wait_at(store, number)
    cdef int relation = pair.relation, view
    cdef uint64_t by_s, admitted
    if pair.until <= store.now:
        wait_remove(store, number)
        return
    by_s = s_ready(store, relation, pair.s)
    admitted = pair.views & by_s & o_ready(store, relation, pair.o)
    by_s &= pair.views & ~admitted
    while admitted:
        view = trailing_zeros(admitted)
        admitted &= admitted - 1
        edge_add(store, view, place_s(store, relation, view, pair.s), place_o(store, relation, view, pair.o), pair.until)
        if pair.views == <uint64_t>1 << view:
            wait_remove(store, number)
            return
        pair.views &= ~(<uint64_t>1 << view)
    s_link(store, number, pair.views & ~by_s != 0)
    o_link(store, number, by_s != 0)


cdef inline void wait_put(Store* store, int relation, int64_t s, int64_t o, uint64_t views, int64_t until) noexcept nogil:
    """Lets a pair wait for these views, or wait longer; none of them has both ends ready."""
    cdef int32_t found[MOST]
    cdef int32_t spare
    cdef int i, count = wait_find(store, relation, s, o, found, &spare)
    cdef uint64_t shared
    cdef Wait* pair
    for i in range(count):
        pair = wait_at(store, found[i])
        shared = pair.views & views
        if pair.until >= until:
            views &= ~shared
        elif shared == pair.views:
            if spare < 0:
                spare = found[i]
            else:
                wait_remove(store, found[i])
        else:
            pair.views &= ~shared
    if views == 0:
        return
    if spare < 0:
        spare = record_new(&store.waits, sizeof(Wait))
        pair = wait_at(store, spare)
        pair.s = s
        pair.o = o
        pair.s_prev = UNLINKED
        pair.o_prev = UNLINKED
        pair.relation = relation
        pair.hash = 0
        if not store.s_id[relation]:
            node_at(store, s).uses += 1
        if not store.o_id[relation]:
            node_at(store, o).uses += 1
    pair = wait_at(store, spare)
    pair.views = views
    pair.until = until
    note(store, trailing_zeros(views), until, spare, WAIT_NOTE)
    views &= s_ready(store, relation, s)
    s_link(store, spare, pair.views != views)
    o_link(store, spare, views != 0)


cdef inline void wait_end(Store* store, int relation, int64_t s, int64_t o, uint64_t views) noexcept nogil:
    """Ends the waiting of a pair for these views."""
    cdef int32_t found[MOST]
    cdef int32_t dead
    cdef int i, count = wait_find(store, relation, s, o, found, &dead)
    cdef Wait* pair
    for i in range(count):
        pair = wait_at(store, found[i])
        if pair.views & ~views == 0:
            wait_remove(store, found[i])
        else:
            pair.views &= ~views


# Qualifications

cdef inline int64_t least_end(Store* store, Row* row) noexcept nogil:
    cdef int64_t* ends = ends_of(store, row)
    cdef int64_t least = ends[0]
    cdef int i
    for i in range(1, store.unary[row.variable]):
        least = min(least, ends[i])
    return least


cdef inline void row_open(Store* store, int32_t number) noexcept nogil:
    """Lets edges come to a row, those that waited for it first."""
    cdef Row* row = row_at(store, number)
    cdef int64_t node_number = row.node
    cdef int variable = row.variable
    cdef Node* node = node_at(store, node_number)
    cdef int32_t waiting, following
    row.open = 1
    node.opened = 1
    node.s_open |= store.s_views[variable]
    node.o_open |= store.o_views[variable]
    waiting = node.s_waiting if store.s_views[variable] else -1
    while waiting >= 0:
        following = wait_at(store, waiting).s_next
        settle(store, waiting)
        waiting = following
    waiting = node_at(store, node_number).o_waiting if store.o_views[variable] else -1
    while waiting >= 0:
        following = wait_at(store, waiting).o_next
        settle(store, waiting)
        waiting = following


# Expiry

cdef inline void expire(Store* store, int64_t most) noexcept nogil:
    """Removes what died by now, after at most so many notes."""
    cdef Note due
    cdef Row* row
    cdef int place
    while most > 0 and store.agenda.next_tick <= store.now:
        most -= 1
        due = agenda_pop(&store.agenda)
        if due.kind == EDGE_NOTE:
            if edge_at(store, due.number).view >= 0 and edge_at(store, due.number).until <= store.now:
                edge_remove(store, due.number)
        elif due.kind == WAIT_NOTE:
            if wait_at(store, due.number).views and wait_at(store, due.number).until <= store.now:
                wait_remove(store, due.number)
        else:
            row = row_at(store, due.number)
            place = due.kind - UNARY_NOTE
            if row.variable == NO_VARIABLE:
                continue
            if NEVER < ends_of(store, row)[place] <= store.now:
                ends_of(store, row)[place] = NEVER
                store.held[store.unary_view[row.variable][place]] -= 1
                row.until = NEVER
                row_release(store, due.number)
