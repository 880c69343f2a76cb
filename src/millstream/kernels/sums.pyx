"""Exact sums and averages of groups.

A sum is a total / 10^scale in 128 bits for the numbers inside ids, the scale being the largest that was met. What these cannot hold
goes to the *rest*, a Python object with sums of its own by slot: totals that would overflow, numbers outside of ids, floats and
doubles. A sum forgets its scale and its rest when the group has no operand left, so results follow from the
operands alone.

    rest.add(slot, id, weight) -> 0 not a number, 1 integer, 2 decimal, 3 a float or double, kept track of there
    rest.spill(slot, total, scale)
    rest.result(slot, total, scale, decimals, count, average) -> id
    rest.forget(slot); slot in rest
"""

import cython

from libc.stdint cimport int64_t

from millstream.kernels.dictionary cimport Dictionary
from millstream.kernels.dictionary_values cimport DECIMAL, POWER10, TYPED, is_number, kind_of, mantissa_of, scale_of
from millstream.kernels.groups cimport Accumulator, GroupTable
from millstream.kernels.growing cimport Growing, growing_close, growing_room
from millstream.kernels.results cimport add_overflows, int128, multiply_overflows, number_id


cdef enum:
    MOST_DIGITS = 18            # behind the point: of a scale, and of a quotient


cdef struct Sum:
    int128 total
    int64_t count               # operands that are numbers
    int64_t decimals            # of these, decimals
    int64_t errors              # operands that are not
    int scale
    int rest                    # whether there is a rest


cdef inline int128 power10(int digits) noexcept nogil:
    return <int128>POWER10[digits]


cdef object exact_integer(int128 value):
    return (<object><int64_t>(value >> 64) << 64) | <object><unsigned long long>value


@cython.final
cdef class Sums(Accumulator):
    """SUM, or AVG, of an operand in each group; -1 where an operand is an error or not a number."""

    cdef Growing sums
    cdef Dictionary dictionary
    cdef object rest
    cdef bint average

    def __cinit__(self, Dictionary dictionary not None, rest, bint average, *, int operand=-1, distinct=None):
        if operand < 0:
            raise ValueError("a sum needs an operand")
        self.dictionary = dictionary
        self.rest = rest
        self.average = average

    def __dealloc__(self):
        growing_close(&self.sums)

    cdef int spill(self, int64_t slot, Sum* sum, int128 total, int scale) except -1:
        sum.rest = True
        self.rest.spill(slot, exact_integer(total), scale)
        return 0

    cdef int add_inlined(self, int64_t slot, Sum* sum, int64_t operand, int64_t weight) except -1:
        cdef int128 addend = <int128>mantissa_of(operand) * weight, raised = 0
        cdef int scale = scale_of(operand)
        if scale > MOST_DIGITS:
            raise ValueError(f"id {operand} is no number")
        sum.count += weight
        if kind_of(operand) == DECIMAL:
            sum.decimals += weight
        if scale > sum.scale:
            if multiply_overflows(sum.total, power10(scale - sum.scale), &raised):
                self.spill(slot, sum, sum.total, sum.scale)
                raised = 0
            sum.total = raised
            sum.scale = scale
        elif scale < sum.scale:
            if multiply_overflows(addend, power10(sum.scale - scale), &raised):
                self.spill(slot, sum, addend, scale)
                raised = 0
            addend = raised
        if add_overflows(sum.total, addend, &raised):
            self.spill(slot, sum, sum.total, sum.scale)
            raised = addend
        sum.total = raised
        return 0

    cdef int add(self, int64_t slot, Sum* sum, int64_t operand, int64_t weight) except -1:
        cdef int kind
        if is_number(operand):
            self.add_inlined(slot, sum, operand, weight)
        elif operand >= 0 and kind_of(operand) == TYPED:
            kind = self.rest.add(slot, operand, weight)
            if kind == 0:
                sum.errors += weight
            else:
                sum.rest = slot in self.rest
                sum.count += weight
                sum.decimals += weight if kind == 2 else 0
        else:
            sum.errors += weight
        if sum.count == 0 and sum.errors == 0:
            if sum.rest:
                self.rest.forget(slot)
            sum.total = 0
            sum.scale = 0
            sum.rest = False
        return 0

    cdef int64_t result(self, int64_t slot, Sum* sum) except? -1:
        cdef int128 quotient = 0
        if sum.errors:
            return -1
        if sum.count == 0:
            return number_id(self.dictionary, 0, 0, False)
        if not sum.rest:
            if not self.average:
                return number_id(self.dictionary, sum.total, sum.scale, sum.decimals > 0)
            if not multiply_overflows(sum.total, power10(MOST_DIGITS - sum.scale), &quotient):
                # C cuts towards zero, and so does a quotient of decimals.
                return number_id(self.dictionary, quotient / sum.count, MOST_DIGITS, True)
        return self.rest.result(
            slot, exact_integer(sum.total), sum.scale, sum.decimals > 0, sum.count, self.average
        )

    cdef int accumulate(self, GroupTable table, int place) except -1:
        cdef int64_t change, row = 0, event = 0, slot
        cdef Sum* sums
        cdef int64_t* weights = self.weights(table)
        cdef int64_t* operands = table.rows.columns[self.operand]
        cdef int64_t* into = table.results(place)
        growing_room(&self.sums, table.slot_count(), sizeof(Sum))
        sums = <Sum*>self.sums.data
        for change in range(table.change_count):
            while row < table.changes[change].row_end:
                if weights[row] != 0:
                    slot = table.slots[row]
                    self.add(slot, sums + slot, operands[row], weights[row])
                row += 1
            while event < table.changes[change].event_end:
                slot = table.event_slots[event]
                into[event] = self.result(slot, sums + slot)
                event += 1
        return 0
