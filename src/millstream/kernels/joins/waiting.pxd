"""The pairs of windows that wait for a qualification of their ends.

A pair of a relation waits for all views of it that cannot take it yet. It hangs on the chain of its s while some of these
views lack the qualification of s, and on the chain of its o while some have that of s and lack that of o. So when a row
opens, its node's chains hold everything that may now be admitted, and a node that qualifies and disqualifies again and again
is not visited by pairs that wait for their other end, and a pair whose s lacks all that it needs costs its o nothing: that
has no node because of it. A waiting pair that is dead has `until` <= now; its note removes it.

Most pairs wait in vain, so letting one wait must cost next to nothing: it is *logged*, whether or not it waits already, and
goes with its own end; the admission of several makes one edge with the latest end. *Indexed* are pairs of lanes that would
stay for ever, and pairs outside lanes that end by themselves, as those of several windows together do: what is said again
and again is stored once. `Wait.hash` tells: 0 for a logged pair. Pairs outside lanes that stay until they are deleted are
none of these (dangling.pxd).
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from millstream.kernels.containers.hash_index cimport (
    Index, Probe, fold, index_add, index_drop, index_put, probe, probe_next,
)
from millstream.kernels.containers.records cimport record_free, record_new, record_next
from millstream.kernels.joins.admission cimport admit_all, o_ready, s_ready
from millstream.kernels.joins.edges cimport kind_hash, pair_hash
from millstream.kernels.joins.store cimport (
    MOST, WAIT_NOTE, Node, Store, Wait, node_at, node_find, node_get, node_release, note, trailing_zeros, wait_at,
)

cdef enum:
    FIRST = -1                  # s_prev, o_prev


# Chains

cdef inline uint32_t wait_hash(int relation, int64_t a, int64_t b) noexcept nogil:
    return kind_hash(pair_hash(a, b), relation)


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


cdef inline void o_push(Store* store, int32_t number, Wait* pair, int32_t node_number) noexcept nogil:
    cdef Node* node = node_at(store, node_number)
    pair.o_node = node_number
    pair.o_prev = FIRST
    pair.o_next = node.o_waiting
    if pair.o_next >= 0:
        wait_at(store, pair.o_next).o_prev = number
    node.o_waiting = number
    node.uses += 1


cdef inline void s_pull(Store* store, Wait* pair) noexcept nogil:
    """Takes a pair off the chain of its s."""
    cdef int32_t node_number = pair.s_node
    cdef Node* node = node_at(store, node_number)
    if pair.s_prev >= 0:
        wait_at(store, pair.s_prev).s_next = pair.s_next
    else:
        node.s_waiting = pair.s_next
    if pair.s_next >= 0:
        wait_at(store, pair.s_next).s_prev = pair.s_prev
    pair.s_node = -1
    node_release(store, node_number)


cdef inline void o_pull(Store* store, Wait* pair) noexcept nogil:
    cdef int32_t node_number = pair.o_node
    cdef Node* node = node_at(store, node_number)
    if pair.o_prev >= 0:
        wait_at(store, pair.o_prev).o_next = pair.o_next
    else:
        node.o_waiting = pair.o_next
    if pair.o_next >= 0:
        wait_at(store, pair.o_next).o_prev = pair.o_prev
    pair.o_node = -1
    node_release(store, node_number)


cdef inline void link(Store* store, int32_t number, bint at_s, bint at_o) noexcept nogil:
    """Lets a pair hang on these chains and no others; on those that it is to hang on first, for they may be all that keeps
    a node."""
    cdef Wait* pair = wait_at(store, number)
    if at_s and pair.s_node < 0:
        s_push(store, number, pair, node_get(store, pair.a, fold(<uint64_t>pair.a)))
    if at_o and pair.o_node < 0:
        o_push(store, number, pair, node_get(store, pair.b, fold(<uint64_t>pair.b)))
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


cdef inline void settle(Store* store, int32_t number) noexcept nogil:
    """Admits a pair to the views both of whose ends are ready, without output, and hangs it where the others wait."""
    cdef Wait* pair = wait_at(store, number)
    cdef int32_t s = pair.s_node, o = pair.o_node
    cdef uint64_t by_s, admitted
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
    admit_all(store, admitted, pair.a, pair.b, pair.until)
    pair.views &= ~admitted
    if pair.views == 0:
        wait_remove(store, number)
        return
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
    """Lets a pair wait for its views, or wait longer; none of them has both ends ready, `by_s` have that of s. `s` and `o`
    are the nodes of those ends at which some wait. A pair that is to be logged has no hash."""
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
    cdef int32_t waiting = node_at(store, number).s_waiting if at_s else node_at(store, number).o_waiting
    cdef int32_t following
    cdef Wait* pair
    while waiting >= 0:
        pair = wait_at(store, waiting)
        following = pair.s_next if at_s else pair.o_next
        if pair.a == a and pair.b == b and pair.relation == relation and pair.hash == 0:
            wait_less(store, waiting, views)
        waiting = following


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
