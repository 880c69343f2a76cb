"""Two sequences of deltas taken as one, in order of (tick, change); of one change the left side's rows come first."""

from libc.stdint cimport int64_t

cdef enum:
    LEFT = 0
    RIGHT = 1
    NEITHER = 2


cdef inline int next_side(const int64_t[::1] left_tick, const int64_t[::1] left_change, int64_t left,
                          const int64_t[::1] right_tick, const int64_t[::1] right_change, int64_t right) noexcept nogil:
    """The side of the next row, when so many of each are taken."""
    if left == left_tick.shape[0]:
        return NEITHER if right == right_tick.shape[0] else RIGHT
    if right == right_tick.shape[0]:
        return LEFT
    if left_tick[left] != right_tick[right]:
        return LEFT if left_tick[left] < right_tick[right] else RIGHT
    return LEFT if left_change[left] <= right_change[right] else RIGHT


cdef inline int check_deltas(const int64_t[:, :] columns, int width, const int64_t[::1] tick, const int64_t[::1] change,
                             const int64_t[::1] weight) except -1:
    if columns.shape[1] != width:
        raise ValueError(f"expected {width} columns, got {columns.shape[1]}")
    if not (columns.shape[0] == tick.shape[0] == change.shape[0] == weight.shape[0]):
        raise ValueError("columns differ in length")
    return 0
