"""What a join stores: nodes, rows with lists, and edges.

A *node* is an id that occurs somewhere. A *row* is a (variable, node): 32 bytes, then one list for every binary pattern at
the variable, then the end of each of its unary patterns. Rows of one node are chained, so one hash lookup finds them all. A
list entry (neighbour's row, edge, until) points at rows: enumerating does not hash. An *edge* is an admitted pair of one
view; `s` and `o` say where it stands in the two lists. A variable with one binary pattern and no unary one is *bare*: it has
neither rows nor nodes, the edge holds the id itself.

    node --> row (x, node) --> row (y, node) ...
               | until, id, lists[degree], ends[unary patterns]
               +-- list --> (row, edge, until) (row, edge, until) ...      in no order
                                   edge: s = (row, place), o = (row, place), until, view

Invariants
- `Row.edges` counts the edges at a row; `Row.filled` its lists that are not empty. A dead entry may leave a list before its
  edge goes: then the edge's place there is -1.
- `Row.until` is the least end of the row's unary patterns, FOREVER without any: the row qualifies while it lies ahead.
- A row is *open* from its qualification until it neither qualifies nor has edges. `Node.s_open`, `Node.o_open`: the views
  that may take an edge from (to) this node because its row is open. A pair is an edge exactly if both its ends are open or
  need no qualification; otherwise it waits (dangling.pxd, waiting.pxd).
- `Node.uses` counts rows, pairs on its chains and pins; a node without any is freed. Freed records have id, variable or view
  -1 (255), or no views.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from millstream.kernels.containers.agenda cimport FOREVER, NEVER, Agenda, Note, agenda_bytes, agenda_close, agenda_put
from millstream.kernels.containers.chunked cimport Chunked, chunked_at
from millstream.kernels.containers.hash_index cimport (
    Index, Probe, fold, index_bytes, index_close, index_drop, index_put, probe, probe_next,
)
from millstream.kernels.containers.memory cimport (
    SHELVED, Shelf, block_free, block_new, block_resize, larger_capacity, shelf_close, shelf_give, shelf_take,
    smaller_capacity,
)
from millstream.kernels.containers.records cimport Records, record_free, record_new

cdef extern from *:
    int trailing_zeros "__builtin_ctzll"(unsigned long long) noexcept nogil
    bint unlikely(bint) noexcept nogil          # keeps what is rare out of the way of what is not

cdef enum:
    MOST = 64                   # patterns, variables
    UNIT = 16                   # rows are counted in units of so many bytes
    NO_VARIABLE = 255
    EDGE_NOTE = 0
    WAIT_NOTE = 1
    UNARY_NOTE = 2              # plus the place of the unary pattern in its row
    AT_S = 0                    # which end of a pair
    AT_O = 1


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


cdef struct Dangling:
    int64_t id                  # of the end where it does not wait
    uint64_t views              # for which it waits; 0: free
    int32_t next                # on the same chain
    int32_t prev                # where the chain is indexed
    int32_t node                # where it waits
    int32_t side


cdef struct Node:
    # One line of the cache.
    int64_t id
    uint64_t s_open
    uint64_t o_open
    int32_t dangling[2]         # the first pair that dangles here of which this is s, or o; -1
    int32_t dangles[2]          # how many
    int32_t uses                # -1: free
    int32_t s_waiting
    int32_t o_waiting
    int32_t rows
    uint8_t indexed[2]          # chains of dangling pairs
    uint8_t unused[6]


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
    uint32_t hash               # in the index, 0 if it is not there; of a free edge, the next one


cdef struct Wait:
    int64_t a                   # the ids of its ends
    int64_t b
    int64_t until
    uint64_t views
    int32_t s_node              # on whose chains it hangs, -1 for none
    int32_t o_node
    int32_t s_next
    int32_t s_prev
    int32_t o_next
    int32_t o_prev
    int32_t relation
    uint32_t hash               # in the index, 0 if it is logged


cdef struct Target:
    # What a row names by its view: a pattern, or all patterns of a relation.
    uint64_t views
    uint64_t others             # that follow in rows of the same pair are taken with it
    int32_t first
    int32_t relation
    bint unary
    bint s_node                 # whether views of the relation need a node for s
    bint o_node
    bint qualified              # whether some ask for a qualification
    bint long_lived
    bint lasting                # whether pairs that stay are inserted many at a time


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
    Target targets[2 * MOST]    # of each pattern, then of the relation of each pattern
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
    Chunked dangling
    int32_t spare_row[MOST]     # free rows by variable
    int64_t row_count
    Index node_index
    Index edge_index[2]         # of views in lanes; of the long-lived ones, so that these do not spread the former
    Index wait_index[2]
    Index dangling_index        # of pairs on long chains
    Shelf shelf
    Agenda agenda
    int64_t now
    int64_t held[MOST]          # edges of a view, or unary ends: dead ones not yet removed included
    int64_t logged[MOST]        # waiting pairs of a relation that are not indexed
    int empty_views             # binary views without an edge


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


cdef inline Dangling* dangling_at(Store* store, int32_t number) noexcept nogil:
    return <Dangling*>chunked_at(&store.dangling, number)


cdef inline void note(Store* store, int view, int64_t until, int32_t number, int32_t kind) noexcept nogil:
    cdef Note entered
    if until < FOREVER:
        entered.tick = until
        entered.number = number
        entered.kind = kind
        agenda_put(&store.agenda, store.lane[view], entered)


# Nodes

cdef inline int32_t node_find_old(Store* store, int64_t id, uint32_t hash) noexcept nogil:
    """As node_find, while the index is being drained into a new table."""
    cdef Probe found = probe(&store.node_index, hash)
    cdef int32_t number
    while True:
        number = probe_next(&store.node_index, &found)
        if number < 0 or node_at(store, number).id == id:
            return number


cdef inline int32_t node_find(Store* store, int64_t id, uint32_t hash) noexcept nogil:
    # Two for every row fed: worth a loop of its own for the table that is mostly alone.
    cdef uint64_t* slots = store.node_index.slots
    cdef uint64_t mask = store.node_index.mask, at = hash & mask, slot
    while True:
        slot = slots[at]
        if slot == 0:
            break
        if <uint32_t>(slot >> 32) == hash and node_at(store, <uint32_t>slot - 1).id == id:
            return <int32_t>(<uint32_t>slot - 1)
        at = (at + 1) & mask
    return -1 if not unlikely(store.node_index.old != NULL) else node_find_old(store, id, hash)


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
        node.dangling[AT_S] = -1
        node.dangling[AT_O] = -1
        node.dangles[AT_S] = 0
        node.dangles[AT_O] = 0
        node.indexed[AT_S] = False
        node.indexed[AT_O] = False
        index_put(&store.node_index, hash, number)
    return number


cdef inline void node_free(Store* store, int64_t number) noexcept nogil:
    cdef Node* node = node_at(store, number)
    index_drop(&store.node_index, fold(<uint64_t>node.id), <int32_t>number)
    node.id = -1
    node.uses = -1
    record_free(&store.nodes, sizeof(Node), <int32_t>number)


cdef inline void node_drop(Store* store, int64_t number) noexcept nogil:
    """Frees a node that is not used, unless that was done."""
    if unlikely(node_at(store, number).uses == 0):
        node_free(store, number)


cdef inline void node_release(Store* store, int64_t number) noexcept nogil:
    node_at(store, number).uses -= 1
    node_drop(store, number)


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
