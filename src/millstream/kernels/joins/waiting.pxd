"""The pairs that wait for a qualification of their ends.

A pair of a relation waits for all views of it that cannot take it yet. It hangs on the chain of its s while some of these
views lack the qualification of s, and on the chain of its o while some have that of s and lack that of o. So when a row
opens, its node's chains hold everything that may now be admitted, and a node that qualifies and disqualifies again and again
is not visited by pairs that wait for their other end, and a pair whose s lacks all that it needs costs its o nothing: that
has no node because of it. A waiting pair that is dead has `until` <= now; its note removes it.

Most pairs wait in vain, so letting one wait must cost next to nothing: it is *logged*, whether or not it waits already, and
goes with its own end; the admission of several makes one edge with the latest end. *Indexed* are pairs of lanes that would
stay for ever, and pairs outside lanes that end by themselves, as those of several windows together do: what is said again and
again is stored once. So are pairs of relations outside lanes that end by deletes and come but once, where they are sought: a
delete walks the chains of its nodes, and enters a chain that is long into the index, as is done with those of a hub when it
becomes one. Such a chain is *sought* until it is empty: all its pairs of relations outside lanes are in the index, also those
that come later. `Wait.hash` tells: 0 for a logged pair.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from millstream.kernels.containers.hash_index cimport (
    Index, Probe, fold, index_add, index_close, index_drop, index_open, index_put, probe, probe_next,
)
from millstream.kernels.containers.records cimport record_free, record_new, record_next
from millstream.kernels.joins.edges cimport edge_add, edge_extend, edge_find, kind_hash, pair_hash
from millstream.kernels.joins.store cimport (
    MOST, O_SOUGHT, S_SOUGHT, WAIT_NOTE, Node, Store, Wait, edge_at, node_at, node_find, node_get, node_release, note,
    row_get, trailing_zeros, unlikely, wait_at,
)

cdef enum:
    FIRST = -1                  # s_prev, o_prev
    WALKED = 16                 # pairs of a chain that deletes walk through again and again
    LONG = 4096                 # pairs of a node with which its chains are entered before any delete: that is no pause


# Chains

cdef inline uint32_t wait_hash(int relation, int64_t a, int64_t b) noexcept nogil:
    return kind_hash(pair_hash(a, b), relation)


cdef inline void wait_enter(Store* store, int32_t number) noexcept nogil:
    """Puts a logged pair of a relation outside lanes into the index."""
    cdef Wait* pair = wait_at(store, number)
    if pair.hash == 0 and store.relation_long_lived[pair.relation]:
        pair.hash = wait_hash(pair.relation, pair.a, pair.b)
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


cdef inline void s_push(Store* store, int32_t number, Wait* pair, int32_t node_number) noexcept nogil:
    """Hangs a pair on the chain of its s."""
    cdef Node* node = node_at(store, node_number)
    pair.s_node = node_number
    pair.s_prev = FIRST
    pair.s_next = node.s_waiting
    if pair.s_next >= 0:
        wait_at(store, pair.s_next).s_prev = number
    node.s_waiting = number
    node.uses += 1
    node.hanging += 1
    if unlikely(node.hanging == LONG):
        seek(store, node_number)


cdef inline void o_push(Store* store, int32_t number, Wait* pair, int32_t node_number) noexcept nogil:
    cdef Node* node = node_at(store, node_number)
    pair.o_node = node_number
    pair.o_prev = FIRST
    pair.o_next = node.o_waiting
    if pair.o_next >= 0:
        wait_at(store, pair.o_next).o_prev = number
    node.o_waiting = number
    node.uses += 1
    node.hanging += 1
    if unlikely(node.hanging == LONG):
        seek(store, node_number)


cdef inline void s_pull(Store* store, Wait* pair) noexcept nogil:
    """Takes a pair off the chain of its s."""
    cdef int32_t node_number = pair.s_node
    cdef Node* node = node_at(store, node_number)
    node.hanging -= 1
    if pair.s_prev >= 0:
        wait_at(store, pair.s_prev).s_next = pair.s_next
    else:
        node.s_waiting = pair.s_next
        if pair.s_next < 0:
            node.sought &= ~S_SOUGHT
    if pair.s_next >= 0:
        wait_at(store, pair.s_next).s_prev = pair.s_prev
    pair.s_node = -1
    node_release(store, node_number)


cdef inline void o_pull(Store* store, Wait* pair) noexcept nogil:
    cdef int32_t node_number = pair.o_node
    cdef Node* node = node_at(store, node_number)
    node.hanging -= 1
    if pair.o_prev >= 0:
        wait_at(store, pair.o_prev).o_next = pair.o_next
    else:
        node.o_waiting = pair.o_next
        if pair.o_next < 0:
            node.sought &= ~O_SOUGHT
    if pair.o_next >= 0:
        wait_at(store, pair.o_next).o_prev = pair.o_prev
    pair.o_node = -1
    node_release(store, node_number)


cdef inline void link(Store* store, int32_t number, bint at_s, bint at_o) noexcept nogil:
    """Lets a pair hang on these chains and no others; those that it is to hang on first, which may be all that keeps a node."""
    cdef Wait* pair = wait_at(store, number)
    cdef int32_t node
    if at_s and pair.s_node < 0:
        node = node_get(store, pair.a, fold(<uint64_t>pair.a))
        if unlikely(node_at(store, node).sought & S_SOUGHT):
            wait_enter(store, number)
        s_push(store, number, pair, node)
    if at_o and pair.o_node < 0:
        node = node_get(store, pair.b, fold(<uint64_t>pair.b))
        if unlikely(node_at(store, node).sought & O_SOUGHT):
            wait_enter(store, number)
        o_push(store, number, pair, node)
    if not at_s and pair.s_node >= 0:
        s_pull(store, pair)
    if not at_o and pair.o_node >= 0:
        o_pull(store, pair)


cdef inline void wait_remove(Store* store, int32_t number) noexcept nogil:
    cdef Wait* pair = wait_at(store, number)
    if pair.s_node >= 0:
        s_pull(store, pair)
    if pair.o_node >= 0:
        o_pull(store, pair)
    if pair.hash:
        index_drop(&store.wait_index[store.relation_long_lived[pair.relation]], pair.hash, number)
    else:
        store.logged[pair.relation] -= 1
    pair.views = 0
    record_free(&store.waits, sizeof(Wait), number)


# Ends of pairs: ids, and nodes where there are such, -1 where not

cdef inline int64_t place_s(Store* store, int view, int64_t id, int32_t node) noexcept nogil:
    """What names a pair's s as that of an edge: a row, or a bare id."""
    if (store.s_bare >> view) & 1:
        return id
    return row_get(store, node if node >= 0 else node_get(store, id, fold(<uint64_t>id)), store.s_variable[view])


cdef inline int64_t place_o(Store* store, int view, int64_t id, int32_t node) noexcept nogil:
    if (store.o_bare >> view) & 1:
        return id
    return row_get(store, node if node >= 0 else node_get(store, id, fold(<uint64_t>id)), store.o_variable[view])


cdef inline uint64_t s_ready(Store* store, int32_t node) noexcept nogil:
    """The views that ask nothing more of this s."""
    return store.s_free if node < 0 else node_at(store, node).s_open | store.s_free


cdef inline uint64_t o_ready(Store* store, int32_t node) noexcept nogil:
    return store.o_free if node < 0 else node_at(store, node).o_open | store.o_free


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
    cdef int32_t s = pair.s_node, o = pair.o_node
    cdef uint64_t by_s, admitted
    cdef int view
    if pair.until <= store.now:
        wait_remove(store, number)
        return
    if s < 0:
        s = node_find(store, pair.a, fold(<uint64_t>pair.a))
    if o < 0:
        o = node_find(store, pair.b, fold(<uint64_t>pair.b))
    by_s = pair.views & s_ready(store, s)
    admitted = by_s & o_ready(store, o)
    by_s &= ~admitted
    while admitted:
        view = trailing_zeros(admitted)
        admitted &= admitted - 1
        admit(store, view, place_s(store, view, pair.a, s), place_o(store, view, pair.b, o), pair.until)
        if pair.views == <uint64_t>1 << view:
            wait_remove(store, number)
            return
        pair.views &= ~(<uint64_t>1 << view)
    link(store, number, pair.views & ~by_s != 0, by_s != 0)


cdef inline int32_t wait_again(Store* store, int relation, int64_t a, int64_t b, uint32_t hash, uint64_t* views,
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
        if pair.a != a or pair.b != b or pair.relation != relation:
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


cdef inline void wait_put(Store* store, Wait* given, int32_t s, int32_t o, uint64_t by_s) noexcept nogil:
    """Lets a pair wait for its views, or wait longer; none of them has both ends ready, `by_s` have that of s. `s` and `o` are
    the nodes of those ends at which some wait. A pair that is to be logged has no hash."""
    cdef Index* index = &store.wait_index[store.relation_long_lived[given.relation]]
    cdef int32_t number = record_next(&store.waits)
    cdef Wait* pair
    if given.hash and not index_add(index, given.hash, number):
        number = wait_again(store, given.relation, given.a, given.b, given.hash, &given.views, given.until)
        if given.views == 0:
            return
        by_s &= given.views
        if number >= 0:
            pair = wait_at(store, number)
            pair.views = given.views
            pair.until = given.until
            link(store, number, by_s != given.views, by_s != 0)
            note(store, trailing_zeros(given.views), given.until, number, WAIT_NOTE)
            return
        # Removals may have come between.
        index_put(index, given.hash, record_next(&store.waits))
    number = record_new(&store.waits, sizeof(Wait))
    pair = wait_at(store, number)
    pair[0] = given[0]
    pair.s_node = -1
    pair.o_node = -1
    if given.hash == 0:
        store.logged[given.relation] += 1
    if by_s != given.views:
        s_push(store, number, pair, s)
    if by_s:
        o_push(store, number, pair, o)
    note(store, trailing_zeros(given.views), given.until, number, WAIT_NOTE)


cdef inline void wait_less(Store* store, int32_t number, uint64_t views) noexcept nogil:
    cdef Wait* pair = wait_at(store, number)
    if pair.views & ~views == 0:
        wait_remove(store, number)
    else:
        pair.views &= ~views


cdef inline int32_t wait_find(
        Store* store, int relation, int64_t a, int64_t b, uint32_t hash, uint64_t views) noexcept nogil:
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
        if pair.a == a and pair.b == b and pair.relation == relation and pair.views & views:
            return number


cdef inline void walk(Store* store, int32_t number, bint at_s, int relation, int64_t a, int64_t b,
                      uint64_t views) noexcept nogil:
    """Ends the waiting of a logged pair that hangs on a chain of a node, which the caller has pinned."""
    cdef Node* node = node_at(store, number)
    cdef int32_t sought = S_SOUGHT if at_s else O_SOUGHT
    cdef int32_t waiting = node.s_waiting if at_s else node.o_waiting
    cdef int32_t following, walked = 0
    cdef Wait* pair
    if store.relation_long_lived[relation] and node.sought & sought:
        return
    while waiting >= 0:
        pair = wait_at(store, waiting)
        following = pair.s_next if at_s else pair.o_next
        if pair.a == a and pair.b == b and pair.relation == relation and pair.hash == 0:
            wait_less(store, waiting, views)
        waiting = following
        walked += 1
    if walked > WALKED and store.relation_long_lived[relation]:
        enter_chain(store, number, at_s)


cdef inline void wait_end(Store* store, int relation, int64_t a, int64_t b, int32_t s, int32_t o,
                          uint64_t views) noexcept nogil:
    """Ends the waiting of a pair for these views; `s` and `o` are its nodes, if there are such."""
    cdef uint32_t hash
    cdef int32_t number
    if store.wait_index[store.relation_long_lived[relation]].used:
        hash = wait_hash(relation, a, b)
        while True:
            number = wait_find(store, relation, a, b, hash, views)
            if number < 0:
                break
            wait_less(store, number, views)
    if store.logged[relation] and s >= 0:
        walk(store, s, True, relation, a, b, views)
    if store.logged[relation] and o >= 0:
        walk(store, o, False, relation, a, b, views)


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
            hash = wait_hash(pair.relation, pair.a, pair.b)
            place = probe(&seen, hash)
            while True:
                number = probe_next(&seen, &place)
                if number < 0:
                    break
                other = wait_at(store, number)
                if other.a == pair.a and other.b == pair.b and other.relation == pair.relation:
                    views &= ~other.views
            if views:
                index_put(&seen, hash, <int32_t>i)
        while views:
            count[trailing_zeros(views)] += 1
            views &= views - 1
    index_close(&seen)
