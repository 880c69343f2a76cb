"""What an enumeration of matches works with: what is bound so far, the lists it goes through, the columns it writes.

`at[x]` and `value[x]` are the row and the id bound to variable x. Columns are those of the visible variables in order, then
MORE_COLUMNS that every match has. `times`, `span_first` and `span_last` are what was counted so far (counting.pxd).
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

from millstream.kernels.containers.memory cimport block_resize
from millstream.kernels.joins.edges cimport list_drop
from millstream.kernels.joins.filters cimport Filters
from millstream.kernels.joins.store cimport MOST, Edge, List, Store, edge_at, lists_of, row_at

cdef enum:
    MORE_COLUMNS = 5
    CHANGE = 0                  # places of the further columns, after those of the visible variables
    START = 1
    UNTIL = 2
    WEIGHT = 3
    NOW = 4                     # the tick of the change


cdef struct Span:
    int64_t until
    int64_t count               # how many end then


cdef struct KnownCount:
    uint64_t call               # during which it was counted
    int64_t until
    int64_t count               # of those that last until then, no other
    int32_t row
    int32_t view


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
    uint64_t s_counted          # views beyond whose s, coming from o, there is nothing but what is counted
    uint64_t o_counted
    uint64_t counted            # either
    uint64_t expiring           # views that were ever given a pair with an end
    int64_t times               # how many combinations of what was counted last as long as the match
    int64_t span_first          # of those that end sooner, in order
    int64_t span_last
    Span* spans                 # a stack
    int64_t span_size
    int64_t span_capacity
    KnownCount* known           # by row and view, the latest at each place
    uint64_t call               # counts the rows and edges whose matches were looked for
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


