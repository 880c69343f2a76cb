"""Edges and the lists they stand in; how an edge is found by its ends.

Most rows have few edges of a view, so an edge is looked for in the shorter of its two lists while that is short; a hash
entry an edge would cost more than all the rest of it. A list is *short* up to SCANNED entries of capacity, else *long*; the
end of a bare variable has no list and counts as long.

Invariants
- An edge both of whose ends are long is in the index: entered with the later of the two, when a list becomes long or when
  the edge is added. It stays there when a list becomes short again; `Edge.hash` tells.
- A live edge stands in both lists. A dead one may have left a list, and then be added anew: of two edges with the same ends
  at most one is live, and that one is found.
- `Entry.row` is the neighbour's row, or `bare_key` of its id.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from millstream.kernels.containers.hash_index cimport Index, Probe, fold, index_drop, index_put, probe, probe_next
from millstream.kernels.containers.memory cimport (
    SHELVED, block_resize, larger_capacity, shelf_give, shelf_take, smaller_capacity,
)
from millstream.kernels.containers.records cimport record_free, record_new
from millstream.kernels.joins.store cimport (
    EDGE_NOTE, Edge, Entry, List, Row, Store, edge_at, lists_of, note, row_at, row_release,
)

cdef enum:
    SCANNED = 8                 # a capacity of lists


# Lists

cdef inline void list_fit(Store* store, List* lst, int64_t capacity) noexcept nogil:
    """Moves a list into an array of another capacity, 0 for none."""
    cdef Entry* entries = NULL
    if capacity > SHELVED and lst.capacity > SHELVED:
        store.shelf.large += (capacity - lst.capacity) * <int64_t>sizeof(Entry)
        entries = <Entry*>block_resize(lst.entries, lst.capacity * sizeof(Entry), capacity * sizeof(Entry))
    else:
        if capacity:
            entries = <Entry*>shelf_take(&store.shelf, capacity)
            memcpy(entries, lst.entries, lst.size * sizeof(Entry))
        if lst.capacity:
            shelf_give(&store.shelf, lst.entries, lst.capacity)
    lst.entries = entries
    lst.capacity = <int32_t>capacity


cdef inline int32_t list_add(Store* store, Row* row, List* lst, Entry entry) noexcept nogil:
    if lst.size == lst.capacity:
        list_fit(store, lst, larger_capacity(lst.capacity))
    if lst.size == 0:
        row.filled += 1
    lst.entries[lst.size] = entry
    lst.size += 1
    return lst.size - 1


cdef inline void list_drop(Store* store, Row* row, List* lst, int32_t at, bint s_side) noexcept nogil:
    """Takes an entry out; the last one fills its place."""
    cdef Entry* moved
    lst.size -= 1
    if at != lst.size:
        moved = &lst.entries[lst.size]
        if s_side:
            edge_at(store, moved.edge).s.place.at = at
        else:
            edge_at(store, moved.edge).o.place.at = at
        lst.entries[at] = moved[0]
    if lst.size == 0:
        row.filled -= 1
        list_fit(store, lst, 0)
    elif lst.capacity > 4 and lst.size * 4 < lst.capacity:
        list_fit(store, lst, smaller_capacity(lst.capacity))


# The index

cdef inline uint32_t pair_hash(int64_t a, int64_t b) noexcept nogil:
    """Of two ids; `kind_hash` sets views, or relations, apart."""
    cdef uint64_t x = <uint64_t>a, y = <uint64_t>b
    return fold((x ^ (x >> 32)) * <uint64_t>0xD6E8FEB86659FD93 + (y ^ (y >> 32)) * <uint64_t>0xC2B2AE3D27D4EB4F)


cdef inline uint32_t kind_hash(uint32_t hash, int kind) noexcept nogil:
    """Never 0, which says that a record is not in its index."""
    hash += <uint32_t>kind * <uint32_t>0x9E3779B1
    return hash if hash else 1


cdef inline int32_t bare_key(int64_t id) noexcept nogil:
    return <int32_t><uint32_t>(<uint64_t>id ^ (<uint64_t>id >> 32))


cdef inline int64_t s_of(Store* store, Edge* edge) noexcept nogil:
    """What names the edge's s: a row, or a bare id."""
    return edge.s.id if (store.s_bare >> edge.view) & 1 else edge.s.place.row


cdef inline int64_t o_of(Store* store, Edge* edge) noexcept nogil:
    return edge.o.id if (store.o_bare >> edge.view) & 1 else edge.o.place.row


cdef inline List* s_list(Store* store, int view, int64_t s) noexcept nogil:
    """The list of a view at its s, NULL where bare."""
    return NULL if (store.s_bare >> view) & 1 else lists_of(row_at(store, <int32_t>s)) + store.s_slot[view]


cdef inline List* o_list(Store* store, int view, int64_t o) noexcept nogil:
    return NULL if (store.o_bare >> view) & 1 else lists_of(row_at(store, <int32_t>o)) + store.o_slot[view]


cdef inline bint is_long(List* lst) noexcept nogil:
    return lst == NULL or lst.capacity > SCANNED


cdef inline void edge_enter(Store* store, int32_t number) noexcept nogil:
    """Puts an edge into the index if it must be there and is not."""
    cdef Edge* edge = edge_at(store, number)
    cdef int view = edge.view
    cdef int64_t a, b
    if edge.hash or not is_long(s_list(store, view, edge.s.place.row)) or not is_long(o_list(store, view, edge.o.place.row)):
        return
    a = edge.s.id if (store.s_bare >> view) & 1 else row_at(store, edge.s.place.row).id
    b = edge.o.id if (store.o_bare >> view) & 1 else row_at(store, edge.o.place.row).id
    edge.hash = kind_hash(pair_hash(a, b), view)
    index_put(&store.edge_index[store.long_lived[view]], edge.hash, number)


cdef inline void enter_all(Store* store, List* lst) noexcept nogil:
    """For a list that has just become long."""
    cdef int32_t i
    for i in range(lst.size):
        edge_enter(store, lst.entries[i].edge)


cdef inline int32_t edge_probe(Store* store, int view, int64_t s, int64_t o) noexcept nogil:
    cdef Index* index = &store.edge_index[store.long_lived[view]]
    cdef int64_t a = s if (store.s_bare >> view) & 1 else row_at(store, <int32_t>s).id
    cdef int64_t b = o if (store.o_bare >> view) & 1 else row_at(store, <int32_t>o).id
    cdef Probe found = probe(index, kind_hash(pair_hash(a, b), view))
    cdef int32_t number, dead = -1
    cdef Edge* edge
    while True:
        number = probe_next(index, &found)
        if number < 0:
            return dead
        edge = edge_at(store, number)
        if edge.view == view and s_of(store, edge) == s and o_of(store, edge) == o:
            if edge.until > store.now:
                return number
            dead = number


cdef inline int32_t edge_find(Store* store, int view, int64_t s, int64_t o) noexcept nogil:
    """An edge by its rows, or ids where bare."""
    cdef List* lst = s_list(store, view, s)
    cdef List* other = o_list(store, view, o)
    cdef int64_t id = -1
    cdef bint at_s = other == NULL or (lst != NULL and lst.capacity <= other.capacity)
    cdef int32_t key, i, dead = -1
    cdef Entry* entries
    if not at_s:
        lst = other
    if is_long(lst):
        return edge_probe(store, view, s, o)
    if at_s:
        key = bare_key(o) if other == NULL else <int32_t>o
    else:
        key = bare_key(s) if (store.s_bare >> view) & 1 else <int32_t>s
    entries = lst.entries
    for i in range(lst.size):
        if entries[i].row != key:
            continue
        if (store.o_bare >> view) & 1 and edge_at(store, entries[i].edge).o.id != o:
            continue
        if (store.s_bare >> view) & 1 and edge_at(store, entries[i].edge).s.id != s:
            continue
        if entries[i].until > store.now:
            return entries[i].edge
        dead = entries[i].edge
    return dead


# Edges

cdef inline void edge_list(Store* store, int32_t number) noexcept nogil:
    """Enters an edge into the lists that do not hold it, with its end in those that do."""
    cdef Edge* edge = edge_at(store, number)
    cdef int view = edge.view
    cdef List* at_s = s_list(store, view, edge.s.place.row)
    cdef List* at_o = o_list(store, view, edge.o.place.row)
    cdef bint s_was = is_long(at_s), o_was = is_long(at_o)
    cdef Entry entry
    entry.edge = number
    entry.until = edge.until
    if at_s != NULL:
        entry.row = bare_key(edge.o.id) if at_o == NULL else edge.o.place.row
        if edge.s.place.at < 0:
            edge.s.place.at = list_add(store, row_at(store, edge.s.place.row), at_s, entry)
        else:
            at_s.entries[edge.s.place.at].until = edge.until
    if at_o != NULL:
        entry.row = bare_key(edge.s.id) if at_s == NULL else edge.s.place.row
        if edge.o.place.at < 0:
            edge.o.place.at = list_add(store, row_at(store, edge.o.place.row), at_o, entry)
        else:
            at_o.entries[edge.o.place.at].until = edge.until
    if is_long(at_s) and is_long(at_o):
        edge_enter(store, number)
    if not s_was and is_long(at_s):
        enter_all(store, at_s)
    if not o_was and is_long(at_o):
        enter_all(store, at_o)


cdef inline void edge_extend(Store* store, int32_t number, int64_t until) noexcept nogil:
    """Gives a stored edge, live or dead, a later end."""
    edge_at(store, number).until = until
    edge_list(store, number)
    note(store, edge_at(store, number).view, until, number, EDGE_NOTE)


cdef inline void edge_add(Store* store, int view, int64_t s, int64_t o, int64_t until) noexcept nogil:
    cdef int32_t number = record_new(&store.edges, sizeof(Edge))
    cdef Edge* edge = edge_at(store, number)
    edge.view = view
    edge.hash = 0
    if (store.s_bare >> view) & 1:
        edge.s.id = s
    else:
        edge.s.place.row = <int32_t>s
        edge.s.place.at = -1
        row_at(store, <int32_t>s).edges += 1
    if (store.o_bare >> view) & 1:
        edge.o.id = o
    else:
        edge.o.place.row = <int32_t>o
        edge.o.place.at = -1
        row_at(store, <int32_t>o).edges += 1
    if store.held[view] == 0:
        store.empty_views -= 1
    store.held[view] += 1
    edge_extend(store, number, until)


cdef inline void edge_remove(Store* store, int32_t number) noexcept nogil:
    cdef Edge* edge = edge_at(store, number)
    cdef Row* row
    cdef int view = edge.view
    cdef int32_t s = -1, o = -1
    if edge.hash:
        index_drop(&store.edge_index[store.long_lived[view]], edge.hash, number)
    if not (store.s_bare >> view) & 1:
        s = edge.s.place.row
        row = row_at(store, s)
        row.edges -= 1
        if edge.s.place.at >= 0:
            list_drop(store, row, lists_of(row) + store.s_slot[view], edge.s.place.at, True)
    if not (store.o_bare >> view) & 1:
        o = edge.o.place.row
        row = row_at(store, o)
        row.edges -= 1
        if edge.o.place.at >= 0:
            list_drop(store, row, lists_of(row) + store.o_slot[view], edge.o.place.at, False)
    edge.view = -1
    record_free(&store.edges, sizeof(Edge), number)
    store.held[view] -= 1
    if store.held[view] == 0:
        store.empty_views += 1
    if s >= 0:
        row_release(store, s)
    if o >= 0:
        row_release(store, o)
