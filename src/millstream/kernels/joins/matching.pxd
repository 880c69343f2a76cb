"""Enumerates the matches through one row or one edge, straight into output columns.

`at[x]` and `value[x]` are the row and the id bound to variable x, `bound` the set of bound variables, `frontier` the views
with exactly one bound end. All matches of a call begin at `low`; `high` is the end of the intersection so far. Every entry
is visible from the moment it was fed, so only ends count: an entry whose end is not after `low` is passed over, and one that
is dead by now leaves the list it was met in, so that a burst of expiries is paid for once.

At each depth the inner view with the shortest list goes first, views that close a cycle are checked as soon as both ends are
bound, and leaves (variables of degree 1) come last, the longest list innermost, in a tight loop. A row that lacks entries
for any of its views is passed over. A variable's column is filled when its subtree has been written: runs of equal values,
never row by row.

A leaf that is not visible and not filtered is counted instead of enumerated where all its entries outlast the match: the row
is written once, and its weight says how often. `times` is the product of such counts so far.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.joins.edges cimport edge_find, list_drop
from millstream.kernels.joins.filters cimport Filters, allowed, filtered
from millstream.kernels.joins.store cimport (
    MOST, Edge, Entry, List, Row, Store, edge_at, lists_of, row_at, trailing_zeros,
)

cdef enum:
    MORE_COLUMNS = 5
    CHANGE = 0                  # places of the further columns, after those of the visible variables
    START = 1
    UNTIL = 2
    WEIGHT = 3
    NOW = 4                     # the tick of the change


cdef struct Matcher:
    Store* store
    bint adaptive
    bint lazy
    bint silent                 # nothing is written
    Filters filters
    int column_of[MOST]         # of a visible variable, else -1
    int width                   # visible variables
    int64_t* columns[MOST + MORE_COLUMNS]
    int64_t size
    int64_t most                # rows; with as many or more, nothing further is looked for
    int64_t capacity
    uint64_t leaf               # views that lead to a leaf, from where the enumeration began
    uint64_t counted            # views with an end that is counted
    int64_t times
    int32_t at[MOST]
    int64_t value[MOST]


cdef inline void reserve(Matcher* matcher, int64_t more) noexcept nogil:
    cdef int64_t capacity
    cdef int column
    if matcher.size + more <= matcher.capacity:
        return
    capacity = max(matcher.size + more, matcher.capacity * 2)
    for column in range(matcher.width + MORE_COLUMNS):
        matcher.columns[column] = <int64_t*>block_resize(
            matcher.columns[column], matcher.capacity * sizeof(int64_t), capacity * sizeof(int64_t))
    matcher.capacity = capacity


cdef inline void fill(Matcher* matcher, int column, int64_t first, int64_t value) noexcept nogil:
    """Writes a value to a column from row `first` to the last."""
    cdef int64_t* target = matcher.columns[column]
    cdef int64_t i
    for i in range(first, matcher.size):
        target[i] = value


cdef inline void fill_variable(Matcher* matcher, int variable, int64_t first) noexcept nogil:
    if matcher.column_of[variable] >= 0 and first < matcher.size:
        fill(matcher, matcher.column_of[variable], first, matcher.value[variable])


cdef inline bint s_is_bound(Matcher* matcher, int view, uint64_t bound) noexcept nogil:
    return (bound >> matcher.store.s_variable[view]) & 1


cdef inline List* list_at(Matcher* matcher, int view, uint64_t bound) noexcept nogil:
    """The list of a view at its bound end."""
    cdef Store* store = matcher.store
    if s_is_bound(matcher, view, bound):
        return lists_of(row_at(store, matcher.at[store.s_variable[view]])) + store.s_slot[view]
    return lists_of(row_at(store, matcher.at[store.o_variable[view]])) + store.o_slot[view]


cdef inline void drop_dead(Matcher* matcher, int view, uint64_t bound, int32_t place) noexcept nogil:
    """Takes a dead entry out of the list of a view at its bound end; its edge stays until its note."""
    cdef Store* store = matcher.store
    cdef bint s_side = s_is_bound(matcher, view, bound)
    cdef List* lst = list_at(matcher, view, bound)
    cdef Edge* edge = edge_at(store, lst.entries[place].edge)
    if s_side:
        edge.s.place.at = -1
        list_drop(store, row_at(store, edge.s.place.row), lst, place, True)
    else:
        edge.o.place.at = -1
        list_drop(store, row_at(store, edge.o.place.row), lst, place, False)


cdef inline int shortest(Matcher* matcher, uint64_t views, uint64_t bound) noexcept nogil:
    cdef int view, best = trailing_zeros(views)
    cdef int32_t size, least
    if not matcher.adaptive or views & (views - 1) == 0:
        return best
    least = list_at(matcher, best, bound).size
    views &= views - 1
    while views:
        view = trailing_zeros(views)
        views &= views - 1
        size = list_at(matcher, view, bound).size
        if size < least:
            least = size
            best = view
    return best


cdef inline int64_t closing(Matcher* matcher, uint64_t views, int64_t low, int64_t high) noexcept nogil:
    """The end of the intersection with the edges of views whose ends are both bound; `low` if there is none."""
    cdef Store* store = matcher.store
    cdef int view, x, y
    cdef int32_t edge
    while views:
        view = trailing_zeros(views)
        views &= views - 1
        x = store.s_variable[view]
        y = store.o_variable[view]
        edge = edge_find(store, view, matcher.at[x], matcher.at[y])
        if edge < 0:
            return low
        high = min(high, edge_at(store, edge).until)
        if high <= low:
            return low
    return high


cdef inline void write_last(Matcher* matcher, int view, uint64_t bound, int64_t low, int64_t high) noexcept nogil:
    """The last level: one match for every entry of the list."""
    cdef Store* store = matcher.store
    cdef bint s_side = s_is_bound(matcher, view, bound)
    cdef int variable = store.o_variable[view] if s_side else store.s_variable[view]
    cdef bint bare = ((store.o_bare if s_side else store.s_bare) >> view) & 1
    cdef bint tested = filtered(&matcher.filters, variable)
    cdef List* lst = list_at(matcher, view, bound)
    cdef Entry* entries = lst.entries
    cdef Row* row
    cdef Edge* edge
    cdef int64_t* ids
    cdef int64_t* untils
    cdef int64_t id, until, size
    cdef int64_t first = matcher.size
    cdef int32_t i = 0
    reserve(matcher, lst.size + 1)
    size = matcher.size
    untils = matcher.columns[matcher.width + UNTIL]
    # A variable that is not visible is written where the ends will overwrite it.
    ids = untils if matcher.column_of[variable] < 0 else matcher.columns[matcher.column_of[variable]]
    while i < lst.size:
        until = entries[i].until
        if until <= low:
            if until <= store.now:
                drop_dead(matcher, view, bound, i)
                entries = lst.entries
            else:
                i += 1
            continue
        if bare:
            edge = edge_at(store, entries[i].edge)
            id = edge.o.id if s_side else edge.s.id
        else:
            row = row_at(store, entries[i].row)
            id = row.id
            until = min(until, row.until)
        i += 1
        until = min(until, high)
        if until <= low or (tested and not allowed(&matcher.filters, matcher.value, variable, id, bound)):
            continue
        ids[size] = id
        untils[size] = until
        size += 1
    matcher.size = size
    if matcher.counted:
        fill(matcher, matcher.width + WEIGHT, first, matcher.times)


cdef inline void write_one(Matcher* matcher, int64_t high) noexcept nogil:
    reserve(matcher, 1)
    matcher.columns[matcher.width + UNTIL][matcher.size] = high
    matcher.columns[matcher.width + WEIGHT][matcher.size] = matcher.times
    matcher.size += 1


cdef inline bint is_counted(Matcher* matcher, int variable) noexcept nogil:
    """Whether it does not matter which values a variable has, but how many."""
    return matcher.column_of[variable] < 0 and matcher.store.degree[variable] == 1 and not filtered(
        &matcher.filters, variable)


cdef inline int64_t count_leaf(Matcher* matcher, int view, uint64_t bound, int64_t low, int64_t high) noexcept nogil:
    """How many entries of a list live from `low` to `high`; -1 if one lives for a part of that."""
    cdef Store* store = matcher.store
    cdef bint s_side = s_is_bound(matcher, view, bound)
    cdef bint bare = ((store.o_bare if s_side else store.s_bare) >> view) & 1
    cdef List* lst = list_at(matcher, view, bound)
    cdef int64_t until, count = 0
    cdef int32_t i = 0
    while i < lst.size:
        until = lst.entries[i].until
        if until <= store.now and until <= low:
            drop_dead(matcher, view, bound, i)
            continue
        if not bare:
            until = min(until, row_at(store, lst.entries[i].row).until)
        i += 1
        if until >= high:
            count += 1
        elif until > low:
            return -1
    return count


cdef inline uint64_t count_leaves(Matcher* matcher, uint64_t frontier, uint64_t bound, int64_t low,
                                  int64_t high) noexcept nogil:
    """Counts the leaves of a frontier that has nothing else, as far as they can be: those left; `times` is 0 without any
    match."""
    cdef Store* store = matcher.store
    cdef uint64_t views = frontier & matcher.counted
    cdef int64_t count
    cdef int view
    while views:
        view = trailing_zeros(views)
        views &= views - 1
        if not is_counted(matcher, store.o_variable[view] if s_is_bound(matcher, view, bound) else store.s_variable[view]):
            continue
        count = count_leaf(matcher, view, bound, low, high)
        # So that sums of weights stay within 64 bits.
        if count >= 0 and count <= (<int64_t>1 << 32) // matcher.times:
            frontier &= ~(<uint64_t>1 << view)
            matcher.times *= count
            if count == 0:
                break
    return frontier


cdef inline void extend(Matcher* matcher, uint64_t frontier, uint64_t bound, int64_t low, int64_t high) noexcept nogil:
    """Binds one more variable in every way and goes on."""
    cdef Store* store = matcher.store
    cdef uint64_t inner, closed, rest
    cdef int view, variable
    cdef int32_t i = 0
    cdef int64_t until, first, times
    cdef List* lst
    cdef Row* row
    cdef Entry* entry
    cdef bint s_side, bare, tested
    if frontier & matcher.counted and frontier & ~matcher.leaf == 0:
        times = matcher.times
        rest = count_leaves(matcher, frontier, bound, low, high)
        if rest != frontier:
            if matcher.times:
                extend(matcher, rest, bound, low, high)
            matcher.times = times
            return
    if frontier == 0:
        write_one(matcher, high)
        return
    if frontier & (frontier - 1) == 0 and frontier & matcher.leaf:
        write_last(matcher, trailing_zeros(frontier), bound, low, high)
        return
    inner = frontier & ~matcher.leaf
    view = shortest(matcher, inner if inner else frontier, bound)
    s_side = s_is_bound(matcher, view, bound)
    variable = store.o_variable[view] if s_side else store.s_variable[view]
    bare = ((store.o_bare if s_side else store.s_bare) >> view) & 1
    tested = filtered(&matcher.filters, variable)
    rest = store.incident[variable] & ~(<uint64_t>1 << view)
    closed = rest & frontier
    rest = (frontier & ~closed & ~(<uint64_t>1 << view)) | (rest & ~closed)
    lst = list_at(matcher, view, bound)
    while i < lst.size and matcher.size < matcher.most:
        entry = &lst.entries[i]
        until = entry.until
        if until <= low:
            if until <= store.now:
                drop_dead(matcher, view, bound, i)
            else:
                i += 1
            continue
        i += 1
        until = min(until, high)
        if bare:
            matcher.value[variable] = edge_at(store, entry.edge).o.id if s_side else edge_at(store, entry.edge).s.id
        else:
            row = row_at(store, entry.row)
            until = min(until, row.until)
            if row.filled < store.degree[variable] or until <= low:
                continue
            matcher.at[variable] = entry.row
            matcher.value[variable] = row.id
        if tested and not allowed(&matcher.filters, matcher.value, variable, matcher.value[variable], bound):
            continue
        if closed:
            until = closing(matcher, closed, low, until)
            if until <= low:
                continue
        first = matcher.size
        extend(matcher, rest, bound | (<uint64_t>1 << variable), low, until)
        fill_variable(matcher, variable, first)


cdef inline void finish(Matcher* matcher, int64_t first, int64_t change, int64_t low, int64_t weight) noexcept nogil:
    """Writes what all matches since `first` have in common."""
    cdef int64_t i
    if first < matcher.size:
        fill(matcher, matcher.width + CHANGE, first, change)
        fill(matcher, matcher.width + START, first, low)
        if matcher.counted:
            for i in range(first, matcher.size):
                matcher.columns[matcher.width + WEIGHT][i] *= weight
        else:
            fill(matcher, matcher.width + WEIGHT, first, weight)
        fill(matcher, matcher.width + NOW, first, matcher.store.now)


cdef inline void match_row(Matcher* matcher, int32_t number, int64_t low, int64_t high) noexcept nogil:
    """All matches through a row, in [low, high) where the row qualifies."""
    cdef Store* store = matcher.store
    cdef Row* row = row_at(store, number)
    cdef int variable = row.variable
    cdef int64_t first = matcher.size
    if low >= high or row.filled < store.degree[variable] or (matcher.lazy and store.empty_views):
        return
    matcher.at[variable] = number
    matcher.value[variable] = row.id
    # From a leaf, its own view leads inwards.
    matcher.leaf = store.leaf
    if store.degree[variable] == 1 and store.variables > 2:
        matcher.leaf &= ~store.incident[variable]
    extend(matcher, store.incident[variable], <uint64_t>1 << variable, low, high)
    fill_variable(matcher, variable, first)


cdef inline bint lacks(Store* store, int32_t number, int slot) noexcept nogil:
    """Whether a row has an empty list other than this one."""
    cdef Row* row = row_at(store, number)
    return row.filled + (lists_of(row)[slot].size == 0) < store.degree[row.variable]


cdef inline void match_edge(Matcher* matcher, int view, int64_t s, int64_t o, int64_t low, int64_t high) noexcept nogil:
    """All matches through an edge of a view, stored or not, in [low, high); s and o are rows, or ids where bare."""
    cdef Store* store = matcher.store
    cdef int x = store.s_variable[view], y = store.o_variable[view]
    cdef uint64_t own = <uint64_t>1 << view, closed, frontier, bound
    cdef int64_t first = matcher.size
    if matcher.lazy and store.empty_views > (store.held[view] == 0):
        return
    if (store.s_bare >> view) & 1:
        matcher.value[x] = s
    else:
        if lacks(store, <int32_t>s, store.s_slot[view]):
            return
        matcher.at[x] = <int32_t>s
        matcher.value[x] = row_at(store, <int32_t>s).id
        high = min(high, row_at(store, <int32_t>s).until)
    if (store.o_bare >> view) & 1:
        matcher.value[y] = o
    else:
        if lacks(store, <int32_t>o, store.o_slot[view]):
            return
        matcher.at[y] = <int32_t>o
        matcher.value[y] = row_at(store, <int32_t>o).id
        high = min(high, row_at(store, <int32_t>o).until)
    bound = <uint64_t>1 << x
    if low >= high or not allowed(&matcher.filters, matcher.value, y, matcher.value[y], bound):
        return
    bound |= <uint64_t>1 << y
    closed = store.incident[x] & store.incident[y] & ~own
    frontier = (store.incident[x] | store.incident[y]) & ~own & ~closed
    high = closing(matcher, closed, low, high)
    if high <= low:
        return
    matcher.leaf = store.leaf
    extend(matcher, frontier, bound, low, high)
    fill_variable(matcher, x, first)
    fill_variable(matcher, y, first)
