"""Pairs that stay until they are deleted and wait for a qualification: dangling tuples of graphs, which most of a graph may
be.

One of them hangs on a chain of the node that it waits for: of its s for the views that lack the qualification of s, of its o
for those that have that of s and lack that of o. So when a row opens, its node's chains hold everything that may now be
admitted, and a pair whose s lacks all that it needs costs its o nothing. An end that closes again moves nothing: a pair is
looked at, and moved to its other end if it has to wait there, when the end that it waits for opens.

Records are written one behind the other, and letting a pair dangle touches nothing else but its node: what a graph has of
them is more than a cache holds. So a chain leads forward only, and who takes a pair off it comes along the chain. A delete
walks a chain of up to SCANNED pairs; a longer one is *indexed* by it, or when it becomes LONG, so that no delete has to
pause for that: its pairs are then found by their ends, and linked in both directions. A chain of FEW pairs is never indexed.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from millstream.kernels.containers.agenda cimport FOREVER
from millstream.kernels.containers.chunked cimport chunked_free, chunked_new
from millstream.kernels.containers.hash_index cimport Probe, fold, index_drop, index_put, prefetch, probe, probe_next
from millstream.kernels.joins.admission cimport admit_all, o_ready, s_ready
from millstream.kernels.joins.edges cimport kind_hash, pair_hash
from millstream.kernels.joins.store cimport (
    AT_S, Dangling, Node, Store, dangling_at, node_at, node_find, node_get, node_release, unlikely,
)

cdef enum:
    NONE = -1
    FEW = 32
    SCANNED = 64
    LONG = 4096


# The index

cdef inline uint32_t dangling_hash(Store* store, int32_t number) noexcept nogil:
    cdef Dangling* pair = dangling_at(store, number)
    return kind_hash(pair_hash(node_at(store, pair.node).id, pair.id), pair.side)


cdef inline void dangling_enter(Store* store, int32_t number) noexcept nogil:
    """Has the first pair of a chain found by its ends, and from the one behind it."""
    cdef Dangling* pair = dangling_at(store, number)
    pair.prev = NONE
    if pair.next >= 0:
        dangling_at(store, pair.next).prev = number
    index_put(&store.dangling_index, dangling_hash(store, number), number)


cdef inline void index_chain(Store* store, int32_t number, int side) noexcept nogil:
    cdef int32_t pair = node_at(store, number).dangling[side], before = NONE
    node_at(store, number).indexed[side] = True
    while pair >= 0:
        dangling_enter(store, pair)
        dangling_at(store, pair).prev = before
        before = pair
        pair = dangling_at(store, pair).next


cdef inline void leave_index(Store* store, int32_t number, int side) noexcept nogil:
    cdef int32_t pair = node_at(store, number).dangling[side]
    node_at(store, number).indexed[side] = False
    while pair >= 0:
        index_drop(&store.dangling_index, dangling_hash(store, pair), pair)
        pair = dangling_at(store, pair).next


cdef inline int32_t dangling_find(Store* store, int32_t number, int side, int64_t id, uint64_t views) noexcept nogil:
    """A pair on an indexed chain that waits for some of these views, or NONE."""
    cdef Probe place = probe(&store.dangling_index, kind_hash(pair_hash(node_at(store, number).id, id), side))
    cdef int32_t found
    cdef Dangling* pair
    while True:
        found = probe_next(&store.dangling_index, &place)
        if found < 0:
            return NONE
        pair = dangling_at(store, found)
        if pair.node == number and pair.side == side and pair.id == id and pair.views & views:
            return found


# Chains

cdef inline void dangled_at_hub(Store* store, int32_t number, int side) noexcept nogil:
    """Sees to the index when a pair has become the first of a long chain, or of one that is indexed."""
    if node_at(store, number).indexed[side]:
        dangling_enter(store, node_at(store, number).dangling[side])
    else:
        index_chain(store, number, side)


cdef inline void dangle(Store* store, int32_t number, int side, int64_t id, uint64_t views) noexcept nogil:
    """Lets a pair wait at a node for these views."""
    cdef int32_t new = chunked_new(&store.dangling)
    cdef Dangling* pair = dangling_at(store, new)
    cdef Node* node = node_at(store, number)
    pair.id = id
    pair.views = views
    pair.next = node.dangling[side]
    pair.node = number
    pair.side = side
    node.dangling[side] = new
    node.dangles[side] += 1
    node.uses += 1
    if unlikely(node.dangles[side] >= LONG) or unlikely(node.indexed[side]):
        dangled_at_hub(store, number, side)


cdef inline void dangling_drop(Store* store, int32_t number, int32_t before) noexcept nogil:
    """Takes a pair off its chain; `before` is the one that leads to it, if the chain is not indexed. A node that was kept by
    that alone is freed."""
    cdef Dangling* pair = dangling_at(store, number)
    cdef int32_t at = pair.node
    cdef int side = pair.side
    cdef Node* node = node_at(store, at)
    if node.indexed[side]:
        index_drop(&store.dangling_index, dangling_hash(store, number), number)
        before = pair.prev
        if pair.next >= 0:
            dangling_at(store, pair.next).prev = before
    if before >= 0:
        dangling_at(store, before).next = pair.next
    else:
        node.dangling[side] = pair.next
    pair.views = 0
    chunked_free(&store.dangling, number)
    node.dangles[side] -= 1
    if node.indexed[side] and node.dangles[side] == FEW:
        leave_index(store, at, side)
    node_release(store, at)


cdef inline bint dangle_less(Store* store, int32_t number, int32_t before, uint64_t views) noexcept nogil:
    """Ends the waiting of a pair for these views; whether it waits for none then, and is gone."""
    cdef Dangling* pair = dangling_at(store, number)
    pair.views &= ~views
    if pair.views:
        return False
    dangling_drop(store, number, before)
    return True


# What opens, and what is deleted

cdef inline void admit_dangling(Store* store, int32_t number, int side, uint64_t opened) noexcept nogil:
    """For a node that has opened for these views, without output: pairs that dangled there become edges, or dangle at their
    other end."""
    cdef int64_t id = node_at(store, number).id, other
    cdef int32_t at = node_at(store, number).dangling[side], before = NONE, following, other_node
    cdef uint64_t views, ready
    while at >= 0:
        following = dangling_at(store, at).next
        if following >= 0:
            prefetch(dangling_at(store, following))
        views = dangling_at(store, at).views & opened
        other = dangling_at(store, at).id
        if views == 0 or not dangle_less(store, at, before, views):
            before = at
        at = following
        if views == 0:
            continue
        other_node = node_find(store, other, fold(<uint64_t>other))
        ready = views & (o_ready(store, other_node) if side == AT_S else s_ready(store, other_node))
        if ready != views:
            if other_node < 0:
                other_node = node_get(store, other, fold(<uint64_t>other))
            dangle(store, other_node, 1 - side, id, views & ~ready)
        if side == AT_S:
            admit_all(store, ready, id, other, FOREVER)
        else:
            admit_all(store, ready, other, id, FOREVER)


cdef inline void dangling_end(Store* store, int32_t number, int side, int64_t id, uint64_t views) noexcept nogil:
    """Ends the waiting of a pair at a node, which the caller has pinned."""
    cdef int32_t at, before = NONE, following
    if node_at(store, number).dangles[side] > SCANNED and not node_at(store, number).indexed[side]:
        index_chain(store, number, side)
    while node_at(store, number).indexed[side]:
        at = dangling_find(store, number, side, id, views)
        if at < 0:
            return
        dangle_less(store, at, NONE, views)
    at = node_at(store, number).dangling[side]
    while at >= 0:
        following = dangling_at(store, at).next
        if (dangling_at(store, at).id != id or dangling_at(store, at).views & views == 0
                or not dangle_less(store, at, before, views)):
            before = at
        at = following
