"""Rows by their ids, with weights and a place in an ordered tree: one side of a join through an order.

The tree holds every record of a row, which is its ids and its weight, by a key, records of equal keys in no particular
order.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

from millstream.kernels.containers.keyed cimport (
    Keyed, keyed_at, keyed_bytes, keyed_close, keyed_drop, keyed_get, keyed_hash, keyed_open,
)
from millstream.kernels.containers.ordered_tree cimport (
    Spot, Tree, TreeNode, tree_bytes, tree_close, tree_insert, tree_open, tree_remove,
)


cdef struct OrderedRows:
    Keyed rows
    Tree tree


cdef inline void rows_open(OrderedRows* rows, int width) noexcept nogil:
    keyed_open(&rows.rows, width, 1)
    tree_open(&rows.tree)


cdef inline void rows_close(OrderedRows* rows) noexcept nogil:
    keyed_close(&rows.rows)
    tree_close(&rows.tree)


cdef inline int64_t rows_bytes(OrderedRows* rows) noexcept nogil:
    return keyed_bytes(&rows.rows) + tree_bytes(&rows.tree)


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


cdef inline void row_add(OrderedRows* rows, const int64_t* ids, uint64_t key, int64_t weight) noexcept nogil:
    """Adds to the weight of a row, which has this key; one of weight 0 is gone."""
    cdef int64_t live = rows.rows.records.live
    cdef int32_t number = keyed_get(&rows.rows, ids, keyed_hash(&rows.rows, ids))
    cdef int64_t* kept = keyed_at(&rows.rows, number) + rows.rows.width
    cdef Spot spot
    if rows.rows.records.live > live:
        spot = first_from(rows, key)
        tree_insert(&rows.tree, spot.leaf, spot.place, key, number, 1)
    kept[0] += weight
    if kept[0] == 0:
        tree_remove(&rows.tree, number)
        keyed_drop(&rows.rows, number)
