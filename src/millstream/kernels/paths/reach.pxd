"""What a closure stores: nodes, edges between them, and which source reaches which node.

A *node* is an id under its tags. An *edge* stands in a chain of its start, and in one of its end. A *pair* (source, node)
says that there is a path of at least one edge; `Pair.edge` is the last edge of such a path. The pairs of one source make
a tree: from a pair, over the starts of edges, one comes to the source, so a source is reached by itself without a pair,
and a pair (n, n) is a cycle and has nothing below it in the tree.

    edge (u, v) --> users: the pairs at v whose last edge this is
    node v      --> used: its edges that have users; so users of used edges are the pairs at v, the sources that reach it
    node s      --> pairs: the pairs of which it is the source

Chains are doubly linked by record numbers, -1 ends them.

Invariants
- Between changes every pair is REACHED, and SHOWN where it is in the output; shown pairs (n, n) are told by the node.
- A pair that is not REACHED is in the index only: it is kept until the end of the change, when it is freed unless it came
  back.
- An edge is LINKED while its weight is positive; otherwise it is TOUCHED, and freed in the course of the change.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from millstream.kernels.containers.hash_index cimport (
    Index, Probe, fold, index_bytes, index_close, index_drop, index_open, index_put, mix, probe, probe_next,
)
from millstream.kernels.containers.keyed cimport (
    Keyed, keyed_bytes, keyed_close, keyed_drop, keyed_get, keyed_hash, keyed_open,
)
from millstream.kernels.containers.memory cimport block_free
from millstream.kernels.containers.records cimport Records, record_free, record_new

cdef enum:
    MOST_TAGS = 2
    REACHED = 1                 # flags of pairs
    SHOWN = 2                   # of pairs and nodes
    DOUBTED = 4
    LOGGED = 8
    TOUCHED = 16                # of nodes and edges
    SOURCE = 32                 # of nodes that are asked for
    LINKED = 64                 # of edges


cdef struct Link:
    int32_t next
    int32_t previous


cdef struct Node:
    int64_t ids[MOST_TAGS + 1]  # the key: the id, then its tags
    int64_t present             # how often it is given as a node, by itself
    int64_t asked
    int32_t out                 # chains of edges
    int32_t into
    int32_t used
    int32_t into_count
    int32_t pairs               # chain of pairs
    int32_t pair_count
    int32_t flags
    int32_t free


cdef struct Edge:
    Link out
    Link into
    Link used
    int64_t weight
    int32_t start
    int32_t end
    int32_t users               # chain of pairs
    int32_t flags               # of a free edge, the next one


cdef struct Pair:
    Link user
    Link reached                # among the pairs of the source
    int32_t source
    int32_t node
    int32_t edge
    int32_t flags               # of a free pair, the next one


cdef struct Reach:
    Keyed nodes
    Records edges
    Records pairs
    Index edge_index
    Index pair_index


cdef inline void reach_open(Reach* reach) noexcept nogil:
    reach.edges.free = -1
    reach.pairs.free = -1
    keyed_open(&reach.nodes, MOST_TAGS + 1, sizeof(Node) // sizeof(int64_t) - (MOST_TAGS + 1))
    index_open(&reach.edge_index)
    index_open(&reach.pair_index)


cdef inline void reach_close(Reach* reach) noexcept nogil:
    keyed_close(&reach.nodes)
    block_free(reach.edges.data, reach.edges.capacity * sizeof(Edge))
    block_free(reach.pairs.data, reach.pairs.capacity * sizeof(Pair))
    index_close(&reach.edge_index)
    index_close(&reach.pair_index)


cdef inline int64_t reach_bytes(Reach* reach) noexcept nogil:
    return (keyed_bytes(&reach.nodes) + <int64_t>(reach.edges.capacity * sizeof(Edge) + reach.pairs.capacity * sizeof(Pair))
            + index_bytes(&reach.edge_index) + index_bytes(&reach.pair_index))


cdef inline Node* node_at(Reach* reach, int32_t number) noexcept nogil:
    return (<Node*>reach.nodes.records.data) + number


cdef inline Edge* edge_at(Reach* reach, int32_t number) noexcept nogil:
    return (<Edge*>reach.edges.data) + number


cdef inline Pair* pair_at(Reach* reach, int32_t number) noexcept nogil:
    return (<Pair*>reach.pairs.data) + number


# Chains. `first` is the link of record 0, so that the links of all others are found from it.

cdef inline Link* link_at(Link* first, int64_t bytes_each, int32_t number) noexcept nogil:
    return <Link*>((<char*>first) + number * bytes_each)


cdef inline void chain(Link* first, int64_t bytes_each, int32_t* head, int32_t number) noexcept nogil:
    cdef Link* link = link_at(first, bytes_each, number)
    link.next = head[0]
    link.previous = -1
    if head[0] >= 0:
        link_at(first, bytes_each, head[0]).previous = number
    head[0] = number


cdef inline void unchain(Link* first, int64_t bytes_each, int32_t* head, int32_t number) noexcept nogil:
    cdef Link* link = link_at(first, bytes_each, number)
    if link.next >= 0:
        link_at(first, bytes_each, link.next).previous = link.previous
    if link.previous >= 0:
        link_at(first, bytes_each, link.previous).next = link.next
    else:
        head[0] = link.next


# Nodes

cdef inline int32_t node_of(Reach* reach, int64_t* ids) noexcept nogil:
    """The node with these ids, made if there is none."""
    cdef int64_t live = reach.nodes.records.live
    cdef int32_t number = keyed_get(&reach.nodes, ids, keyed_hash(&reach.nodes, ids))
    cdef Node* node = node_at(reach, number)
    if reach.nodes.records.live > live:
        node.out = node.into = node.used = node.pairs = -1
    return number


cdef inline void node_forget(Reach* reach, int32_t number) noexcept nogil:
    keyed_drop(&reach.nodes, number)


# Edges

cdef inline uint32_t two_hash(int32_t first, int32_t second) noexcept nogil:
    return fold(mix((<uint64_t><uint32_t>first << 32) | <uint32_t>second))


cdef inline int32_t edge_find(Reach* reach, int32_t start, int32_t end) noexcept nogil:
    cdef Probe found = probe(&reach.edge_index, two_hash(start, end))
    cdef int32_t number
    while True:
        number = probe_next(&reach.edge_index, &found)
        if number < 0 or (edge_at(reach, number).start == start and edge_at(reach, number).end == end):
            return number


cdef inline int32_t edge_new(Reach* reach, int32_t start, int32_t end) noexcept nogil:
    """An edge of weight 0, not linked."""
    cdef int32_t number = record_new(&reach.edges, sizeof(Edge))
    cdef Edge* edge = edge_at(reach, number)
    edge.start = start
    edge.end = end
    edge.users = -1
    edge.weight = 0
    edge.flags = 0
    index_put(&reach.edge_index, two_hash(start, end), number)
    return number


cdef inline void edge_forget(Reach* reach, int32_t number) noexcept nogil:
    cdef Edge* edge = edge_at(reach, number)
    index_drop(&reach.edge_index, two_hash(edge.start, edge.end), number)
    record_free(&reach.edges, sizeof(Edge), number)


cdef inline void edge_link(Reach* reach, int32_t number) noexcept nogil:
    cdef Edge* edges = edge_at(reach, 0)
    cdef Edge* edge = edges + number
    edge.flags |= LINKED
    chain(&edges.out, sizeof(Edge), &node_at(reach, edge.start).out, number)
    chain(&edges.into, sizeof(Edge), &node_at(reach, edge.end).into, number)
    node_at(reach, edge.end).into_count += 1


cdef inline void edge_unlink(Reach* reach, int32_t number) noexcept nogil:
    """Takes an edge out of the graph; its users still have it."""
    cdef Edge* edges = edge_at(reach, 0)
    cdef Edge* edge = edges + number
    edge.flags &= ~LINKED
    unchain(&edges.out, sizeof(Edge), &node_at(reach, edge.start).out, number)
    unchain(&edges.into, sizeof(Edge), &node_at(reach, edge.end).into, number)
    node_at(reach, edge.end).into_count -= 1


# Pairs

cdef inline int32_t pair_find(Reach* reach, int32_t source, int32_t node) noexcept nogil:
    cdef Probe found = probe(&reach.pair_index, two_hash(source, node))
    cdef int32_t number
    while True:
        number = probe_next(&reach.pair_index, &found)
        if number < 0 or (pair_at(reach, number).source == source and pair_at(reach, number).node == node):
            return number


cdef inline void user_link(Reach* reach, int32_t number, int32_t edge_number) noexcept nogil:
    """Makes an edge the last one of a pair that has none."""
    cdef Pair* pairs = pair_at(reach, 0)
    cdef Edge* edges = edge_at(reach, 0)
    cdef Edge* edge = edges + edge_number
    if edge.users < 0:
        chain(&edges.used, sizeof(Edge), &node_at(reach, edge.end).used, edge_number)
    chain(&pairs.user, sizeof(Pair), &edge.users, number)
    pairs[number].edge = edge_number


cdef inline void user_unlink(Reach* reach, int32_t number) noexcept nogil:
    cdef Pair* pairs = pair_at(reach, 0)
    cdef Edge* edges = edge_at(reach, 0)
    cdef int32_t edge_number = pairs[number].edge
    cdef Edge* edge = edges + edge_number
    unchain(&pairs.user, sizeof(Pair), &edge.users, number)
    if edge.users < 0:
        unchain(&edges.used, sizeof(Edge), &node_at(reach, edge.end).used, edge_number)


cdef inline int32_t pair_new(Reach* reach, int32_t source, int32_t node) noexcept nogil:
    """A pair that is not reached yet."""
    cdef int32_t number = record_new(&reach.pairs, sizeof(Pair))
    cdef Pair* pair = pair_at(reach, number)
    pair.source = source
    pair.node = node
    pair.flags = 0
    index_put(&reach.pair_index, two_hash(source, node), number)
    return number


cdef inline void pair_forget(Reach* reach, int32_t number) noexcept nogil:
    cdef Pair* pair = pair_at(reach, number)
    index_drop(&reach.pair_index, two_hash(pair.source, pair.node), number)
    record_free(&reach.pairs, sizeof(Pair), number)


cdef inline void pair_enter(Reach* reach, int32_t number, int32_t edge_number) noexcept nogil:
    """Makes a pair reached, over this edge."""
    cdef Pair* pairs = pair_at(reach, 0)
    cdef Node* source = node_at(reach, pairs[number].source)
    pairs[number].flags |= REACHED
    chain(&pairs.reached, sizeof(Pair), &source.pairs, number)
    source.pair_count += 1
    user_link(reach, number, edge_number)


cdef inline void pair_leave(Reach* reach, int32_t number) noexcept nogil:
    cdef Pair* pairs = pair_at(reach, 0)
    cdef Node* source = node_at(reach, pairs[number].source)
    pairs[number].flags &= ~(REACHED | DOUBTED)
    unchain(&pairs.reached, sizeof(Pair), &source.pairs, number)
    source.pair_count -= 1
    user_unlink(reach, number)
