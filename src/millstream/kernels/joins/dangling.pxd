"""Pairs that stay until they are deleted and wait for a qualification: dangling tuples of graphs, which most of a graph may
be.

One of them is two words in a list at the node that it waits for: at its s for the views that lack the qualification of s,
at its o for those that have that of s and lack that of o. So when a row opens, its node's lists hold everything that may
now be admitted, and a pair whose s lacks all that it needs costs its o nothing. An end that closes again moves nothing: a
pair is looked at, and moved to its other end if it has to wait there, when the end that it waits for opens.

A list is an array of the shelf. Its first entry is a header: how many entries the array has, and whether the pairs are in
the index. Pairs are in no order; the last one fills a place that becomes empty. A delete looks through a list of up to
SCANNED pairs; a longer one is *indexed* by it, or when it becomes LONG, so that no delete has to pause for that. What an
index holds are places in lists: whoever finds one looks whether its pair is there. A list of FEW pairs or less is never
indexed.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from millstream.kernels.containers.agenda cimport FOREVER
from millstream.kernels.containers.hash_index cimport Probe, fold, index_drop, index_put, index_replace, probe, probe_next
from millstream.kernels.containers.memory cimport larger_capacity, smaller_capacity
from millstream.kernels.joins.admission cimport admit_all, o_ready, s_ready
from millstream.kernels.joins.edges cimport kind_hash, list_fit, pair_hash
from millstream.kernels.joins.store cimport (
    AT_O, AT_S, Dangling, Entry, List, Node, Store, node_at, node_find, node_get, node_release, unlikely,
)

cdef enum:
    HEADER = 1                  # entries before the first pair
    SMALLEST_ARRAY = 2
    FEW = 32
    SCANNED = 64
    LONG = 4096


# Lists

cdef inline void dangling_fit(Store* store, Node* node, int side, int64_t capacity) noexcept nogil:
    """Moves a list into an array of another capacity, 0 for none."""
    cdef Dangling* pairs = node.dangling[side]
    cdef List moved
    moved.entries = <Entry*>pairs
    moved.size = 0 if pairs == NULL else node.dangles[side] + HEADER
    moved.capacity = 0 if pairs == NULL else <int32_t>pairs.id
    list_fit(store, &moved, capacity)
    node.dangling[side] = <Dangling*>moved.entries
    if capacity:
        node.dangling[side].id = capacity
        if pairs == NULL:
            node.dangling[side].views = False


cdef inline bint is_indexed(Dangling* pairs, int32_t size) noexcept nogil:
    # A short list is not even asked.
    return unlikely(size > FEW) and pairs.views != 0


cdef inline uint32_t dangling_hash(int64_t id, int64_t other, int side) noexcept nogil:
    return kind_hash(pair_hash(id, other), side)


cdef inline void enter_places(Store* store, Node* node, int side) noexcept nogil:
    """Has the pairs of a list found in the index from now on."""
    cdef Dangling* pairs = node.dangling[side]
    cdef int32_t at
    pairs.views = True
    for at in range(HEADER, node.dangles[side] + HEADER):
        index_put(&store.dangling_index, dangling_hash(node.id, pairs[at].id, side), at)


cdef inline void leave_places(Store* store, Node* node, int side) noexcept nogil:
    cdef Dangling* pairs = node.dangling[side]
    cdef int32_t at
    pairs.views = False
    for at in range(HEADER, node.dangles[side] + HEADER):
        index_drop(&store.dangling_index, dangling_hash(node.id, pairs[at].id, side), at)


cdef inline bint may_be_full(int32_t size) noexcept nogil:
    """Whether an array of so many entries may have no room for another: capacities have the form 2^n or 3 * 2^n."""
    cdef int32_t rest = size & (size - 1)
    return rest == 0 or rest == 2 * (size & -size)


cdef inline void dangle(Store* store, int32_t number, int side, int64_t id, uint64_t views) noexcept nogil:
    """Lets a pair wait at a node for these views."""
    cdef Node* node = node_at(store, number)
    cdef int32_t at = node.dangles[side] + HEADER
    if may_be_full(at):
        if node.dangling[side] == NULL:
            dangling_fit(store, node, side, SMALLEST_ARRAY)
            node.uses += 1
        elif node.dangling[side].id == at:
            # Twice as many: a graph that is loaded has all its lists grow.
            dangling_fit(store, node, side, larger_capacity(larger_capacity(at)))
    node.dangling[side][at].id = id
    node.dangling[side][at].views = views
    node.dangles[side] = at
    store.dangling += 1
    if is_indexed(node.dangling[side], at):
        index_put(&store.dangling_index, dangling_hash(node.id, id, side), at)
    elif unlikely(at == LONG):
        enter_places(store, node, side)


cdef inline void dangling_drop(Store* store, int32_t number, int side, int32_t at) noexcept nogil:
    """Takes a pair out of a list. A node that was kept by that alone is freed."""
    cdef Node* node = node_at(store, number)
    cdef Dangling* pairs = node.dangling[side]
    cdef int32_t last = node.dangles[side]
    if is_indexed(pairs, last):
        index_drop(&store.dangling_index, dangling_hash(node.id, pairs[at].id, side), at)
        if at != last:
            index_replace(&store.dangling_index, dangling_hash(node.id, pairs[last].id, side), last, at)
    pairs[at] = pairs[last]
    last -= 1
    node.dangles[side] = last
    store.dangling -= 1
    if last == FEW and pairs.views:
        leave_places(store, node, side)
    if last == 0:
        dangling_fit(store, node, side, 0)
        node_release(store, number)
    elif pairs.id > 4 and (last + HEADER) * 4 < pairs.id:
        dangling_fit(store, node, side, smaller_capacity(pairs.id))


# What opens, and what is deleted

cdef inline void admit_dangling(Store* store, int32_t number, int side, uint64_t opened) noexcept nogil:
    """For a node that has opened for these views, without output: pairs that dangled there become edges, or dangle at their
    other end."""
    cdef int64_t id = node_at(store, number).id, other
    cdef int32_t at = HEADER, other_node
    cdef uint64_t views, ready
    cdef Dangling* pair
    while at <= node_at(store, number).dangles[side]:
        pair = &node_at(store, number).dangling[side][at]
        views = pair.views & opened
        if views == 0:
            at += 1
            continue
        other = pair.id
        pair.views &= ~views
        if pair.views == 0:
            dangling_drop(store, number, side, at)
        else:
            at += 1
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


cdef inline int32_t dangling_find(Store* store, Node* node, int side, int64_t id, uint64_t views) noexcept nogil:
    """The place of a pair that waits for some of these views in an indexed list, or 0."""
    cdef Probe place = probe(&store.dangling_index, dangling_hash(node.id, id, side))
    cdef Dangling* pairs = node.dangling[side]
    cdef int32_t at
    while True:
        at = probe_next(&store.dangling_index, &place)
        if at < 0:
            return 0
        if at <= node.dangles[side] and pairs[at].id == id and pairs[at].views & views:
            return at


cdef inline void dangle_less(Store* store, int32_t number, int side, int32_t at, uint64_t views) noexcept nogil:
    cdef Dangling* pair = &node_at(store, number).dangling[side][at]
    pair.views &= ~views
    if pair.views == 0:
        dangling_drop(store, number, side, at)


cdef inline void dangling_end(Store* store, int32_t number, int side, int64_t id, uint64_t views) noexcept nogil:
    """Ends the waiting of a pair at a node, which the caller has pinned."""
    cdef Node* node = node_at(store, number)
    cdef int32_t at = node.dangles[side]
    if at > SCANNED and not node.dangling[side].views:
        enter_places(store, node, side)
    while is_indexed(node.dangling[side], node.dangles[side]):
        at = dangling_find(store, node, side, id, views)
        if at == 0:
            return
        dangle_less(store, number, side, at, views)
    at = node.dangles[side]
    while at >= HEADER:
        # From the last to the first: what fills an empty place was looked at.
        if node.dangling[side][at].id == id and node.dangling[side][at].views & views:
            dangle_less(store, number, side, at, views)
        at -= 1
