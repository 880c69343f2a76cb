"""Enumerates the matches through one row or one edge, straight into output columns.

`bound` is the set of bound variables (matcher.pxd has their rows and ids), `frontier` the views with exactly one bound end.
All matches of a call begin at `low`; `high` is the end of the intersection so far. Every entry is visible from the moment
it was fed, so only ends count: an entry whose end is not after `low` is passed over, and one that is dead by now leaves the
list it was met in, so that a burst of expiries is paid for once.

At each depth the inner view with the shortest list goes first, views that close a cycle are checked as soon as both ends are
bound, and leaves (variables of degree 1) come last, the longest list innermost, in a tight loop. A row that lacks entries
for any of its views is passed over. A variable's column is filled when its subtree has been written: runs of equal values,
never row by row.

What lies beyond a view and is not asked for is counted when it is the view's turn (counting.pxd): a match is then written
once for each tick at which some of that ends, and its weight says how often.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

from millstream.kernels.joins.counting cimport MOST_COUNTED, SPANS_KEPT, count_in, counted_of, spans_free
from millstream.kernels.joins.edges cimport edge_find
from millstream.kernels.joins.filters cimport allowed, filtered
from millstream.kernels.joins.matcher cimport (
    CHANGE, MORE_COLUMNS, NOW, START, UNTIL, WEIGHT, Matcher, drop_dead, fill, fill_variable, list_at, reserve, s_is_bound,
)
from millstream.kernels.joins.store cimport Edge, Entry, List, Row, Store, edge_at, lists_of, row_at, trailing_zeros


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


cdef inline void write_row(Matcher* matcher, int64_t until, int64_t weight) noexcept nogil:
    reserve(matcher, 1)
    matcher.columns[matcher.width + UNTIL][matcher.size] = until
    matcher.columns[matcher.width + WEIGHT][matcher.size] = weight
    matcher.size += 1


cdef inline void write_one(Matcher* matcher, int64_t high) noexcept nogil:
    """A match whose variables are all bound or counted."""
    cdef int64_t i, lasting = matcher.times
    for i in range(matcher.span_first, matcher.span_last):
        if matcher.spans[i].until >= high:
            lasting += matcher.spans[i].count
        else:
            write_row(matcher, matcher.spans[i].until, matcher.spans[i].count)
    if lasting:
        write_row(matcher, high, lasting)


cdef inline void write_counted(Matcher* matcher, int view, uint64_t bound, int64_t low, int64_t high) noexcept nogil:
    """The last level, a leaf that is counted where nothing counted before ends sooner: a match for each run of entries that
    end together."""
    cdef Store* store = matcher.store
    cdef bint s_side = s_is_bound(matcher, view, bound)
    cdef bint bare = ((store.o_bare if s_side else store.s_bare) >> view) & 1
    cdef List* lst = list_at(matcher, view, bound)
    cdef int64_t until, lasting = 0, run = 0, last = low, times = matcher.times, most = MOST_COUNTED // times
    cdef int64_t size = matcher.size
    cdef int64_t* untils = NULL
    cdef int64_t* weights = NULL
    cdef int32_t i = 0
    if bare and not (matcher.expiring >> view) & 1:
        lasting = lst.size
        i = lst.size
    while i < lst.size:
        until = lst.entries[i].until
        if until <= low and until <= store.now:
            drop_dead(matcher, view, bound, i)
            continue
        if not bare:
            until = min(until, row_at(store, lst.entries[i].row).until)
        i += 1
        if until <= low:
            continue
        if until >= high:
            lasting += 1
        elif until == last and run < most:
            run += 1
            weights[size - 1] += times
        else:
            if untils == NULL:
                reserve(matcher, lst.size - i + 1)
                untils = matcher.columns[matcher.width + UNTIL]
                weights = matcher.columns[matcher.width + WEIGHT]
            untils[size] = last = until
            weights[size] = times
            size += 1
            run = 1
    matcher.size = size
    while lasting:
        run = min(lasting, most)
        write_row(matcher, high, run * times)
        lasting -= run


cdef inline bint extend_counted(Matcher* matcher, int view, uint64_t frontier, uint64_t bound, int64_t low,
                                int64_t high) noexcept nogil:
    """Goes on with all but a view, what lies beyond it counted; False if that would be too many."""
    cdef int64_t times = matcher.times, first = matcher.span_first, last = matcher.span_last, size = matcher.span_size
    cdef bint counted = count_in(matcher, view, bound, low, high)
    if counted and (matcher.times or matcher.span_first < matcher.span_last):
        if matcher.times == 0:
            # Then those that end last are the ones that last.
            high = min(high, matcher.spans[matcher.span_first].until)
            matcher.times = matcher.spans[matcher.span_first].count
            matcher.span_first += 1
        extend(matcher, frontier & ~(<uint64_t>1 << view), bound, low, high)
    matcher.times = times
    matcher.span_first = first
    matcher.span_last = last
    matcher.span_size = size
    return counted


cdef inline void extend(Matcher* matcher, uint64_t frontier, uint64_t bound, int64_t low, int64_t high) noexcept nogil:
    """Binds one more variable in every way and goes on."""
    cdef Store* store = matcher.store
    cdef uint64_t inner, closed, rest, counted
    cdef int view, variable
    cdef int32_t i = 0
    cdef int64_t until, first
    cdef List* lst
    cdef Row* row
    cdef Entry* entry
    cdef bint s_side, bare, tested
    if frontier == 0:
        write_one(matcher, high)
        return
    inner = frontier & ~matcher.leaf
    counted = counted_of(matcher, frontier, bound) if frontier & matcher.counted else 0
    if not inner:
        if counted == frontier and frontier & (frontier - 1) == 0 and matcher.span_first == matcher.span_last:
            write_counted(matcher, trailing_zeros(frontier), bound, low, high)
            return
        # Those that are counted first: the others are as many rows then.
        while counted:
            view = shortest(matcher, counted, bound)
            if extend_counted(matcher, view, frontier, bound, low, high):
                return
            counted &= ~(<uint64_t>1 << view)
        if frontier & (frontier - 1) == 0 and matcher.span_first == matcher.span_last:
            write_last(matcher, trailing_zeros(frontier), bound, low, high)
            return
    view = shortest(matcher, inner if inner else frontier, bound)
    if (counted >> view) & 1 and extend_counted(matcher, view, frontier, bound, low, high):
        return
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
    if matcher.span_capacity > SPANS_KEPT:
        spans_free(matcher)


cdef inline void match_row(Matcher* matcher, int32_t number, int64_t low, int64_t high) noexcept nogil:
    """All matches through a row, in [low, high) where the row qualifies."""
    cdef Store* store = matcher.store
    cdef Row* row = row_at(store, number)
    cdef int variable = row.variable
    cdef int64_t first = matcher.size
    if low >= high or row.filled < store.degree[variable] or (matcher.lazy and store.empty_views):
        return
    matcher.call += 1
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
    matcher.call += 1
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
