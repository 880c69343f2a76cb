"""Deltas of which each change is consolidated: equal rows summed, zeros dropped, the rest in order of columns.

Rows come in order of (tick, change); those with both equal are one change.
"""

from libc.stdint cimport int64_t

from millstream.kernels.flow.change_rows cimport (
    CHANGE, TICK, WEIGHT, ChangeRows, Written, change_close, change_open, change_take, change_write,
)
from millstream.kernels.flow.deltas cimport Deltas, check_widths
from millstream.kernels.flow.two_sided cimport LEFT, NEITHER, next_side, same_change


cdef bint is_consolidated(const Written* rows) noexcept nogil:
    """Whether that is plain, because no change has two rows."""
    cdef int64_t i
    for i in range(rows.size):
        if rows.columns[rows.width + WEIGHT][i] == 0 or (i and same_change(rows, i - 1, i)):
            return False
    return True


cdef inline void write_change(ChangeRows* group, Written* into, const Written* last, int64_t row) noexcept nogil:
    """Writes what was collected as the change of a row."""
    change_write(group, into, last.columns[last.width + TICK][row], last.columns[last.width + CHANGE][row])


cdef Deltas consolidated_rows(Deltas given):
    """The rows consolidated: the same object if they are."""
    cdef Written* rows = &given.rows
    cdef Deltas found
    cdef ChangeRows group
    cdef int64_t i
    if is_consolidated(rows):
        return given
    found = Deltas(width=rows.width)
    group = ChangeRows(0, 0, NULL, NULL, NULL, 0, 0)
    change_open(&group, rows.width)
    for i in range(rows.size):
        if i and not same_change(rows, i - 1, i):
            write_change(&group, &found.rows, rows, i - 1)
        change_take(&group, rows, i)
    write_change(&group, &found.rows, rows, rows.size - 1)
    change_close(&group)
    return found


cdef Deltas merged_rows(Deltas left, Deltas right):
    """The sum of two, consolidated."""
    cdef Written* rows
    cdef Written* last = NULL
    cdef int64_t taken[2]
    cdef int64_t last_row = 0
    cdef int side
    cdef Deltas found
    cdef ChangeRows group
    check_widths([right], left.rows.width)
    if not right.rows.size:
        return left
    if not left.rows.size:
        return right
    found = Deltas(width=left.rows.width)
    group = ChangeRows(0, 0, NULL, NULL, NULL, 0, 0)
    change_open(&group, left.rows.width)
    taken[0] = taken[1] = 0
    while True:
        side = next_side(&left.rows, taken[0], &right.rows, taken[1])
        if side == NEITHER:
            break
        rows = &left.rows if side == LEFT else &right.rows
        if last != NULL and (
                rows.columns[rows.width + TICK][taken[side]] != last.columns[last.width + TICK][last_row]
                or rows.columns[rows.width + CHANGE][taken[side]] != last.columns[last.width + CHANGE][last_row]):
            write_change(&group, &found.rows, last, last_row)
        change_take(&group, rows, taken[side])
        last = rows
        last_row = taken[side]
        taken[side] += 1
    write_change(&group, &found.rows, last, last_row)
    change_close(&group)
    return found


def consolidated(Deltas deltas not None):
    """Equal rows of a change summed, zeros dropped; rows come in order of (tick, change)."""
    return consolidated_rows(deltas)


def merged(Deltas left not None, Deltas right not None):
    """The sum of two, both consolidated: rows with equal tick and change become one change."""
    return merged_rows(left, right)
