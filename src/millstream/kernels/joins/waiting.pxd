"""Qualifications, and the pairs that wait for one; how everything expires.

A pair of a relation waits for all views of it that cannot take it yet. It hangs on the chain of its s while some of these
views lack the qualification of s, and on the chain of its o while some have that of s and lack that of o. So when a row
opens, its node's chains hold everything that may now be admitted, and a node that qualifies and disqualifies again and again
is not visited by pairs that wait for their other end. A waiting pair that is dead has `until` <= now; its note removes it.

Most pairs of a window wait in vain, so letting one wait must cost next to nothing: a pair with an end is *logged*, whether
or not it waits already, and goes with its own end; the admission of several makes one edge with the latest end. Pairs that
would stay for ever, and all of relations outside lanes (which end by deletes), are *indexed*: two live indexed pairs of one
relation, s and o have no view in common, so that what is said again and again is stored once. `Wait.hash` tells: 0 for a
logged pair.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from millstream.kernels.containers.agenda cimport CHUNK_NOTES, NEVER, Note, Queue, agenda_pop
from millstream.kernels.containers.hash_index cimport (
    Index, Probe, index_add, index_close, index_drop, index_open, index_put, prefetch, probe, probe_next,
)
from millstream.kernels.containers.records cimport record_free, record_new, record_next
from millstream.kernels.joins.edges cimport edge_add, edge_extend, edge_find, edge_remove, kind_hash, pair_hash
from millstream.kernels.joins.store cimport (
    EDGE_NOTE, MOST, NO_VARIABLE, UNARY_NOTE, WAIT_NOTE, Edge, Node, Row, Store, Target, Wait, edge_at, ends_of, node_at,
    node_release, note, row_at, row_get, row_release, trailing_zeros, wait_at,
)

cdef enum:
    UNLINKED = -2               # s_prev, o_prev: not on that chain; -1: its first
    EDGE_AHEAD = 6              # notes ahead in a lane: fetch the edge
    ROWS_AHEAD = 3              # notes ahead: fetch the edge's rows


# Chains

cdef inline uint32_t wait_hash(Store* store, int relation, int64_t s, int64_t o) noexcept nogil:
    cdef int64_t a = s if store.s_id[relation] else node_at(store, s).id
    cdef int64_t b = o if store.o_id[relation] else node_at(store, o).id
    return kind_hash(pair_hash(a, b), relation)


cdef inline void s_push(Store* store, int32_t number, Wait* pair) noexcept nogil:
    """Hangs a pair on the chain of its s."""
    cdef Node* node = node_at(store, pair.s)
    pair.s_prev = -1
    pair.s_next = node.s_waiting
    if pair.s_next >= 0:
        wait_at(store, pair.s_next).s_prev = number
    node.s_waiting = number


cdef inline void o_push(Store* store, int32_t number, Wait* pair) noexcept nogil:
    cdef Node* node = node_at(store, pair.o)
    pair.o_prev = -1
    pair.o_next = node.o_waiting
    if pair.o_next >= 0:
        wait_at(store, pair.o_next).o_prev = number
    node.o_waiting = number


cdef inline void s_pull(Store* store, Wait* pair) noexcept nogil:
    """Takes a pair off the chain of its s."""
    if pair.s_prev >= 0:
        wait_at(store, pair.s_prev).s_next = pair.s_next
    else:
        node_at(store, pair.s).s_waiting = pair.s_next
    if pair.s_next >= 0:
        wait_at(store, pair.s_next).s_prev = pair.s_prev
    pair.s_prev = UNLINKED


cdef inline void o_pull(Store* store, Wait* pair) noexcept nogil:
    if pair.o_prev >= 0:
        wait_at(store, pair.o_prev).o_next = pair.o_next
    else:
        node_at(store, pair.o).o_waiting = pair.o_next
    if pair.o_next >= 0:
        wait_at(store, pair.o_next).o_prev = pair.o_prev
    pair.o_prev = UNLINKED


cdef inline void link(Store* store, int32_t number, bint at_s, bint at_o) noexcept nogil:
    """Lets a pair hang on these chains and no others."""
    cdef Wait* pair = wait_at(store, number)
    if (pair.s_prev != UNLINKED) != at_s:
        if at_s:
            s_push(store, number, pair)
        else:
            s_pull(store, pair)
    if (pair.o_prev != UNLINKED) != at_o:
        if at_o:
            o_push(store, number, pair)
        else:
            o_pull(store, pair)


cdef inline void wait_remove(Store* store, int32_t number) noexcept nogil:
    cdef Wait* pair = wait_at(store, number)
    cdef int relation = pair.relation
    if pair.s_prev != UNLINKED:
        s_pull(store, pair)
    if pair.o_prev != UNLINKED:
        o_pull(store, pair)
    if pair.hash:
        index_drop(&store.wait_index[store.relation_long_lived[relation]], pair.hash, number)
    else:
        store.logged[relation] -= 1
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


cdef inline void admit(Store* store, int view, int64_t s, int64_t o, int64_t until) noexcept nogil:
    """Makes an edge of a pair, or lets one that another waiting pair became last as long."""
    cdef int32_t number = -1 if store.long_lived[view] else edge_find(store, view, s, o)
    if number < 0:
        edge_add(store, view, s, o, until)
    elif edge_at(store, number).until < until:
        edge_extend(store, number, until)


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
        admit(store, view, place_s(store, relation, view, pair.s), place_o(store, relation, view, pair.o), pair.until)
        if pair.views == <uint64_t>1 << view:
            wait_remove(store, number)
            return
        pair.views &= ~(<uint64_t>1 << view)
    link(store, number, pair.views & ~by_s != 0, by_s != 0)


cdef inline int32_t wait_again(Store* store, int relation, int64_t s, int64_t o, uint32_t hash, uint64_t* views,
                               int64_t until) noexcept nogil:
    """Leaves of these views those for which no indexed pair waits as long; what waits less is taken off, and a record that
    is left without views returned for use, or -1."""
    cdef Index* index = &store.wait_index[store.relation_long_lived[relation]]
    cdef int32_t waiting[MOST]
    cdef int32_t number, spare = -1
    cdef int i, count = 0
    cdef uint64_t shared
    cdef Wait* pair
    cdef Probe place = probe(index, hash)
    while True:
        number = probe_next(index, &place)
        if number < 0:
            break
        pair = wait_at(store, number)
        if pair.s != s or pair.o != o or pair.relation != relation:
            continue
        if pair.until <= store.now:
            # Its note finds it used again, or removes it.
            spare = number
        elif count < MOST:
            waiting[count] = number
            count += 1
    for i in range(count):
        pair = wait_at(store, waiting[i])
        shared = pair.views & views[0]
        if pair.until >= until:
            views[0] &= ~shared
        elif shared != pair.views:
            pair.views &= ~shared
        elif spare < 0:
            spare = waiting[i]
        else:
            wait_remove(store, waiting[i])
    return spare


cdef inline void wait_put(Store* store, Target* target, int64_t s, int64_t o, uint32_t hash, uint64_t views,
                          uint64_t by_s, int64_t until) noexcept nogil:
    """Lets a pair wait for these views, or wait longer; none of them has both ends ready, `by_s` have that of s. A logged
    pair has no hash."""
    cdef Index* index = &store.wait_index[target.long_lived]
    cdef int32_t number = record_next(&store.waits)
    cdef Wait* pair
    if hash and not index_add(index, hash, number):
        number = wait_again(store, target.relation, s, o, hash, &views, until)
        if views == 0:
            return
        by_s &= views
        if number >= 0:
            pair = wait_at(store, number)
            pair.views = views
            pair.until = until
            link(store, number, by_s != views, by_s != 0)
            note(store, trailing_zeros(views), until, number, WAIT_NOTE)
            return
        # Removals may have come between.
        index_put(index, hash, record_next(&store.waits))
    number = record_new(&store.waits, sizeof(Wait))
    pair = wait_at(store, number)
    pair.s = s
    pair.o = o
    pair.until = until
    pair.views = views
    pair.s_prev = UNLINKED
    pair.o_prev = UNLINKED
    pair.relation = target.relation
    pair.hash = hash
    if hash == 0:
        store.logged[target.relation] += 1
    if by_s != views:
        s_push(store, number, pair)
    if by_s:
        o_push(store, number, pair)
    if target.s_node:
        node_at(store, s).uses += 1
    if target.o_node:
        node_at(store, o).uses += 1
    note(store, trailing_zeros(views), until, number, WAIT_NOTE)


cdef inline void wait_less(Store* store, int32_t number, uint64_t views) noexcept nogil:
    cdef Wait* pair = wait_at(store, number)
    if pair.views & ~views == 0:
        wait_remove(store, number)
    else:
        pair.views &= ~views


cdef inline void wait_end(Store* store, int relation, int64_t s, int64_t o, uint64_t views) noexcept nogil:
    """Ends the waiting of a pair for these views."""
    cdef Index* index = &store.wait_index[store.relation_long_lived[relation]]
    cdef int32_t found[MOST]
    cdef int32_t number, following
    cdef int i, count = 0
    cdef Wait* pair
    cdef Probe place = probe(index, wait_hash(store, relation, s, o))
    while True:
        number = probe_next(index, &place)
        if number < 0:
            break
        pair = wait_at(store, number)
        if pair.s == s and pair.o == o and pair.relation == relation and pair.until > store.now and count < MOST:
            found[count] = number
            count += 1
    for i in range(count):
        wait_less(store, found[i], views)
    if store.logged[relation] == 0:
        return
    # What has ends is seldom ended before: the chains are walked.
    number = -1 if store.s_id[relation] else node_at(store, s).s_waiting
    while number >= 0:
        pair = wait_at(store, number)
        following = pair.s_next
        if pair.o == o and pair.relation == relation and pair.hash == 0:
            wait_less(store, number, views)
        number = following
    number = -1 if store.o_id[relation] else node_at(store, o).o_waiting
    while number >= 0:
        pair = wait_at(store, number)
        following = pair.o_next
        if pair.s == s and pair.relation == relation and pair.hash == 0:
            wait_less(store, number, views)
        number = following


cdef inline void waiting_of(Store* store, int64_t* count) noexcept nogil:
    """How many pairs wait for each view; one that was logged several times counts once."""
    cdef Index seen
    cdef Probe place
    cdef Wait* pair
    cdef Wait* other
    cdef int64_t i
    cdef int32_t number
    cdef uint32_t hash
    cdef uint64_t views
    memset(count, 0, MOST * sizeof(int64_t))
    memset(&seen, 0, sizeof(Index))
    index_open(&seen)
    for i in range(store.waits.size):
        pair = wait_at(store, <int32_t>i)
        views = pair.views
        if views and store.logged[pair.relation]:
            hash = wait_hash(store, pair.relation, pair.s, pair.o)
            place = probe(&seen, hash)
            while True:
                number = probe_next(&seen, &place)
                if number < 0:
                    break
                other = wait_at(store, number)
                if other.s == pair.s and other.o == pair.o and other.relation == pair.relation:
                    views &= ~other.views
            if views:
                index_put(&seen, hash, <int32_t>i)
        while views:
            count[trailing_zeros(views)] += 1
            views &= views - 1
    index_close(&seen)


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

cdef inline void fetch_due(Store* store) noexcept nogil:
    """Fetches what the notes behind the next one speak of: the edge of one, the rows of another that was fetched before."""
    cdef Queue* queue
    cdef Note* note
    cdef Edge* edge
    cdef int32_t end
    if store.agenda.next_lane < 0:
        return
    queue = &store.agenda.lanes[store.agenda.next_lane]
    end = queue.last if queue.head == queue.tail else CHUNK_NOTES
    if queue.first + EDGE_AHEAD < end:
        note = queue.head.notes + queue.first + EDGE_AHEAD
        if note.kind == EDGE_NOTE:
            prefetch(edge_at(store, note.number))
    if queue.first + ROWS_AHEAD < end:
        note = queue.head.notes + queue.first + ROWS_AHEAD
        edge = edge_at(store, note.number) if note.kind == EDGE_NOTE else NULL
        if edge != NULL and edge.view >= 0:
            if not (store.s_bare >> edge.view) & 1:
                prefetch(row_at(store, edge.s.place.row))
            if not (store.o_bare >> edge.view) & 1:
                prefetch(row_at(store, edge.o.place.row))


cdef inline void expire(Store* store, int64_t most) noexcept nogil:
    """Removes what died by now, after at most so many notes."""
    cdef Note due
    cdef Row* row
    cdef int place
    while most > 0 and store.agenda.next_tick <= store.now:
        most -= 1
        due = agenda_pop(&store.agenda)
        fetch_due(store)
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
