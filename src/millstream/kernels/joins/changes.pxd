"""What a change of a view does: to qualifications, to pairs that are edges, and to pairs that wait.

The ends of a pair are nodes, or ids where no view of its relation needs a node. Changes of a batch are looked at a block
ahead, so that what they will touch is on its way from memory; what was found then may be gone, or another's, when the change
is made.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from millstream.kernels.containers.agenda cimport FOREVER, NEVER
from millstream.kernels.containers.hash_index cimport fold, prefetch, prefetch_slot
from millstream.kernels.joins.admission cimport o_ready, place_o, place_s, s_ready
from millstream.kernels.joins.dangling cimport dangle, dangling_end
from millstream.kernels.joins.edges cimport edge_add, edge_extend, edge_find, edge_remove
from millstream.kernels.joins.matching cimport Matcher, finish, match_edge, match_row
from millstream.kernels.joins.qualifications cimport least_end, row_open
from millstream.kernels.joins.store cimport (
    AT_O, AT_S, UNARY_NOTE, Node, Store, Target, Wait, edge_at, ends_of, node_at, node_drop, node_find, node_get,
    node_release, note, row_at, row_find, row_get, row_release, trailing_zeros, unlikely, wait_at,
)
from millstream.kernels.joins.waiting cimport wait_end, wait_hash, wait_put

cdef enum:
    AHEAD = 32                  # changes whose nodes are found, and what hangs on these asked for, before their turn
    NEAR = 1 << 13              # slots of an index that is at hand without being asked for


cdef struct Change:
    int64_t a
    int64_t b
    int64_t until
    int64_t number
    bint inserted
    int32_t s_node              # as found ahead, or -1
    int32_t o_node
    uint32_t hash               # among waiting pairs, or 0 if not known


cdef struct Ahead:
    int32_t s_node[AHEAD]
    int32_t o_node[AHEAD]
    uint32_t hash[AHEAD]


cdef inline void pin(Store* store, int32_t node, int32_t uses) noexcept nogil:
    """Keeps a node, if there is one, from being freed; or (-1) no longer, the caller then sees to that."""
    if node >= 0:
        node_at(store, node).uses += uses


cdef inline int32_t node_if(Store* store, int64_t id, int32_t found) noexcept nogil:
    """The node of an id, the one found ahead if it still is that, or -1."""
    if found >= 0 and node_at(store, found).id == id:
        return found
    return node_find(store, id, fold(<uint64_t>id))


cdef inline int32_t row_if(Store* store, int32_t node, int variable) noexcept nogil:
    return row_find(store, node, variable) if node >= 0 else -1


cdef inline void change_end(Matcher* matcher, int view, int32_t number, Change* change) noexcept nogil:
    """A change of a unary pattern at a node."""
    cdef Store* store = matcher.store
    cdef int variable = store.s_variable[view], place = store.s_slot[view]
    cdef int32_t row
    cdef int64_t* ends
    cdef int64_t old, new, first = matcher.size
    row = row_get(store, number, variable) if change.inserted else row_find(store, number, variable)
    if row < 0:
        return
    ends = ends_of(store, row_at(store, row))
    old = row_at(store, row).until
    if not change.inserted:
        if ends[place] <= store.now:
            return
        if old > store.now and not matcher.silent:
            match_row(matcher, row, store.now, old)
            finish(matcher, first, change.number, store.now, -1)
        ends[place] = NEVER
        store.held[view] -= 1
        row_at(store, row).until = NEVER
        row_release(store, row)
        return
    if ends[place] > store.now and ends[place] >= change.until:
        return
    if ends[place] == NEVER:
        store.held[view] += 1
    ends[place] = change.until
    note(store, view, change.until, row, UNARY_NOTE + place)
    new = least_end(store, row_at(store, row))
    row_at(store, row).until = new
    if new <= store.now or new == old:
        return
    if not row_at(store, row).open:
        row_open(store, row)
    if not matcher.silent:
        match_row(matcher, row, max(old, store.now), new)
        finish(matcher, first, change.number, max(old, store.now), 1)


cdef inline void change_edge(Matcher* matcher, int view, int64_t s, int64_t o, Change* change) noexcept nogil:
    """A change of a pair in a view whose qualifications it has; s and o are rows, or ids where bare."""
    cdef Store* store = matcher.store
    cdef int32_t number = edge_find(store, view, s, o)
    cdef int64_t old = NEVER, low = store.now, high = change.until, first = matcher.size
    if number >= 0:
        old = edge_at(store, number).until
    if not change.inserted:
        if old <= store.now:
            return
        high = old
    elif old > store.now:
        if old >= change.until:
            return
        low = old
    if not matcher.silent:
        match_edge(matcher, view, s, o, low, high)
        finish(matcher, first, change.number, low, 1 if change.inserted else -1)
    if not change.inserted:
        edge_remove(store, number)
    elif number >= 0:
        edge_extend(store, number, change.until)
    else:
        edge_add(store, view, s, o, change.until)


cdef inline int32_t node_of(Store* store, int64_t id, int32_t found) noexcept nogil:
    """The node of an id, the one found ahead if it still is that."""
    if unlikely(found < 0) or unlikely(node_at(store, found).id != id):
        found = node_get(store, id, fold(<uint64_t>id))
    return found


cdef inline void insert_pair(Matcher* matcher, Target* target, uint64_t views, Change* change) noexcept nogil:
    """A pair comes to several views of a relation."""
    cdef Store* store = matcher.store
    cdef int32_t s = -1, o = -1
    cdef uint64_t by_s = views, admitted, left
    cdef Wait waiting
    cdef int view
    if target.s_node:
        s = change.s_node
        # Not by node_of: a call here costs as much as all the rest of a pair that waits.
        if unlikely(s < 0) or unlikely(node_at(store, s).id != change.a):
            s = node_get(store, change.a, fold(<uint64_t>change.a))
        if target.qualified:
            by_s &= node_at(store, s).s_open | store.s_free
    admitted = by_s
    # Whose s lacks all that it needs has no need to know its o.
    if target.o_node and by_s:
        o = change.o_node
        if unlikely(o < 0) or unlikely(node_at(store, o).id != change.b):
            o = node_get(store, change.b, fold(<uint64_t>change.b))
        if target.qualified:
            admitted &= node_at(store, o).o_open | store.o_free
    left = views & ~admitted
    by_s &= left
    if left and target.long_lived and change.until == FOREVER:
        if left != by_s:
            dangle(store, s, AT_S, change.b, left & ~by_s)
        if by_s:
            dangle(store, o, AT_O, change.a, by_s)
    elif left:
        waiting.a = change.a
        waiting.b = change.b
        waiting.until = change.until
        waiting.views = left
        waiting.relation = target.relation
        waiting.hash = 0
        # What would stay for ever in a lane, and what ends without being in one, is said again and again.
        if target.long_lived or change.until == FOREVER:
            waiting.hash = change.hash if change.hash else wait_hash(target.relation, change.a, change.b)
            # Pinned: what waited before may be all that keeps them, and go.
            pin(store, s, 1)
            pin(store, o, 1)
        wait_put(store, &waiting, s, o, by_s)
        if waiting.hash:
            pin(store, s, -1)
            pin(store, o, -1)
    while admitted:
        view = trailing_zeros(admitted)
        admitted &= admitted - 1
        change_edge(matcher, view, place_s(store, view, change.a, s), place_o(store, view, change.b, o), change)
    # Nothing was removed on the way; but a view that holds the bare id makes no use of a node.
    if s >= 0:
        node_drop(store, s)
    if o >= 0:
        node_drop(store, o)


# Pairs that stay, many at a time

cdef inline int64_t lasting_first(Store* store, int64_t n, const int64_t* view, const int64_t* now, const int64_t* until,
                                  const int64_t* op) noexcept nogil:
    """How many of the first changes bring pairs that stay until they are deleted to the same views, nothing expiring."""
    cdef int64_t i, first = view[0], due = store.agenda.next_tick, differ = 0, negative = 0
    # Mostly all do: asked without a branch, in the bits and the sign.
    for i in range(n):
        differ |= (view[i] ^ first) | (until[i] ^ FOREVER)
        negative |= (op[i] - 1) | (due - 1 - now[i])
    if differ == 0 and negative >= 0:
        return n
    for i in range(n):
        if view[i] != first or op[i] <= 0 or until[i] != FOREVER or now[i] >= due:
            break
    return i


cdef inline void find_nodes(Store* store, int64_t n, const int64_t* ids, int32_t* found) noexcept nogil:
    """The nodes of some ids, -1 where there is none: found together, so that none waits for the memory of another."""
    cdef uint32_t hash[AHEAD]
    cdef int64_t i
    for i in range(n):
        hash[i] = fold(<uint64_t>ids[i])
        prefetch_slot(&store.node_index, hash[i])
    for i in range(n):
        found[i] = node_find(store, ids[i], hash[i])


cdef inline void insert_lasting(Matcher* matcher, Target* target, int64_t n, const int64_t* a, const int64_t* b,
                                const int64_t* now, const int64_t* change) noexcept nogil:
    """Up to AHEAD pairs that stay until they are deleted come to views that ask for qualifications, as insert_pair has it.

    Most pairs of a graph are such, and can only dangle. First all dangle for the views that lack the qualification of s,
    which concerns nothing else; what is left has to know its o."""
    cdef Store* store = matcher.store
    cdef int32_t s[AHEAD]
    cdef int32_t o[AHEAD]
    cdef int64_t ends[AHEAD]
    cdef int64_t left[AHEAD]
    cdef uint64_t ready[AHEAD]
    cdef uint64_t by_s, admitted
    cdef int64_t i, at, count = 0
    cdef Change one
    cdef int view
    find_nodes(store, n, a, s)
    for i in range(n):
        s[i] = node_of(store, a[i], s[i])
        by_s = target.views & (node_at(store, s[i]).s_open | store.s_free)
        if by_s != target.views:
            dangle(store, s[i], AT_S, b[i], target.views & ~by_s)
        ready[count] = by_s
        ends[count] = b[i]
        left[count] = i
        count += by_s != 0
    find_nodes(store, count, ends, o)
    for at in range(count):
        i = left[at]
        # What was not used yet may have been freed with a pair before this one.
        s[i] = node_of(store, a[i], s[i])
        o[at] = node_of(store, ends[at], o[at])
        admitted = ready[at] & (node_at(store, o[at]).o_open | store.o_free)
        if ready[at] != admitted:
            dangle(store, o[at], AT_O, a[i], ready[at] & ~admitted)
        one.a = a[i]
        one.b = ends[at]
        one.until = FOREVER
        one.number = change[i]
        one.inserted = True
        store.now = now[i]
        while admitted:
            view = trailing_zeros(admitted)
            admitted &= admitted - 1
            change_edge(matcher, view, place_s(store, view, one.a, s[i]), place_o(store, view, one.b, o[at]), &one)
        # A view that holds the bare id makes no use of a node.
        node_drop(store, s[i])
        node_drop(store, o[at])


cdef inline void end_pair(Matcher* matcher, int relation, uint64_t views, Change* change) noexcept nogil:
    """A pair leaves several views of a relation."""
    cdef Store* store = matcher.store
    cdef int32_t s = -1, o = -1
    cdef int64_t s_end, o_end
    cdef uint64_t admitted
    cdef int view
    if not store.s_id[relation]:
        s = node_if(store, change.a, change.s_node)
    if not store.o_id[relation]:
        o = node_if(store, change.b, change.o_node)
    # Pinned, because a removal on the way may free what the next view still needs.
    pin(store, s, 1)
    pin(store, o, 1)
    admitted = views & s_ready(store, s) & o_ready(store, o)
    if admitted != views:
        wait_end(store, relation, change.a, change.b, s, o, views & ~admitted)
        if s >= 0:
            dangling_end(store, s, AT_S, change.b, views & ~admitted)
        if o >= 0:
            dangling_end(store, o, AT_O, change.a, views & ~admitted)
    while admitted:
        view = trailing_zeros(admitted)
        admitted &= admitted - 1
        s_end = change.a if (store.s_bare >> view) & 1 else row_if(store, s, store.s_variable[view])
        o_end = change.b if (store.o_bare >> view) & 1 else row_if(store, o, store.o_variable[view])
        if s_end >= 0 and o_end >= 0:
            change_edge(matcher, view, s_end, o_end, change)
    pin(store, s, -1)
    pin(store, o, -1)
    if s >= 0:
        node_drop(store, s)
    if o >= 0:
        node_drop(store, o)


cdef inline void change_views(Matcher* matcher, Target* target, uint64_t views, Change* change) noexcept nogil:
    """A change of one view, or of several of a relation."""
    cdef Store* store = matcher.store
    cdef int32_t node
    if change.inserted and change.until <= store.now:
        return
    if target.unary:
        node = node_of(store, change.a, change.s_node)
        node_at(store, node).uses += 1
        change_end(matcher, target.first, node, change)
        node_release(store, node)
    elif change.inserted:
        insert_pair(matcher, target, views, change)
    else:
        end_pair(matcher, target.relation, views, change)


cdef inline int32_t look_at(Store* store, int64_t id, int side) noexcept nogil:
    """A node, or -1, and asks for what hangs on it."""
    cdef int32_t number = node_find(store, id, fold(<uint64_t>id))
    cdef int32_t waiting
    cdef Node* node
    if number >= 0:
        node = node_at(store, number)
        waiting = node.o_waiting if side else node.s_waiting
        if node.rows >= 0:
            prefetch(row_at(store, node.rows))
        if waiting >= 0:
            prefetch(wait_at(store, waiting))
    return number


cdef inline void look_ahead(Store* store, int64_t n, const int64_t* view, const int64_t* a, const int64_t* b,
                            const int64_t* until, Ahead* ahead) noexcept nogil:
    """Finds the nodes of up to AHEAD changes, and asks for what hangs on them; -1 where there is none, or none is needed as
    things are."""
    cdef int64_t i
    cdef Target* target
    if store.node_index.mask >= NEAR or store.node_index.old != NULL:
        for i in range(n):
            target = &store.targets[view[i]]
            if target.s_node:
                prefetch_slot(&store.node_index, fold(<uint64_t>a[i]))
            if target.o_node:
                prefetch_slot(&store.node_index, fold(<uint64_t>b[i]))
    for i in range(n):
        target = &store.targets[view[i]]
        ahead.s_node[i] = look_at(store, a[i], AT_S) if target.s_node else -1
        ahead.o_node[i] = -1
        if target.o_node and target.views & s_ready(store, ahead.s_node[i]):
            ahead.o_node[i] = look_at(store, b[i], AT_O)
        ahead.hash[i] = 0
        if target.qualified and not target.long_lived and until[i] == FOREVER:
            ahead.hash[i] = wait_hash(target.relation, a[i], b[i])
            prefetch_slot(&store.wait_index[target.long_lived], ahead.hash[i])
