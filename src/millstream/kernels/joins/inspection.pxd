"""What waits in a join, of either kind (dangling.pxd, waiting.pxd), for those who look in."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from millstream.kernels.containers.agenda cimport FOREVER
from millstream.kernels.containers.hash_index cimport Index, Probe, index_close, index_open, index_put, probe, probe_next
from millstream.kernels.containers.memory cimport block_free, block_new
from millstream.kernels.joins.edges cimport pair_hash
from millstream.kernels.joins.store cimport AT_S, MOST, Dangling, Store, Wait, dangling_at, node_at, trailing_zeros, wait_at


cdef struct Waiting:
    int64_t a
    int64_t b
    int64_t until
    uint64_t views


cdef inline int64_t most_waiting(Store* store) noexcept nogil:
    return store.waits.size + store.dangling.size


cdef inline int64_t waiting_pairs(Store* store, Waiting* into) noexcept nogil:
    """Writes what waits, and says how much that is; a pair may be there several times."""
    cdef int64_t i, count = 0
    cdef int64_t id
    cdef Wait* pair
    cdef Dangling* dangling
    for i in range(store.waits.size):
        pair = wait_at(store, <int32_t>i)
        if pair.views:
            into[count] = Waiting(pair.a, pair.b, pair.until, pair.views)
            count += 1
    for i in range(store.dangling.size):
        dangling = dangling_at(store, <int32_t>i)
        if dangling.views:
            id = node_at(store, dangling.node).id
            if dangling.side == AT_S:
                into[count] = Waiting(id, dangling.id, FOREVER, dangling.views)
            else:
                into[count] = Waiting(dangling.id, id, FOREVER, dangling.views)
            count += 1
    return count


cdef inline void count_waiting(Store* store, int64_t* count) noexcept nogil:
    """How many pairs wait for each view, each counted once."""
    cdef Waiting* pairs = <Waiting*>block_new(most_waiting(store) * sizeof(Waiting))
    cdef int64_t i, size = waiting_pairs(store, pairs)
    cdef Index seen
    cdef Probe place
    cdef int32_t number
    cdef uint32_t hash
    cdef uint64_t views
    memset(count, 0, MOST * sizeof(int64_t))
    memset(&seen, 0, sizeof(Index))
    index_open(&seen)
    for i in range(size):
        views = pairs[i].views
        hash = pair_hash(pairs[i].a, pairs[i].b)
        place = probe(&seen, hash)
        while True:
            number = probe_next(&seen, &place)
            if number < 0:
                break
            if pairs[number].a == pairs[i].a and pairs[number].b == pairs[i].b:
                views &= ~pairs[number].views
        if views:
            index_put(&seen, hash, <int32_t>i)
        while views:
            count[trailing_zeros(views)] += 1
            views &= views - 1
    index_close(&seen)
    block_free(pairs, most_waiting(store) * sizeof(Waiting))
