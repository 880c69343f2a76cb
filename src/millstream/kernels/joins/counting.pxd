"""Counts matches of what nobody asks for, instead of enumerating them: factorised counts of hidden subtrees.

A variable is *counted* if it is neither visible nor filtered. A view leads to a *counted subtree* if beyond it there are
only counted variables, and no cycle: it does not matter which values these have, but how many combinations there are, and
when each ends. That is a sum over the entries of a list of products of what lies beyond each, so it costs as much as there
are entries, not combinations.

Such a count is a number of combinations that last as long as the match, and *spans*: so many that end at a tick before.
Spans of what is being counted lie on a stack, in any order until they are settled: the last to end first, one for each tick.
A product is taken from the last end to the first: at each tick, as many pairs end as there are more of them just before.

A row can be reached in many ways, so what was counted from one, as long as nothing of it ends sooner, is kept during a call.

No count is larger than MOST_COUNTED, so that sums of weights stay within 64 bits. What would be is enumerated.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memmove

from millstream.kernels.containers.memory cimport block_free, block_new, block_resize
from millstream.kernels.joins.filters cimport filtered
from millstream.kernels.joins.matcher cimport KnownCount, Matcher, Span, drop_dead, list_at, s_is_bound
from millstream.kernels.joins.store cimport List, Row, Store, row_at, trailing_zeros

cdef enum:
    TOO_MANY = -1
    SPANS_KEPT = 1 << 12        # capacity of the stack that stays from match to match
    SPANS_FEW = 16              # sorted by insertion
    SPANS_SETTLED = 64          # spans of a subtree that are settled before there are more
    KNOWN = 1 << 9              # counts that are kept during a call
    LONG = 16                   # entries that are worth it, where nothing lies beyond them

cdef extern from *:
    const int64_t MOST_COUNTED "((int64_t)1 << 32)"


# Which variables are counted

cdef inline bint is_counted_beyond(Matcher* matcher, int view, int variable, uint64_t* seen) noexcept nogil:
    """Whether a variable, and all beyond it but for a view, are counted and form a tree."""
    cdef Store* store = matcher.store
    cdef uint64_t views = store.incident[variable] & ~(<uint64_t>1 << view)
    cdef int other
    if (seen[0] >> variable) & 1 or matcher.column_of[variable] >= 0 or filtered(&matcher.filters, variable):
        return False
    seen[0] |= <uint64_t>1 << variable
    while views:
        other = trailing_zeros(views)
        views &= views - 1
        if not is_counted_beyond(matcher, other, store.s_variable[other] + store.o_variable[other] - variable, seen):
            return False
    return True


cdef inline void find_counted(Matcher* matcher) noexcept nogil:
    """Finds the views that lead to counted subtrees, once visible variables and filters are known."""
    cdef Store* store = matcher.store
    cdef uint64_t seen
    cdef int view
    for view in range(store.views):
        if store.o_variable[view] < 0:
            continue
        seen = <uint64_t>1 << store.s_variable[view]
        if is_counted_beyond(matcher, view, store.o_variable[view], &seen):
            matcher.o_counted |= <uint64_t>1 << view
        seen = <uint64_t>1 << store.o_variable[view]
        if is_counted_beyond(matcher, view, store.s_variable[view], &seen):
            matcher.s_counted |= <uint64_t>1 << view
    matcher.counted = matcher.s_counted | matcher.o_counted
    matcher.times = 1


cdef inline uint64_t counted_of(Matcher* matcher, uint64_t frontier, uint64_t bound) noexcept nogil:
    """The views of a frontier that lead to counted subtrees."""
    cdef uint64_t views = frontier & (matcher.s_counted ^ matcher.o_counted), found = (
        frontier & matcher.s_counted & matcher.o_counted)
    cdef int view
    while views:
        view = trailing_zeros(views)
        if ((matcher.o_counted if s_is_bound(matcher, view, bound) else matcher.s_counted) >> view) & 1:
            found |= views & -views
        views &= views - 1
    return found


# Spans

cdef inline void span_push(Matcher* matcher, int64_t until, int64_t count) noexcept nogil:
    cdef int64_t capacity
    if matcher.span_size == matcher.span_capacity:
        capacity = max(64, 2 * matcher.span_capacity)
        matcher.spans = <Span*>block_resize(
            matcher.spans, matcher.span_capacity * sizeof(Span), capacity * sizeof(Span))
        matcher.span_capacity = capacity
    matcher.spans[matcher.span_size].until = until
    matcher.spans[matcher.span_size].count = count
    matcher.span_size += 1


cdef inline void spans_free(Matcher* matcher) noexcept nogil:
    block_free(matcher.spans, matcher.span_capacity * sizeof(Span))
    matcher.spans = NULL
    matcher.span_capacity = 0


cdef inline KnownCount* known_at(Matcher* matcher, int32_t row, int view) noexcept nogil:
    """Where a count from a row through a view is, if it is kept."""
    cdef uint32_t mixed = (<uint32_t>row ^ (<uint32_t>view << 26)) * <uint32_t>0x9E3779B1
    if matcher.known == NULL:
        # Zeroed: of no call.
        matcher.known = <KnownCount*>block_new(KNOWN * sizeof(KnownCount))
    return matcher.known + (mixed >> 16) % KNOWN


cdef inline void known_free(Matcher* matcher) noexcept nogil:
    block_free(matcher.known, KNOWN * sizeof(KnownCount))


cdef inline int later_first(const void* one, const void* other) noexcept nogil:
    cdef int64_t a = (<const Span*>one).until, b = (<const Span*>other).until
    return (a < b) - (a > b)


cdef inline void settle(Matcher* matcher, int64_t first) noexcept nogil:
    """Sorts the spans from `first` on, the last to end first, and sums those that end together."""
    cdef Span* spans = matcher.spans + first
    cdef int64_t size = matcher.span_size - first, i, kept = 0
    cdef int64_t j
    cdef bint rising = True
    cdef Span moved
    if size < 2:
        return
    if size <= SPANS_FEW:
        for i in range(1, size):
            moved = spans[i]
            j = i
            while j > 0 and spans[j - 1].until < moved.until:
                spans[j] = spans[j - 1]
                j -= 1
            spans[j] = moved
    else:
        for i in range(1, size):
            rising &= spans[i].until >= spans[i - 1].until
        if rising:
            # As lists mostly are: what came last ends last.
            for i in range(size // 2):
                moved = spans[i]
                spans[i] = spans[size - 1 - i]
                spans[size - 1 - i] = moved
        else:
            qsort(spans, size, sizeof(Span), later_first)
    for i in range(1, size):
        if spans[i].until == spans[kept].until:
            spans[kept].count += spans[i].count
        else:
            kept += 1
            spans[kept] = spans[i]
    matcher.span_size = first + kept + 1


cdef inline int64_t product_of(int64_t a, int64_t b) noexcept nogil:
    return TOO_MANY if b and a > MOST_COUNTED // b else a * b


cdef inline int64_t multiply(Matcher* matcher, int64_t i, int64_t i_last, int64_t a, int64_t j, int64_t j_last, int64_t b,
                             int64_t high) noexcept nogil:
    """Pairs of two counts, each settled spans and how many last: pushes their spans, settled, and gives how many last to
    `high`; TOO_MANY if there are."""
    cdef int64_t until, now, before
    while i < i_last and matcher.spans[i].until >= high:
        a += matcher.spans[i].count
        i += 1
    while j < j_last and matcher.spans[j].until >= high:
        b += matcher.spans[j].count
        j += 1
    cdef int64_t lasting = product_of(a, b)
    before = lasting
    while before >= 0 and (i < i_last or j < j_last):
        until = matcher.spans[i].until if i < i_last else matcher.spans[j].until
        if j < j_last and matcher.spans[j].until > until:
            until = matcher.spans[j].until
        if i < i_last and matcher.spans[i].until == until:
            a += matcher.spans[i].count
            i += 1
        if j < j_last and matcher.spans[j].until == until:
            b += matcher.spans[j].count
            j += 1
        now = product_of(a, b)
        if now < 0:
            return TOO_MANY
        if now > before:
            span_push(matcher, until, now - before)
        before = now
    return lasting


# Counting

cdef inline int64_t count_beyond(Matcher* matcher, int view, uint64_t bound, int64_t low, int64_t high) noexcept nogil:
    """Combinations beyond a view, from its bound end: how many last from `low` to `high`; spans of the others are pushed."""
    cdef Store* store = matcher.store
    cdef bint s_side = s_is_bound(matcher, view, bound)
    cdef bint bare = ((store.o_bare if s_side else store.s_bare) >> view) & 1
    cdef int variable = store.o_variable[view] if s_side else store.s_variable[view]
    cdef uint64_t rest = store.incident[variable] & ~(<uint64_t>1 << view)
    cdef List* lst = list_at(matcher, view, bound)
    cdef Row* row
    cdef int64_t until, count = 0, beyond = 1, first = matcher.span_size
    cdef int32_t i = 0, near = -1
    cdef KnownCount* known = NULL
    if bare and not (matcher.expiring >> view) & 1:
        return lst.size
    if rest or lst.size > LONG:
        near = matcher.at[store.s_variable[view] if s_side else store.o_variable[view]]
        known = known_at(matcher, near, view)
        if known.call == matcher.call and known.row == near and known.view == view and known.until >= high:
            return known.count
    while i < lst.size:
        until = lst.entries[i].until
        if until <= low:
            if until <= store.now:
                drop_dead(matcher, view, bound, i)
            else:
                i += 1
            continue
        until = min(until, high)
        if not bare:
            row = row_at(store, lst.entries[i].row)
            until = min(until, row.until)
            if row.filled < store.degree[variable] or until <= low:
                i += 1
                continue
            if rest:
                matcher.at[variable] = lst.entries[i].row
                beyond = count_all(matcher, rest, bound | (<uint64_t>1 << variable), low, until)
                if beyond < 0:
                    return TOO_MANY
        i += 1
        if until == high:
            count += beyond
            if count > MOST_COUNTED:
                return TOO_MANY
        elif beyond:
            if matcher.span_size > first and matcher.spans[matcher.span_size - 1].until == until:
                matcher.spans[matcher.span_size - 1].count += beyond
            else:
                span_push(matcher, until, beyond)
    if known != NULL and matcher.span_size == first:
        known.call = matcher.call
        known.until = high
        known.count = count
        known.row = near
        known.view = view
    elif rest and matcher.span_size - first > SPANS_SETTLED:
        settle(matcher, first)
    return count


cdef inline int64_t count_all(Matcher* matcher, uint64_t views, uint64_t bound, int64_t low, int64_t high) noexcept nogil:
    """As count_beyond, of one combination beyond each of some views."""
    cdef int64_t first = matcher.span_size, middle, last, count, other
    cdef int view = trailing_zeros(views)
    count = count_beyond(matcher, view, bound, low, high)
    views &= views - 1
    while views and (count > 0 or (count == 0 and matcher.span_size > first)):
        view = trailing_zeros(views)
        views &= views - 1
        middle = matcher.span_size
        other = count_beyond(matcher, view, bound, low, high)
        if other < 0:
            return TOO_MANY
        last = matcher.span_size
        if last == first:
            count = product_of(count, other)
            continue
        settle(matcher, middle)
        last = matcher.span_size
        matcher.span_size = middle
        settle(matcher, first)
        if matcher.span_size < middle:
            memmove(matcher.spans + matcher.span_size, matcher.spans + middle, (last - middle) * sizeof(Span))
            last -= middle - matcher.span_size
            middle = matcher.span_size
        matcher.span_size = last
        count = multiply(matcher, first, middle, count, middle, last, other, high)
        memmove(matcher.spans + first, matcher.spans + last, (matcher.span_size - last) * sizeof(Span))
        matcher.span_size -= last - first
    return count


cdef inline bint count_in(Matcher* matcher, int view, uint64_t bound, int64_t low, int64_t high) noexcept nogil:
    """Counts what lies beyond a view together with what was counted before; False if that would be too many."""
    cdef int64_t first = matcher.span_size, last, lasting
    lasting = count_beyond(matcher, view, bound, low, high)
    if lasting >= 0:
        if matcher.span_size == first and matcher.span_first == matcher.span_last:
            lasting = product_of(matcher.times, lasting)
        else:
            settle(matcher, first)
            last = matcher.span_size
            lasting = multiply(
                matcher, matcher.span_first, matcher.span_last, matcher.times, first, last, lasting, high)
            matcher.span_first = last
            matcher.span_last = matcher.span_size
    matcher.times = lasting
    return lasting >= 0
