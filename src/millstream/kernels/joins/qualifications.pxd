"""Qualifications of rows by unary patterns, and how everything expires.

A row opens when all its unary patterns hold; what waited for it is then settled (dangling.pxd, waiting.pxd). What dies does
so by a note of its end on the agenda: edges, waiting pairs and unary patterns alike. A note may be late or speak of what is
gone, or lasts longer by now: it removes only what is dead.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

from millstream.kernels.containers.agenda cimport CHUNK_NOTES, NEVER, Note, Queue, agenda_pop
from millstream.kernels.containers.hash_index cimport fold, prefetch, prefetch_slot
from millstream.kernels.joins.dangling cimport admit_dangling
from millstream.kernels.joins.edges cimport edge_remove
from millstream.kernels.joins.store cimport (
    AT_O, AT_S, EDGE_NOTE, NO_VARIABLE, UNARY_NOTE, WAIT_NOTE, Edge, Node, Row, Store, edge_at, ends_of, node_at,
    row_at, row_release, wait_at,
)
from millstream.kernels.joins.waiting cimport settle, wait_remove

cdef enum:
    EDGE_AHEAD = 12             # notes ahead in a lane: fetch the edge
    ROWS_AHEAD = 8              # notes ahead: fetch the edge's rows
    NODES_AHEAD = 4             # notes ahead: fetch the nodes of these rows, which may be free then


cdef inline int64_t least_end(Store* store, Row* row) noexcept nogil:
    cdef int64_t* ends = ends_of(store, row)
    cdef int64_t least = ends[0]
    cdef int i
    for i in range(1, store.unary[row.variable]):
        least = min(least, ends[i])
    return least


cdef inline void row_open(Store* store, int32_t number) noexcept nogil:
    """Lets edges come to a row, those that waited for it first."""
    cdef Row* row = row_at(store, number)
    cdef int64_t node_number = row.node
    cdef int variable = row.variable
    cdef Node* node = node_at(store, node_number)
    cdef int32_t waiting, following
    row.open = 1
    node.s_open |= store.s_views[variable]
    node.o_open |= store.o_views[variable]
    waiting = node.s_waiting if store.s_views[variable] else -1
    while waiting >= 0:
        following = wait_at(store, waiting).s_next
        settle(store, waiting)
        waiting = following
    waiting = node_at(store, node_number).o_waiting if store.o_views[variable] else -1
    while waiting >= 0:
        following = wait_at(store, waiting).o_next
        settle(store, waiting)
        waiting = following
    admit_dangling(store, <int32_t>node_number, AT_S, store.s_views[variable])
    admit_dangling(store, <int32_t>node_number, AT_O, store.o_views[variable])


# Expiry

cdef inline Edge* edge_ahead(Store* store, int32_t notes) noexcept nogil:
    """The edge of which a note speaks that is so far behind the next one in its lane; NULL for anything else."""
    cdef Queue* queue = &store.agenda.lanes[store.agenda.next_lane]
    cdef int32_t end = queue.last if queue.head == queue.tail else CHUNK_NOTES
    if queue.first + notes >= end or queue.head.notes[queue.first + notes].kind != EDGE_NOTE:
        return NULL
    return edge_at(store, queue.head.notes[queue.first + notes].number)


cdef inline void fetch_node(Store* store, const Row* row) noexcept nogil:
    """Fetches a row's node, and where the index has it."""
    prefetch(node_at(store, row.node))
    prefetch_slot(&store.node_index, fold(<uint64_t>row.id))


cdef inline void fetch_due(Store* store) noexcept nogil:
    """Fetches what the notes behind the next one speak of: the edge of one, the rows of another whose edge was fetched
    before, the nodes of one whose rows were."""
    cdef Edge* edge
    if store.agenda.next_lane < 0:
        return
    edge = edge_ahead(store, EDGE_AHEAD)
    if edge != NULL:
        prefetch(edge)
    edge = edge_ahead(store, ROWS_AHEAD)
    if edge != NULL and edge.view >= 0:
        if not (store.s_bare >> edge.view) & 1:
            prefetch(row_at(store, edge.s.place.row))
        if not (store.o_bare >> edge.view) & 1:
            prefetch(row_at(store, edge.o.place.row))
    edge = edge_ahead(store, NODES_AHEAD)
    if edge != NULL and edge.view >= 0:
        if not (store.s_bare >> edge.view) & 1:
            fetch_node(store, row_at(store, edge.s.place.row))
        if not (store.o_bare >> edge.view) & 1:
            fetch_node(store, row_at(store, edge.o.place.row))


cdef inline void expire(Store* store, int64_t most) noexcept nogil:
    """Removes what died by now, after at most so many notes."""
    cdef Note due
    cdef Row* row
    cdef int place
    while most > 0 and store.agenda.next_tick <= store.now:
        most -= 1
        due = agenda_pop(&store.agenda)
        fetch_due(store)
        if due.kind == EDGE_NOTE:
            if edge_at(store, due.number).view >= 0 and edge_at(store, due.number).until <= store.now:
                edge_remove(store, due.number)
        elif due.kind == WAIT_NOTE:
            if wait_at(store, due.number).views and wait_at(store, due.number).until <= store.now:
                wait_remove(store, due.number)
        else:
            row = row_at(store, due.number)
            place = due.kind - UNARY_NOTE
            if row.variable == NO_VARIABLE:
                continue
            if NEVER < ends_of(store, row)[place] <= store.now:
                ends_of(store, row)[place] = NEVER
                store.held[store.unary_view[row.variable][place]] -= 1
                row.until = NEVER
                row_release(store, due.number)
