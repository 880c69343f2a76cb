"""How a pattern is laid out in a store: slots, which ends need what, and what a row of input names.

A variable is *free* without unary patterns, *bare* if it moreover has one binary pattern only, a *leaf* with one binary
pattern. A *relation* is the views that take the same pairs and live in one lane: a pair that waits, waits once for all of
them.
"""

from libc.stdint cimport uint64_t

from millstream.kernels.containers.agenda cimport agenda_open
from millstream.kernels.joins.store cimport Store, Target


cdef inline lay_out(Store* store, table, lane_of, int variables):
    """Slots of patterns in rows, and which ends are free, bare or leaves."""
    cdef int view, x, y
    cdef uint64_t bit
    store.views = len(table)
    store.variables = variables
    for x in range(variables):
        store.spare_row[x] = -1
    for view in range(store.views):
        x, y = table[view]
        bit = <uint64_t>1 << view
        store.s_variable[view] = x
        store.o_variable[view] = y
        store.lane[view] = lane_of[view]
        store.long_lived[view] = lane_of[view] < 0
        if y < 0:
            store.s_slot[view] = store.unary[x]
            store.unary_view[x][store.unary[x]] = view
            store.unary[x] += 1
            continue
        store.s_slot[view] = store.degree[x]
        store.degree[x] += 1
        store.o_slot[view] = store.degree[y]
        store.degree[y] += 1
        store.incident[x] |= bit
        store.incident[y] |= bit
        store.s_views[x] |= bit
        store.o_views[y] |= bit
        store.empty_views += 1
    for view in range(store.views):
        x, y = table[view]
        bit = <uint64_t>1 << view
        if y < 0:
            continue
        if store.unary[x] == 0:
            store.s_free |= bit
        if store.unary[y] == 0:
            store.o_free |= bit
        if store.unary[x] == 0 and store.degree[x] == 1:
            store.s_bare |= bit
        if store.unary[y] == 0 and store.degree[y] == 1:
            store.o_bare |= bit
        if store.degree[x] == 1 or store.degree[y] == 1:
            store.leaf |= bit
    check_connected(store)
    agenda_open(&store.agenda, int(lane_of.max()) + 1)


cdef inline check_connected(Store* store):
    cdef int view, x, y
    reached = {store.s_variable[0]}
    grown = True
    while grown:
        before = len(reached)
        for view in range(store.views):
            x = store.s_variable[view]
            y = store.o_variable[view]
            if y >= 0 and (x in reached or y in reached):
                reached |= {x, y}
        grown = len(reached) > before
    if len(reached) != store.variables:
        raise ValueError("the pattern is not connected, or a variable is in no pattern")


cdef inline group(Store* store, table, lane_of, relations):
    """Numbers the relations: views that take the same pairs and live in one lane."""
    cdef int view, number
    cdef Target* target
    if len(relations) != store.views:
        raise ValueError("there is one relation for each pattern")
    numbers = {}
    for view in range(store.views):
        # A unary pattern is a relation of its own.
        key = (int(relations[view]), int(lane_of[view])) if table[view, 1] >= 0 else (view, None)
        number = numbers.setdefault(key, len(numbers))
        store.relation[view] = number
        store.relation_views[number] |= <uint64_t>1 << view
        store.relation_long_lived[number] = store.long_lived[view]
    for number in range(len(numbers)):
        store.s_id[number] = store.relation_views[number] & ~store.s_bare == 0
        store.o_id[number] = store.relation_views[number] & ~store.o_bare == 0
    for view in range(store.views):
        number = store.relation[view]
        target = &store.targets[view]
        target.first = view
        target.relation = number
        target.unary = table[view, 1] < 0
        target.views = <uint64_t>1 << view
        target.others = store.relation_views[number] & ~target.views
        target.s_node = not store.s_id[number]
        target.o_node = not target.unary and not store.o_id[number]
        target.qualified = not target.unary and store.relation_views[number] & ~(store.s_free & store.o_free) != 0
        target.long_lived = store.relation_long_lived[number]
        lasting = target.long_lived and target.qualified and target.s_node and target.o_node
        target.lasting = lasting and target.others == 0
        store.targets[store.views + view] = target[0]
        store.targets[store.views + view].views |= target.others
        store.targets[store.views + view].others = 0
        store.targets[store.views + view].lasting = lasting
