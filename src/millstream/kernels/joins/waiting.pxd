"""The pairs that wait for a qualification of their ends.

A pair of a relation waits for all views of it that cannot take it yet. It hangs on the chain of its s while some of these
views lack the qualification of s, and on the chain of its o while some have that of s and lack that of o. So when a row
opens, its node's chains hold everything that may now be admitted, and a node that qualifies and disqualifies again and again
is not visited by pairs that wait for their other end. A waiting pair that is dead has `until` <= now; its note removes it.

Most pairs wait in vain, so letting one wait must cost next to nothing: it is *logged*, whether or not it waits already, and
goes with its own end; the admission of several makes one edge with the latest end. *Indexed* are pairs of lanes that would
stay for ever, so that what is said again and again is stored once; and pairs of relations outside lanes, which end by
deletes and come but once, where they are sought: a delete walks the chains of its nodes, and enters a chain that is long
into the index, as is done with those of a hub when it becomes one. Such a chain is *sought* until it is empty: all its pairs
of relations outside lanes are in the index, also those that come later. `Wait.hash` tells: 0 for a logged pair.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from millstream.kernels.containers.hash_index cimport (
    Index, Probe, index_add, index_close, index_drop, index_open, index_put, probe, probe_next,
)
from millstream.kernels.containers.records cimport record_free, record_new, record_next
from millstream.kernels.joins.edges cimport edge_add, edge_extend, edge_find, kind_hash, pair_hash
from millstream.kernels.joins.store cimport (
    MOST, O_SOUGHT, S_SOUGHT, WAIT_NOTE, Node, Store, Target, Wait, edge_at, node_at, node_release, note, row_get,
    trailing_zeros, unlikely, wait_at,
)

cdef enum:
    UNLINKED = -2               # s_prev, o_prev: not on that chain; -1: its first
    WALKED = 16                 # pairs of a chain that deletes walk through again and again
    LONG = 4096                 # pairs of a node with which its chains are entered before any delete: that is no pause


# Chains

cdef inline uint32_t wait_hash(Store* store, int relation, int64_t s, int64_t o) noexcept nogil:
    cdef int64_t a = s if store.s_id[relation] else node_at(store, s).id
    cdef int64_t b = o if store.o_id[relation] else node_at(store, o).id
    return kind_hash(pair_hash(a, b), relation)


cdef inline void wait_enter(Store* store, int32_t number) noexcept nogil:
    """Puts a logged pair of a relation outside lanes into the index."""
    cdef Wait* pair = wait_at(store, number)
    if pair.hash == 0 and store.relation_long_lived[pair.relation]:
        pair.hash = wait_hash(store, pair.relation, pair.s, pair.o)
        store.logged[pair.relation] -= 1
        index_put(&store.wait_index[1], pair.hash, number)


cdef inline void enter_chain(Store* store, int64_t number, bint at_s) noexcept nogil:
    """Has the pairs on a chain of a node sought in the index from now on."""
    cdef Node* node = node_at(store, number)
    cdef int32_t pair = node.s_waiting if at_s else node.o_waiting
    node.sought |= S_SOUGHT if at_s else O_SOUGHT
    while pair >= 0:
        wait_enter(store, pair)
        pair = wait_at(store, pair).s_next if at_s else wait_at(store, pair).o_next


cdef inline void seek(Store* store, int64_t number) noexcept nogil:
    """For a node at which many pairs wait, perhaps again."""
    cdef Node* node = node_at(store, number)
    if node.s_waiting >= 0 and not node.sought & S_SOUGHT:
        enter_chain(store, number, True)
    if node.o_waiting >= 0 and not node.sought & O_SOUGHT:
        enter_chain(store, number, False)


cdef inline void s_push(Store* store, int32_t number, Wait* pair) noexcept nogil:
    """Hangs a pair on the chain of its s."""
    cdef Node* node = node_at(store, pair.s)
    pair.s_prev = -1
    pair.s_next = node.s_waiting
    if pair.s_next >= 0:
        wait_at(store, pair.s_next).s_prev = number
    node.s_waiting = number
    node.hanging += 1
    if unlikely(node.hanging == LONG):
        seek(store, pair.s)


cdef inline void o_push(Store* store, int32_t number, Wait* pair) noexcept nogil:
    cdef Node* node = node_at(store, pair.o)
    pair.o_prev = -1
    pair.o_next = node.o_waiting
    if pair.o_next >= 0:
        wait_at(store, pair.o_next).o_prev = number
    node.o_waiting = number
    node.hanging += 1
    if unlikely(node.hanging == LONG):
        seek(store, pair.o)


cdef inline void s_pull(Store* store, Wait* pair) noexcept nogil:
    """Takes a pair off the chain of its s."""
    node_at(store, pair.s).hanging -= 1
    if pair.s_prev >= 0:
        wait_at(store, pair.s_prev).s_next = pair.s_next
    else:
        node_at(store, pair.s).s_waiting = pair.s_next
        if pair.s_next < 0:
            node_at(store, pair.s).sought &= ~S_SOUGHT
    if pair.s_next >= 0:
        wait_at(store, pair.s_next).s_prev = pair.s_prev
    pair.s_prev = UNLINKED


cdef inline void o_pull(Store* store, Wait* pair) noexcept nogil:
    node_at(store, pair.o).hanging -= 1
    if pair.o_prev >= 0:
        wait_at(store, pair.o_prev).o_next = pair.o_next
    else:
        node_at(store, pair.o).o_waiting = pair.o_next
        if pair.o_next < 0:
            node_at(store, pair.o).sought &= ~O_SOUGHT
    if pair.o_next >= 0:
        wait_at(store, pair.o_next).o_prev = pair.o_prev
    pair.o_prev = UNLINKED


cdef inline bint is_sought(Store* store, int relation, int64_t s, int64_t o) noexcept nogil:
    """Whether a pair may come to hang on a chain that is sought."""
    return ((not store.s_id[relation] and node_at(store, s).sought & S_SOUGHT)
            or (not store.o_id[relation] and node_at(store, o).sought & O_SOUGHT))


cdef inline void link(Store* store, int32_t number, bint at_s, bint at_o) noexcept nogil:
    """Lets a pair hang on these chains and no others."""
    cdef Wait* pair = wait_at(store, number)
    if unlikely(is_sought(store, pair.relation, pair.s, pair.o)):
        wait_enter(store, number)
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
    cdef int32_t number = edge_find(store, view, s, o)
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


cdef inline int32_t wait_find(
        Store* store, int relation, int64_t s, int64_t o, uint32_t hash, uint64_t views) noexcept nogil:
    """An indexed pair that waits for some of these views, or -1."""
    cdef Index* index = &store.wait_index[store.relation_long_lived[relation]]
    cdef Probe place = probe(index, hash)
    cdef int32_t number
    cdef Wait* pair
    while True:
        number = probe_next(index, &place)
        if number < 0:
            return -1
        pair = wait_at(store, number)
        if pair.s == s and pair.o == o and pair.relation == relation and pair.views & views:
            return number


cdef inline void walk(Store* store, int relation, int64_t s, int64_t o, uint64_t views, bint at_s) noexcept nogil:
    """Ends the waiting of a logged pair that hangs on the chain of its s, or of its o; the caller has pinned these."""
    cdef Node* node = node_at(store, s if at_s else o)
    cdef int32_t sought = S_SOUGHT if at_s else O_SOUGHT
    cdef int32_t number = node.s_waiting if at_s else node.o_waiting
    cdef int32_t following, walked = 0
    cdef Wait* pair
    if store.relation_long_lived[relation] and node.sought & sought:
        return
    while number >= 0:
        pair = wait_at(store, number)
        following = pair.s_next if at_s else pair.o_next
        if pair.s == s and pair.o == o and pair.relation == relation and pair.hash == 0:
            wait_less(store, number, views)
        number = following
        walked += 1
    if walked <= WALKED or not store.relation_long_lived[relation]:
        return
    enter_chain(store, s if at_s else o, at_s)


cdef inline void wait_end(Store* store, int relation, int64_t s, int64_t o, uint64_t views) noexcept nogil:
    """Ends the waiting of a pair for these views."""
    cdef uint32_t hash
    cdef int32_t number
    if store.wait_index[store.relation_long_lived[relation]].used:
        hash = wait_hash(store, relation, s, o)
        while True:
            number = wait_find(store, relation, s, o, hash, views)
            if number < 0:
                break
            wait_less(store, number, views)
    if store.logged[relation] and not store.s_id[relation]:
        walk(store, relation, s, o, views, True)
    if store.logged[relation] and not store.o_id[relation]:
        walk(store, relation, s, o, views, False)


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
        if views and (store.logged[pair.relation] or store.relation_long_lived[pair.relation]):
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
