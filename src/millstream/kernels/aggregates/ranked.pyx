"""What groups give that keep their operands in order: least, greatest, middle, or all of them.

Errors are counted, not kept: while a group has one it has no result. So it is for the median while an operand is not a
number: these are kept, as their keys say what they are, and counted.

    terms.is_number(id) -> whether a typed literal is a number                            MEDIAN
    terms.halve(id, id) -> the id of half a sum, -1 for an error                          MEDIAN
    terms.join(ids, counts) -> the id of all terms joined, -1 for an error                GROUP_CONCAT
"""

import cython

from libc.stdint cimport int64_t

from millstream.kernels.aggregates.groups cimport Accumulator, GroupTable
from millstream.kernels.containers.growing cimport Growing, growing_close, growing_room
from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.values cimport POWER10, TYPED, is_number, kind_of, mantissa_of, scale_of
from millstream.kernels.numbers.doubles cimport double_id, read_double
from millstream.kernels.numbers.number_ids cimport int128, number_id
from millstream.kernels.order.ordered_terms cimport OrderedTerms
from millstream.kernels.order.term_order cimport TermOrder

cpdef enum Rank:
    FIRST = 0
    LAST = 1
    MIDDLE = 2
    ALL = 3


cdef struct Faults:
    int64_t errors
    int64_t others              # operands that are not numbers, for the median


@cython.final
cdef class Ranked(Accumulator):
    """One of FIRST, LAST, MIDDLE and ALL of an operand's terms in each group."""

    cdef OrderedTerms ordered
    cdef Growing faults
    cdef Dictionary dictionary
    cdef object terms
    cdef int which

    def __cinit__(self, TermOrder order not None, terms, int which, bint by_value, *, int operand=-1, distinct=None):
        if operand < 0:
            raise ValueError("terms in order need an operand")
        if not FIRST <= which <= ALL:
            raise ValueError(f"there is no rank {which}")
        self.dictionary = order.dictionary
        self.terms = terms
        self.which = which
        self.ordered = OrderedTerms(order, by_value)

    def __dealloc__(self):
        growing_close(&self.faults)

    cdef int add(self, int64_t slot, Faults* faults, int64_t operand, int64_t weight) except -1:
        cdef double number = 0
        if operand < 0:
            faults.errors += weight
            return 0
        if self.which == MIDDLE and not is_number(operand):
            if kind_of(operand) != TYPED or not (
                    read_double(self.dictionary, operand, &number) or self.terms.is_number(operand)):
                faults.others += weight
        return self.ordered.put(slot, operand, weight)

    cdef int64_t median(self, int64_t slot) except? -1:
        cdef int64_t size = self.ordered.size(slot), a, b
        cdef int128 x, y
        cdef double one = 0, other = 0
        cdef int scale
        if size == 0:
            return -1
        b = self.ordered.pick(slot, size // 2)
        if size & 1:
            return b
        a = self.ordered.pick(slot, size // 2 - 1)
        if not is_number(a) or not is_number(b):
            if read_double(self.dictionary, a, &one) and read_double(self.dictionary, b, &other):
                return double_id(self.dictionary, (one + other) / 2)
            return self.terms.halve(a, b)
        scale = max(scale_of(a), scale_of(b))
        x = <int128>mantissa_of(a) * POWER10[scale - scale_of(a)]
        y = <int128>mantissa_of(b) * POWER10[scale - scale_of(b)]
        if scale < 18:
            # Half of it takes one more digit; beyond 18 it is cut.
            return number_id(self.dictionary, (x + y) * 5, scale + 1, True)
        return number_id(self.dictionary, (x + y) / 2, scale, True)

    cdef int64_t result(self, int64_t slot, Faults* faults) except? -1:
        if faults.errors or (self.which == MIDDLE and faults.others):
            return -1
        if self.which == FIRST:
            return self.ordered.pick(slot, 0)
        if self.which == LAST:
            return self.ordered.pick(slot, self.ordered.size(slot) - 1)
        if self.which == MIDDLE:
            return self.median(slot)
        return self.terms.join(*self.ordered.items(slot))

    cdef int accumulate(self, GroupTable table, int place) except -1:
        cdef int64_t change, row = 0, event = 0, slot
        cdef Faults* faults
        cdef int64_t* weights = self.weights(table)
        cdef int64_t* operands = table.rows.columns[self.operand]
        cdef int64_t* into = table.results(place)
        self.ordered.make_room(table.slot_count())
        growing_room(&self.faults, table.slot_count(), sizeof(Faults))
        faults = <Faults*>self.faults.data
        for change in range(table.change_count):
            while row < table.changes[change].row_end:
                if weights[row] != 0:
                    slot = table.slots[row]
                    self.add(slot, faults + slot, operands[row], weights[row])
                row += 1
            while event < table.changes[change].event_end:
                slot = table.event_slots[event]
                into[event] = self.result(slot, faults + slot)
                event += 1
        return 0
