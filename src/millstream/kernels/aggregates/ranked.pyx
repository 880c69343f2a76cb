"""What groups give that keep their operands in order: least, greatest, middle, or all of them.

Errors are counted, not kept: while a group has one it has no result. So it is for the median while an operand is not a
number: these are kept, as their keys say what they are, and counted.

    terms.is_number(id) -> whether a typed literal is a number                            MEDIAN
    terms.halve(id, id) -> the id of half a sum, -1 for an error                          MEDIAN
    terms.join(ids, counts) -> the id of all terms joined, -1 for an error                GROUP_CONCAT
    terms.separator, terms.most_bytes: what stands between them, as it is written in N-Triples; how long all may become

Texts are joined as they are written, escapes included: what that gives is as canonical as its parts. `join` is asked where
it might be too long.
"""

import cython

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from millstream.kernels.aggregates.groups cimport Accumulator, GroupTable
from millstream.kernels.containers.growing cimport Growing, growing_close, growing_room
from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.store cimport Slot
from millstream.kernels.dictionary.values cimport (
    BLANK, INLINED_BYTES, POWER10, STRING, TYPED, is_number, kind_of, mantissa_of, scale_of, write_inlined,
)
from millstream.kernels.numbers.doubles cimport double_id, read_double
from millstream.kernels.numbers.number_ids cimport int128, number_id
from millstream.kernels.order.ordered_terms cimport DEEPEST, Node, OrderedTerms
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
    cdef bytes separator
    cdef int64_t most_bytes
    cdef Growing text           # what is being joined

    def __cinit__(self, TermOrder order not None, terms, int which, bint by_value, *, int operand=-1, distinct=None):
        if operand < 0:
            raise ValueError("terms in order need an operand")
        if not FIRST <= which <= ALL:
            raise ValueError(f"there is no rank {which}")
        self.dictionary = order.dictionary
        self.terms = terms
        self.which = which
        if which == ALL:
            self.separator = terms.separator
            self.most_bytes = terms.most_bytes
        self.ordered = OrderedTerms(order, by_value)

    def __dealloc__(self):
        growing_close(&self.faults)
        growing_close(&self.text)

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

    cdef int64_t append(self, int64_t length, int64_t term_id, int64_t count) except -1:
        """Writes a term as often as it counts behind so many bytes, each behind a separator; how many bytes there are then,
        more than `most_bytes` if these would be too many."""
        cdef uint8_t inlined[INLINED_BYTES]
        cdef const uint8_t* bytes = inlined
        cdef int64_t size, between = PyBytes_GET_SIZE(self.separator)
        cdef Slot* slot
        cdef uint8_t* into
        if kind_of(term_id) > TYPED:
            size = write_inlined(inlined, term_id)
        else:
            slot = self.dictionary.slot_of(term_id)
            if slot == NULL:
                self.dictionary.check_live(term_id)
            bytes = slot.bytes
            size = slot.length
        # From behind the first character, a quote or a bracket, to before the last quote or bracket.
        size -= 1
        while kind_of(term_id) > STRING and bytes[size] != c'"':
            size -= 1
        size -= 1
        if (size + between) > (self.most_bytes - length) // count:
            return self.most_bytes + 1
        growing_room(&self.text, length + (size + between) * count + 2, 1)
        into = <uint8_t*>self.text.data + 1 + length
        length += (size + between) * count
        while count:
            memcpy(into, PyBytes_AS_STRING(self.separator), between)
            memcpy(into + between, bytes + 1, size)
            into += between + size
            count -= 1
        return length

    cdef int64_t joined(self, int64_t slot) except? -1:
        """All terms in order; an error if one is a blank node."""
        cdef int32_t above[DEEPEST]
        cdef int32_t depth = 0, at = self.ordered.root(slot)[0] - 1
        cdef int64_t length = 0, between = PyBytes_GET_SIZE(self.separator)
        cdef Node* node
        cdef uint8_t* text
        while at >= 0 or depth:
            while at >= 0:
                above[depth] = at
                depth += 1
                at = self.ordered.node(at).left
            depth -= 1
            node = self.ordered.node(above[depth])
            if kind_of(node.id) == BLANK:
                return -1
            length = self.append(length, node.id, node.count)
            if length > self.most_bytes:
                return self.terms.join(*self.ordered.items(slot))
            at = node.right
        growing_room(&self.text, max(length, between) + 2, 1)
        # Without the first separator.
        length = max(0, length - between)
        text = <uint8_t*>self.text.data + between
        text[0] = text[length + 1] = c'"'
        length = self.dictionary.intern(text, length + 2, STRING)
        if length < 0:
            raise MemoryError
        return length

    cdef int64_t result(self, int64_t slot, Faults* faults) except? -1:
        if faults.errors or (self.which == MIDDLE and faults.others):
            return -1
        if self.which == FIRST:
            return self.ordered.pick(slot, 0)
        if self.which == LAST:
            return self.ordered.pick(slot, self.ordered.size(slot) - 1)
        if self.which == MIDDLE:
            return self.median(slot)
        return self.joined(slot)

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
