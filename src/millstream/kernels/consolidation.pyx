"""Deltas of which each change is consolidated: equal rows summed, zeros dropped, the rest in order of columns.

Rows come in order of (tick, change); those with both equal are one change.
"""

cimport numpy as cnp
from libc.stdint cimport int64_t

from millstream.kernels.group cimport (
    Group, Written, group_close, group_open, group_take, group_write, written_close, written_open, written_take,
)
from millstream.kernels.sides cimport LEFT, NEITHER, check_deltas, next_side

cnp.import_array()


def consolidate(const int64_t[:, :] columns, const int64_t[::1] tick, const int64_t[::1] change, const int64_t[::1] weight):
    """The same deltas consolidated, as columns, tick, change, weight; None if they are, because no change has two rows."""
    cdef int64_t n = tick.shape[0], i = 0
    cdef Group group
    cdef Written written
    check_deltas(columns, columns.shape[1], tick, change, weight)
    with nogil:
        while i < n and weight[i] != 0 and (i == 0 or tick[i] != tick[i - 1] or change[i] != change[i - 1]):
            i += 1
    if i == n:
        return None
    open_both(&group, &written, columns.shape[1])
    with nogil:
        for i in range(n):
            if i and (tick[i] != tick[i - 1] or change[i] != change[i - 1]):
                group_write(&group, &written, tick[i - 1], change[i - 1])
            group_take(&group, columns, i, weight[i])
        group_write(&group, &written, tick[n - 1], change[n - 1])
    return close_both(&group, &written)


def merge(const int64_t[:, :] left, const int64_t[::1] left_tick, const int64_t[::1] left_change, const int64_t[::1] left_weight,
          const int64_t[:, :] right, const int64_t[::1] right_tick, const int64_t[::1] right_change,
          const int64_t[::1] right_weight):
    """The sum of two, consolidated."""
    cdef int64_t i = 0, j = 0, at_tick = 0, at_change = 0, tick, change
    cdef int side
    cdef Group group
    cdef Written written
    check_deltas(left, left.shape[1], left_tick, left_change, left_weight)
    check_deltas(right, left.shape[1], right_tick, right_change, right_weight)
    open_both(&group, &written, left.shape[1])
    with nogil:
        while True:
            side = next_side(left_tick, left_change, i, right_tick, right_change, j)
            if side == NEITHER:
                break
            tick = left_tick[i] if side == LEFT else right_tick[j]
            change = left_change[i] if side == LEFT else right_change[j]
            if tick != at_tick or change != at_change:
                group_write(&group, &written, at_tick, at_change)
                at_tick = tick
                at_change = change
            if side == LEFT:
                group_take(&group, left, i, left_weight[i])
                i += 1
            else:
                group_take(&group, right, j, right_weight[j])
                j += 1
        group_write(&group, &written, at_tick, at_change)
    return close_both(&group, &written)


cdef int open_both(Group* group, Written* written, int width) except -1:
    group[0] = Group(0, 0, NULL, NULL, NULL, 0, 0)
    written[0] = Written(0, NULL, 0, 0)
    group_open(group, width)
    written_open(written, width)
    return 0


cdef tuple close_both(Group* group, Written* written):
    try:
        return written_take(written)
    finally:
        group_close(group)
        written_close(written)
