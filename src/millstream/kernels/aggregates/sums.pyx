"""Exact sums and averages of groups.

A sum is a total / 10^scale in 128 bits for the numbers inside ids, the scale being the largest that was met, and for doubles
an integer of many bits (binary_sum.pxd). What these cannot hold goes to the *rest*, a Python object with sums of its own by
slot: totals that would overflow, other numbers outside of ids, and doubles once there are operands of other types. A sum
forgets its scale, its bits and its rest when the group has no operand left, so results follow from the operands alone.

    rest.add(slot, id, weight) -> 0 not a number, 1 integer, 2 decimal, 3 a float or double, kept track of there
    rest.spill(slot, total, scale); rest.spill_doubles(slot, total, count), a multiple of 2^-1074
    rest.result(slot, total, scale, decimals, count, average) -> id
    rest.forget(slot); slot in rest
"""

import cython

from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint64_t

from millstream.kernels.aggregates.groups cimport Accumulator, GroupTable
from millstream.kernels.containers.growing cimport Growing, growing_close, growing_room
from millstream.kernels.containers.memory cimport block_free, block_new
from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.values cimport DECIMAL, POWER10, TYPED, is_number, kind_of, mantissa_of, scale_of
from millstream.kernels.numbers.binary_sum cimport WORD_BITS, WORDS, add_double, rounded_sum
from millstream.kernels.numbers.doubles cimport double_id, read_double
from millstream.kernels.numbers.number_ids cimport add_overflows, int128, multiply_overflows, number_id


cdef enum:
    MOST_DIGITS = 18            # behind the point: of a scale, and of a quotient


cdef struct Sum:
    int128 total
    int64_t count               # operands that are numbers
    int64_t decimals            # of these, decimals
    int64_t errors              # operands that are not
    uint64_t* doubles           # the sum of all operands, while all are doubles; NULL without any
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
    cdef int64_t slots          # of sums

    def __cinit__(self, Dictionary dictionary not None, rest, bint average, *, int operand=-1, distinct=None):
        if operand < 0:
            raise ValueError("a sum needs an operand")
        self.dictionary = dictionary
        self.rest = rest
        self.average = average

    def __dealloc__(self):
        cdef int64_t slot
        for slot in range(self.slots):
            block_free((<Sum*>self.sums.data)[slot].doubles, WORDS * sizeof(uint64_t))
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

    cdef int spill_doubles(self, int64_t slot, Sum* sum) except -1:
        """Leaves the doubles of a sum to the rest, which all operands so far were."""
        cdef object total = 0
        cdef int i
        if sum.doubles != NULL:
            for i in range(WORDS):
                total |= <object>sum.doubles[i] << (WORD_BITS * i)
            if sum.doubles[WORDS - 1] >> (WORD_BITS - 1):
                total -= <object>1 << (WORD_BITS * WORDS)
            self.drop_doubles(sum)
            sum.rest = True
            self.rest.spill_doubles(slot, total, sum.count)
        return 0

    cdef void drop_doubles(self, Sum* sum) noexcept:
        block_free(sum.doubles, WORDS * sizeof(uint64_t))
        sum.doubles = NULL

    cdef bint add_double(self, Sum* sum, int64_t operand, int64_t weight) except -1:
        """Adds a double where all operands are doubles."""
        cdef double value = 0
        if (sum.doubles == NULL and (sum.count or sum.errors or sum.rest)) or not read_double(
            self.dictionary, operand, &value
        ):
            return False
        if not isfinite(value):
            return False
        if sum.doubles == NULL:
            sum.doubles = <uint64_t*>block_new(WORDS * sizeof(uint64_t))
        add_double(sum.doubles, value, weight)
        sum.count += weight
        return True

    cdef int add_outside(self, int64_t slot, Sum* sum, int64_t operand, int64_t weight) except -1:
        """Adds a typed literal that is not in its id."""
        cdef int kind
        if self.add_double(sum, operand, weight):
            return 0
        self.spill_doubles(slot, sum)
        kind = self.rest.add(slot, operand, weight)
        if kind == 0:
            sum.errors += weight
        else:
            sum.rest = slot in self.rest
            sum.count += weight
            sum.decimals += weight if kind == 2 else 0
        return 0

    cdef int add(self, int64_t slot, Sum* sum, int64_t operand, int64_t weight) except -1:
        if operand >= 0 and kind_of(operand) == TYPED:
            self.add_outside(slot, sum, operand, weight)
        else:
            self.spill_doubles(slot, sum)
            if is_number(operand):
                self.add_inlined(slot, sum, operand, weight)
            else:
                sum.errors += weight
        if sum.count == 0 and sum.errors == 0:
            if sum.rest:
                self.rest.forget(slot)
            self.drop_doubles(sum)
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
        if sum.doubles != NULL:
            return double_id(self.dictionary, rounded_sum(sum.doubles) / (sum.count if self.average else 1))
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
        self.slots = max(self.slots, table.slot_count())
        growing_room(&self.sums, self.slots, sizeof(Sum))
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
