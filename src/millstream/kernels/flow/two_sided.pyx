"""Operators of two inputs, whose deltas are taken as one sequence, in order of (tick, change).

What a row makes of the output goes into a group, which is written, consolidated, where its change ends.
"""

from libc.stdint cimport int64_t

from millstream.kernels.flow.change_rows cimport CHANGE, TICK, Written, change_close, change_open, change_write
from millstream.kernels.flow.deltas cimport Operator


cdef class TwoSided(Operator):
    """Takes the rows of both inputs one by one."""

    def __cinit__(self, inputs, int width, *args, **kwargs):
        if len(self.inputs) != 2:
            raise ValueError(f"expected two inputs, got {len(self.inputs)}")
        self.left, self.right = self.inputs
        change_open(&self.group, width)

    def __dealloc__(self):
        change_close(&self.group)

    cdef int add(self, int side, int64_t row) except -1:
        """Takes a row of a side; puts what that changes into the group."""
        raise NotImplementedError

    cdef int apply(self) except -1:
        cdef Written* left = &self.left.rows
        cdef Written* right = &self.right.rows
        cdef Written* rows
        cdef int64_t taken[2]
        cdef int64_t tick, change, at_tick = 0, at_change = 0
        cdef int side
        taken[LEFT] = taken[RIGHT] = 0
        self.group.size = 0
        while True:
            side = next_side(left, taken[LEFT], right, taken[RIGHT])
            if side == NEITHER:
                break
            rows = left if side == LEFT else right
            tick = rows.columns[rows.width + TICK][taken[side]]
            change = rows.columns[rows.width + CHANGE][taken[side]]
            if tick != at_tick or change != at_change:
                change_write(&self.group, &self.out.rows, at_tick, at_change)
                at_tick = tick
                at_change = change
            self.add(side, taken[side])
            taken[side] += 1
        change_write(&self.group, &self.out.rows, at_tick, at_change)
        return 0
