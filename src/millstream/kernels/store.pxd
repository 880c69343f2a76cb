"""What a join stores: nodes, rows with lists, and edges.

A *node* is an id that occurs somewhere. A *row* is a (variable, node): 32 bytes, then one list for every binary pattern at the
variable, then the end of each of its unary patterns. Rows of one node are chained, so one hash lookup finds them all. A list entry
(neighbour's row, edge, until) points at rows: enumerating does not hash. An *edge* is an admitted pair of one view; `s` and `o`
say where it stands in the two lists. A variable with one binary pattern and no unary one is *bare*: it has neither rows nor nodes, the
edge holds the id itself.

    node --> row (x, node) --> row (y, node) ...
               | until, id, lists[degree], ends[unary patterns]
               +-- list --> (row, edge, until) (row, edge, until) ...      in no order
                                   edge: s = (row, place), o = (row, place), until, view

Invariants
- `Row.edges` counts the edges at a row; `Row.filled` its lists that are not empty. A dead entry may leave a list before its edge
  goes: then the edge's place there is -1.
- `Row.until` is the least end of the row's unary patterns, FOREVER without any: the row qualifies while it lies ahead.
- A row is *open* from its qualification until it neither qualifies nor has edges. `Node.s_open`, `Node.o_open`: the views that may take
  an edge from (to) this node because its row is open. A pair is an edge exactly if both its ends are open or need no
  qualification; otherwise it waits (waiting.pxd).
- `Node.uses` counts rows, waiting pairs and pins; a node without any is freed. Freed records have id, variable or view -1 (255).
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from millstream.kernels.agenda cimport FOREVER, NEVER, Agenda, Note, agenda_bytes, agenda_close, agenda_put
from millstream.kernels.memory cimport (
    SHELVED, Shelf, block_free, block_new, block_resize, larger_capacity, shelf_close, shelf_give, shelf_take,
    smaller_capacity,
)
from millstream.kernels.table cimport (
    Index, Probe, fold, index_bytes, index_close, index_drop, index_put, probe, probe_next,
)

cdef extern from *:
    int trailing_zeros "__builtin_ctzll"(unsigned long long) noexcept nogil

cdef enum:
    MOST = 64                   # patterns, variables
    UNIT = 16                   # rows are counted in units of so many bytes
    NO_VARIABLE = 255
    EDGE_NOTE = 0
    WAIT_NOTE = 1
    UNARY_NOTE = 2              # plus the place of the unary pattern in its row


cdef struct Entry:
    int32_t row
    int32_t edge
    int64_t until


cdef struct List:
    Entry* entries
    int32_t size
    int32_t capacity


cdef struct Row:
    int64_t until
    int64_t id
    int32_t node
    int32_t next                # row of the same node; when free, of the free list
    int32_t edges
    uint8_t filled
    uint8_t variable
    uint8_t open
    uint8_t unused


cdef struct Node:
    int64_t id
    uint64_t s_open
    uint64_t o_open
    int32_t rows
    int32_t s_waiting
    int32_t o_waiting
    int32_t uses


cdef struct Place:
    int32_t row
    int32_t at


cdef union End:
    Place place
    int64_t id                  # of a bare variable


cdef struct Edge:
    End s
    End o
    int64_t until
    int32_t view
    int32_t next                # of the free list


cdef struct Wait:
    int64_t s                   # a node, or the id where that end is bare in all views of the relation
    int64_t o
    int64_t until
    uint64_t views
    int32_t s_next
    int32_t s_prev
    int32_t o_next
    int32_t o_prev


cdef struct Records:
    char* data
    int64_t size                # records ever used, free ones included
    int64_t capacity
    int64_t live
    int32_t free


cdef struct Store:
    # The pattern. Views are patterns; a unary pattern has o_variable -1.
    int views
    int variables
    int s_variable[MOST]
    int o_variable[MOST]
    int s_slot[MOST]            # a view's list in the row of its s; for a unary pattern, its place among the ends
    int o_slot[MOST]
    int lane[MOST]
    bint long_lived[MOST]       # views in no lane
    bint relation_long_lived[MOST]
    int relation[MOST]
    uint64_t relation_views[MOST]
    bint s_id[MOST]             # relations that need no node for s: it is bare in all their views
    bint o_id[MOST]
    uint64_t s_bare             # views whose s variable is bare
    uint64_t o_bare
    uint64_t s_free             # views whose s variable has no unary pattern
    uint64_t o_free
    uint64_t leaf               # views with an end of degree 1
    int degree[MOST]
    int unary[MOST]             # how many unary patterns a variable has
    uint8_t unary_view[MOST][MOST]      # which: variable, place
    uint64_t incident[MOST]     # views at a variable
    uint64_t s_views[MOST]
    uint64_t o_views[MOST]
    # The state.
    Records nodes
    Records rows                # in units
    Records edges
    Records waits
    int32_t spare_row[MOST]     # free rows by variable
    int64_t row_count
    Index node_index
    Index edge_index[2]         # of views in lanes; of the long-lived ones, so that these do not spread the former
    Index wait_index[2]
    Shelf shelf
    Agenda agenda
    int64_t now
    int64_t held[MOST]          # edges of a view, or unary ends: dead ones not yet removed included
    int empty_views             # binary views without an edge


cdef inline int32_t* next_free(Records* records, int64_t bytes_each, int32_t number) noexcept nogil:
    """Where a free record keeps the number of the next: in its last four bytes."""
    return (<int32_t*>(records.data + (number + 1) * bytes_each)) - 1


cdef inline int32_t record_new(Records* records, int64_t bytes_each) noexcept nogil:
    """A number for a new record; a free one first."""
    cdef int32_t number = records.free
    cdef int64_t capacity
    records.live += 1
    if number >= 0:
        records.free = next_free(records, bytes_each, number)[0]
        return number
    if records.size == records.capacity:
        capacity = records.capacity + max(16, records.capacity >> (2 if records.capacity > SHELVED else 1))
        records.data = <char*>block_resize(records.data, records.capacity * bytes_each, capacity * bytes_each)
        records.capacity = capacity
    number = <int32_t>records.size
    records.size += 1
    return number


cdef inline void record_free(Records* records, int64_t bytes_each, int32_t number) noexcept nogil:
    next_free(records, bytes_each, number)[0] = records.free
    records.free = number
    records.live -= 1


cdef inline Node* node_at(Store* store, int64_t number) noexcept nogil:
    return (<Node*>store.nodes.data) + number


cdef inline Row* row_at(Store* store, int32_t number) noexcept nogil:
    return <Row*>(store.rows.data + <int64_t>number * UNIT)


cdef inline List* lists_of(Row* row) noexcept nogil:
    return <List*>(row + 1)


cdef inline int64_t* ends_of(Store* store, Row* row) noexcept nogil:
    return <int64_t*>(lists_of(row) + store.degree[row.variable])


cdef inline Edge* edge_at(Store* store, int32_t number) noexcept nogil:
    return (<Edge*>store.edges.data) + number


cdef inline Wait* wait_at(Store* store, int32_t number) noexcept nogil:
    return (<Wait*>store.waits.data) + number


cdef inline void note(Store* store, int view, int64_t until, int32_t number, int32_t kind) noexcept nogil:
    cdef Note entered
    if until < FOREVER:
        entered.tick = until
        entered.number = number
        entered.kind = kind
        agenda_put(&store.agenda, store.lane[view], entered)


# Nodes

cdef inline int32_t node_find(Store* store, int64_t id, uint32_t hash) noexcept nogil:
    cdef Probe found = probe(&store.node_index, hash)
    cdef int32_t number
    while True:
        number = probe_next(&store.node_index, &found)
        if number < 0 or node_at(store, number).id == id:
            return number


cdef inline int32_t node_get(Store* store, int64_t id, uint32_t hash) noexcept nogil:
    cdef int32_t number = node_find(store, id, hash)
    cdef Node* node
    if number < 0:
        number = record_new(&store.nodes, sizeof(Node))
        node = node_at(store, number)
        node.id = id
        node.s_open = 0
        node.o_open = 0
        node.rows = -1
        node.s_waiting = -1
        node.o_waiting = -1
        node.uses = 0
        index_put(&store.node_index, hash, number)
    return number


cdef inline void node_release(Store* store, int64_t number) noexcept nogil:
    cdef Node* node = node_at(store, number)
    node.uses -= 1
    if node.uses == 0:
        index_drop(&store.node_index, fold(<uint64_t>node.id), <int32_t>number)
        node.id = -1
        record_free(&store.nodes, sizeof(Node), <int32_t>number)


# Rows

cdef inline int32_t row_find(Store* store, int64_t node, int variable) noexcept nogil:
    cdef int32_t number = node_at(store, node).rows
    while number >= 0 and row_at(store, number).variable != variable:
        number = row_at(store, number).next
    return number


cdef inline int64_t row_units(Store* store, int variable) noexcept nogil:
    return 2 + store.degree[variable] + (store.unary[variable] + 1) // 2


cdef inline int32_t row_new(Store* store, int64_t node, int variable) noexcept nogil:
    cdef int32_t number = store.spare_row[variable]
    cdef int64_t units = row_units(store, variable), capacity
    cdef Row* row
    cdef int i
    if number >= 0:
        store.spare_row[variable] = row_at(store, number).next
    else:
        if store.rows.size + units > store.rows.capacity:
            capacity = store.rows.capacity + max(256, store.rows.capacity >> (2 if store.rows.capacity > SHELVED else 1))
            store.rows.data = <char*>block_resize(store.rows.data, store.rows.capacity * UNIT, capacity * UNIT)
            store.rows.capacity = capacity
        number = <int32_t>store.rows.size
        store.rows.size += units
    store.row_count += 1
    row = row_at(store, number)
    memset(row, 0, units * UNIT)
    row.variable = variable
    row.node = <int32_t>node
    row.id = node_at(store, node).id
    row.next = node_at(store, node).rows
    row.until = NEVER if store.unary[variable] else FOREVER
    for i in range(store.unary[variable]):
        ends_of(store, row)[i] = NEVER
    node_at(store, node).rows = number
    node_at(store, node).uses += 1
    return number


cdef inline int32_t row_get(Store* store, int64_t node, int variable) noexcept nogil:
    cdef int32_t number = row_find(store, node, variable)
    return number if number >= 0 else row_new(store, node, variable)


cdef inline void row_free(Store* store, int32_t number) noexcept nogil:
    cdef Row* row = row_at(store, number)
    cdef Node* node = node_at(store, row.node)
    cdef int32_t other = node.rows
    cdef int32_t holder = row.node
    if other == number:
        node.rows = row.next
    else:
        while row_at(store, other).next != number:
            other = row_at(store, other).next
        row_at(store, other).next = row.next
    row.next = store.spare_row[row.variable]
    store.spare_row[row.variable] = number
    row.variable = NO_VARIABLE
    store.row_count -= 1
    node_release(store, holder)


cdef inline void row_release(Store* store, int32_t number) noexcept nogil:
    """Closes a row that neither qualifies nor has edges, and frees it unless one of its unary patterns still holds."""
    cdef Row* row = row_at(store, number)
    cdef Node* node
    cdef int i, variable = row.variable
    if row.edges:
        return
    if store.unary[variable]:
        if row.until > store.now:
            return
        if row.open:
            row.open = 0
            node = node_at(store, row.node)
            node.s_open &= ~store.s_views[variable]
            node.o_open &= ~store.o_views[variable]
        for i in range(store.unary[variable]):
            if ends_of(store, row)[i] > store.now:
                return
        for i in range(store.unary[variable]):
            if ends_of(store, row)[i] != NEVER:
                store.held[store.unary_view[variable][i]] -= 1
    row_free(store, number)


# Lists

cdef inline void list_fit(Store* store, List* lst, int64_t capacity) noexcept nogil:
    """Moves a list into an array of another capacity, 0 for none."""
    cdef Entry* entries = NULL
    cdef int32_t i
    if capacity > SHELVED and lst.capacity > SHELVED:
        store.shelf.large += (capacity - lst.capacity) * <int64_t>sizeof(Entry)
        entries = <Entry*>block_resize(lst.entries, lst.capacity * sizeof(Entry), capacity * sizeof(Entry))
    else:
        if capacity:
            entries = <Entry*>shelf_take(&store.shelf, capacity)
            for i in range(lst.size):
                entries[i] = lst.entries[i]
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


# Edges

cdef inline uint32_t pair_hash(int64_t a, int64_t b) noexcept nogil:
    """Of two ids; `kind_hash` sets views, or relations, apart."""
    cdef uint64_t x = <uint64_t>a, y = <uint64_t>b
    return fold((x ^ (x >> 32)) * <uint64_t>0xD6E8FEB86659FD93 + (y ^ (y >> 32)) * <uint64_t>0xC2B2AE3D27D4EB4F)


cdef inline uint32_t kind_hash(uint32_t hash, int kind) noexcept nogil:
    return hash + <uint32_t>kind * <uint32_t>0x9E3779B1


cdef inline int64_t s_of(Store* store, Edge* edge) noexcept nogil:
    """What names the edge's s: a row, or a bare id."""
    return edge.s.id if (store.s_bare >> edge.view) & 1 else edge.s.place.row


cdef inline int64_t o_of(Store* store, Edge* edge) noexcept nogil:
    return edge.o.id if (store.o_bare >> edge.view) & 1 else edge.o.place.row


cdef inline uint32_t edge_hash(Store* store, Edge* edge) noexcept nogil:
    cdef int64_t a = edge.s.id if (store.s_bare >> edge.view) & 1 else row_at(store, edge.s.place.row).id
    cdef int64_t b = edge.o.id if (store.o_bare >> edge.view) & 1 else row_at(store, edge.o.place.row).id
    return kind_hash(pair_hash(a, b), edge.view)


cdef inline int32_t edge_find(Store* store, int view, int64_t s, int64_t o, uint32_t hash) noexcept nogil:
    """An edge by its rows, or ids where bare, and the hash of its two ids."""
    cdef Index* index = &store.edge_index[store.long_lived[view]]
    cdef Probe found = probe(index, kind_hash(hash, view))
    cdef int32_t number
    cdef Edge* edge
    while True:
        number = probe_next(index, &found)
        if number < 0:
            return -1
        edge = edge_at(store, number)
        if edge.view == view and s_of(store, edge) == s and o_of(store, edge) == o:
            return number


cdef inline void edge_list(Store* store, int32_t number) noexcept nogil:
    """Enters an edge into the lists that do not hold it, with its end in those that do."""
    cdef Edge* edge = edge_at(store, number)
    cdef int view = edge.view
    cdef bint s_bare = (store.s_bare >> view) & 1, o_bare = (store.o_bare >> view) & 1
    cdef Row* row
    cdef Entry entry
    cdef List* lst
    entry.edge = number
    entry.until = edge.until
    if not s_bare:
        row = row_at(store, edge.s.place.row)
        lst = lists_of(row) + store.s_slot[view]
        entry.row = -1 if o_bare else edge.o.place.row
        if edge.s.place.at < 0:
            edge.s.place.at = list_add(store, row, lst, entry)
        else:
            lst.entries[edge.s.place.at].until = edge.until
    if not o_bare:
        row = row_at(store, edge.o.place.row)
        lst = lists_of(row) + store.o_slot[view]
        entry.row = -1 if s_bare else edge.s.place.row
        if edge.o.place.at < 0:
            edge.o.place.at = list_add(store, row, lst, entry)
        else:
            lst.entries[edge.o.place.at].until = edge.until


cdef inline void edge_extend(Store* store, int32_t number, int64_t until) noexcept nogil:
    """Gives a stored edge, live or dead, a later end."""
    edge_at(store, number).until = until
    edge_list(store, number)
    note(store, edge_at(store, number).view, until, number, EDGE_NOTE)


cdef inline void edge_add(Store* store, int view, int64_t s, int64_t o, int64_t until) noexcept nogil:
    cdef int32_t number = record_new(&store.edges, sizeof(Edge))
    cdef Edge* edge = edge_at(store, number)
    edge.view = view
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
    index_put(&store.edge_index[store.long_lived[view]], edge_hash(store, edge), number)
    if store.held[view] == 0:
        store.empty_views -= 1
    store.held[view] += 1
    edge_extend(store, number, until)


cdef inline void edge_remove(Store* store, int32_t number) noexcept nogil:
    cdef Edge* edge = edge_at(store, number)
    cdef Row* row
    cdef int view = edge.view
    cdef int32_t s = -1, o = -1
    index_drop(&store.edge_index[store.long_lived[view]], edge_hash(store, edge), number)
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
