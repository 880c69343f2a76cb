"""Rows by their ids, with weights and a place in an ordered tree: one side of a join through an order.

A record is weight, key, ids, and a word for the free list. The tree holds every record by its key, records of equal keys in
no particular order.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from millstream.kernels.containers.hash_index cimport (
    Index, Probe, index_bytes, index_close, index_drop, index_open, index_put, probe, probe_next, words_hash,
)
from millstream.kernels.containers.memory cimport block_free
from millstream.kernels.containers.ordered_tree cimport (
    Spot, Tree, TreeNode, tree_bytes, tree_close, tree_insert, tree_open, tree_remove,
)
from millstream.kernels.containers.records cimport Records, record_free, record_new

cdef enum:
    ROW_WEIGHT = 0
    ROW_KEY = 1
    ROW_IDS = 2


cdef struct OrderedRows:
    int width
    int64_t stride
    Records records
    Index index
    Tree tree


cdef inline void rows_open(OrderedRows* rows, int width) noexcept nogil:
    rows.width = width
    rows.stride = ROW_IDS + width + 1
    rows.records.free = -1
    index_open(&rows.index)
    tree_open(&rows.tree)


cdef inline void rows_close(OrderedRows* rows) noexcept nogil:
    block_free(rows.records.data, rows.records.capacity * rows.stride * sizeof(int64_t))
    index_close(&rows.index)
    tree_close(&rows.tree)


cdef inline int64_t rows_bytes(OrderedRows* rows) noexcept nogil:
    return rows.records.capacity * rows.stride * <int64_t>sizeof(int64_t) + index_bytes(&rows.index) + tree_bytes(&rows.tree)


cdef inline int64_t* row_of(OrderedRows* rows, int64_t number) noexcept nogil:
    return (<int64_t*>rows.records.data) + number * rows.stride


cdef inline uint32_t row_hash(OrderedRows* rows, const int64_t* ids) noexcept nogil:
    return words_hash(ids, rows.width)


cdef inline int32_t row_find(OrderedRows* rows, const int64_t* ids) noexcept nogil:
    """The number of a row, -1 without one."""
    cdef Probe found = probe(&rows.index, row_hash(rows, ids))
    cdef int32_t number
    while True:
        number = probe_next(&rows.index, &found)
        if number < 0 or memcmp(row_of(rows, number) + ROW_IDS, ids, rows.width * sizeof(int64_t)) == 0:
            return number


cdef inline Spot first_from(OrderedRows* rows, uint64_t key) noexcept nogil:
    """Where the first row with this key or a higher one stands or would; its place may be just behind the leaf's last."""
    cdef Spot spot
    cdef TreeNode* node
    cdef int32_t number = rows.tree.root, low, high, middle
    while True:
        node = rows.tree.nodes + number
        low = 0
        high = node.count
        while low < high:
            middle = (low + high) >> 1
            if node.keys[middle] < key:
                low = middle + 1
            else:
                high = middle
        if node.level == 0:
            break
        number = node.children[max(0, low - 1)]
    spot.leaf = number
    spot.place = low
    spot.within = 0
    return spot


cdef inline void row_enter(OrderedRows* rows, const int64_t* ids, uint64_t key, int64_t weight) noexcept nogil:
    """Puts in a row that is not there."""
    cdef int32_t number = record_new(&rows.records, rows.stride * sizeof(int64_t))
    cdef Spot spot = first_from(rows, key)
    cdef int64_t* row = row_of(rows, number)
    row[ROW_WEIGHT] = weight
    row[ROW_KEY] = <int64_t>key
    memcpy(row + ROW_IDS, ids, rows.width * sizeof(int64_t))
    index_put(&rows.index, row_hash(rows, ids), number)
    tree_insert(&rows.tree, spot.leaf, spot.place, key, number, 1)


cdef inline void row_leave(OrderedRows* rows, int32_t number) noexcept nogil:
    tree_remove(&rows.tree, number)
    index_drop(&rows.index, row_hash(rows, row_of(rows, number) + ROW_IDS), number)
    record_free(&rows.records, rows.stride * sizeof(int64_t), number)
