"""Deltas of which each change is consolidated: equal rows summed, zeros dropped, the rest in order of columns.

Rows come in order of (tick, change); those with both equal are one change.
"""

from libc.stdint cimport int64_t

from millstream.kernels.flow.change_rows cimport (
    CHANGE, TICK, WEIGHT, ChangeRows, Written, change_close, change_open, change_take, change_write,
)
from millstream.kernels.flow.deltas cimport Deltas
from millstream.kernels.flow.two_sided cimport same_change


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


def consolidated(Deltas given not None):
    """Equal rows of a change summed, zeros dropped; the same object if that is so already."""
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
