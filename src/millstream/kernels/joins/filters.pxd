"""Filters on two variables, asked as soon as both are bound.

Two must be one id, or different ids; or the order of their values, the second shifted by an offset, must be among some
outcomes. An order is known only where both values are in the ids (and of shifted ones, where both are integers): what is not
known passes, and whoever takes the matches asks again.
"""

from libc.stdint cimport int64_t, uint64_t

from millstream.kernels.dictionary.values cimport INCOMPARABLE, INTEGER, compare_inlined, integer_of, kind_of
from millstream.kernels.joins.store cimport MOST, trailing_zeros


cdef struct OrderTest:
    int x
    int y
    int outcomes                # bits for x before (1), at (2) and after (4) y
    int64_t offset              # added to y


cdef struct Filters:
    uint64_t differ[MOST]       # variables that must not be bound to the same id as this one
    uint64_t same[MOST]
    uint64_t ordered[MOST]      # order tests that a variable takes part in
    OrderTest tests[MOST]
    int count


cdef inline bint filtered(Filters* filters, int variable) noexcept nogil:
    return (filters.differ[variable] | filters.same[variable] | filters.ordered[variable]) != 0


cdef inline int compare_shifted(int64_t a, int64_t b, int64_t offset) noexcept nogil:
    """The order of a and b + offset, as compare_inlined has it."""
    cdef int64_t x, y
    if offset == 0:
        return compare_inlined(a, b)
    if kind_of(a) != INTEGER or kind_of(b) != INTEGER:
        return INCOMPARABLE
    x = integer_of(a)
    y = integer_of(b) + offset
    return (x > y) - (x < y)


cdef inline bint in_order(Filters* filters, const int64_t* value, int variable, int64_t id, uint64_t bound) noexcept nogil:
    """Whether no order test of a variable with a bound one is known to fail."""
    cdef uint64_t tests = filters.ordered[variable]
    cdef OrderTest* test
    cdef int order, other
    while tests:
        test = &filters.tests[trailing_zeros(tests)]
        tests &= tests - 1
        other = test.y if test.x == variable else test.x
        if not (bound >> other) & 1:
            continue
        if test.x == variable:
            order = compare_shifted(id, value[other], test.offset)
        else:
            order = compare_shifted(value[other], id, test.offset)
        if order != INCOMPARABLE and not (test.outcomes >> (order + 1)) & 1:
            return False
    return True


cdef inline bint allowed(Filters* filters, const int64_t* value, int variable, int64_t id, uint64_t bound) noexcept nogil:
    """Whether the filters let a variable have this id, beside the values of the bound ones."""
    cdef uint64_t others = filters.differ[variable] & bound
    while others:
        if value[trailing_zeros(others)] == id:
            return False
        others &= others - 1
    others = filters.same[variable] & bound
    while others:
        if value[trailing_zeros(others)] != id:
            return False
        others &= others - 1
    return filters.ordered[variable] == 0 or in_order(filters, value, variable, id, bound)
