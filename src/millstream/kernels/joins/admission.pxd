"""Admission: which views may take a pair as an edge, and the edge that it becomes there.

The ends of a pair are ids, with their nodes where there are such, -1 where not.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

from millstream.kernels.containers.hash_index cimport fold
from millstream.kernels.joins.edges cimport edge_add, edge_extend, edge_find
from millstream.kernels.joins.store cimport Store, edge_at, node_at, node_get, row_get, trailing_zeros


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


cdef inline void admit_all(Store* store, uint64_t views, int64_t a, int64_t b, int64_t until) noexcept nogil:
    """Admits a pair to several views, all of which its ends are ready for."""
    cdef int view
    while views:
        view = trailing_zeros(views)
        views &= views - 1
        admit(store, view, place_s(store, view, a, -1), place_o(store, view, b, -1), until)
