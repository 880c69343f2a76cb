"""The join of two relations through `<`, `<=`, `>` or `>=` between a column of each.

Both sides keep their rows in a tree by a key of the column's value: class, 4 bits | prefix, 60 bits. A class holds values
that `<` orders among themselves, up to a *doubt*: a range of keys around the value asked for in which the answer is found by
comparing. Values of two classes compare only where a value has a range in the other: xsd:floats and other numbers, dateTimes
with and without a zone. Rows with values that compare with nothing are not kept.

    keys of a class   first ------- doubt_low ... doubt_high ------- last
    asked for greater                [ compared one by one ] all match

So an arriving row looks only at rows that match, and at those in doubt. Numbers, strings and inlined values are read here;
the rest is asked of `by_value`.
"""

import cython

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from millstream.kernels.containers.keyed cimport keyed_at
from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.containers.ordered_tree cimport Spot, tree_step
from millstream.kernels.dictionary.values cimport (
    BOOLEAN, DATETIME, INCOMPARABLE, LANGUAGE, STRING, TYPED, ZONE_NONE, compare_inlined, instant_of, kind_of, payload_of,
    zone_of,
)
from millstream.kernels.flow.change_rows cimport WEIGHT, Written, change_row, read_row
from millstream.kernels.flow.deltas cimport check_widths
from millstream.kernels.flow.two_sided cimport LEFT, TwoSided
from millstream.kernels.order.term_order cimport CLASS_SHIFT, FLOAT_TYPE, Text, TermOrder, key_of_double
from millstream.kernels.relations.ordered_rows cimport OrderedRows, first_from, row_add, rows_bytes, rows_close, rows_open

cdef enum:
    NUMBER_CLASS = 1
    FLOAT_CLASS = 2
    BOOLEAN_CLASS = 3
    STRING_CLASS = 4
    LANGUAGE_CLASS = 5
    ZONED_CLASS = 6             # dateTimes
    UNZONED_CLASS = 7
    MOST_RANGES = 2
    FARTHEST_ZONE_MS = 14 * 3600 * 1000


cdef struct Range:
    uint64_t first
    uint64_t doubt_low
    uint64_t doubt_high
    uint64_t last


cdef inline uint64_t classed(int found, uint64_t prefix) noexcept nogil:
    return <uint64_t>found << CLASS_SHIFT | prefix


cdef inline void whole_class(Range* given, uint64_t low, uint64_t high) noexcept nogil:
    """All of the class of a doubt."""
    given.first = low >> CLASS_SHIFT << CLASS_SHIFT
    given.doubt_low = low
    given.doubt_high = high
    given.last = given.first | ((<uint64_t>1 << CLASS_SHIFT) - 1)


cdef inline uint64_t instant_key(int found, int64_t at_ms) noexcept nogil:
    return classed(found, <uint64_t>(at_ms + (<int64_t>1 << 58)))


@cython.final
cdef class OrderedJoin(TwoSided):
    """Pairs of rows whose columns compare: left < right, or left > right."""

    cdef OrderedRows sides[2]
    cdef int places[2]
    cdef bint rising            # whether the right value is the greater one
    cdef bint or_equal
    cdef bint made
    cdef TermOrder order
    cdef object by_value
    cdef int64_t* wanted        # the ids of the row at hand

    def __cinit__(self, inputs, int width, places, bint rising, bint or_equal, TermOrder order not None, by_value):
        cdef int widths[2]
        cdef int side
        widths[0], widths[1] = self.left.rows.width, self.right.rows.width
        check_widths([self.out], widths[0] + widths[1])
        if len(places) != 2 or not (0 <= places[0] < widths[0] and 0 <= places[1] < widths[1]):
            raise ValueError(f"expected two places in rows of two widths, got {places} in {widths[0]} and {widths[1]}")
        for side in range(2):
            self.places[side] = places[side]
            rows_open(&self.sides[side], widths[side])
        self.made = True
        self.rising = rising
        self.or_equal = or_equal
        self.order = order
        self.by_value = by_value
        self.wanted = <int64_t*>block_resize(NULL, 0, max(widths[0], widths[1]) * sizeof(int64_t))

    def __dealloc__(self):
        if self.made:
            block_free(self.wanted, max(self.sides[0].rows.width, self.sides[1].rows.width) * sizeof(int64_t))
            rows_close(&self.sides[0])
            rows_close(&self.sides[1])

    # Keys and ranges of values

    cdef bint is_single(self, int64_t term_id) except -1:
        cdef Text text
        return kind_of(term_id) == TYPED and self.order.read_text(term_id, &text, NULL) and text.datatype == FLOAT_TYPE

    cdef int language_key(self, int64_t term_id, Range* given) except -1:
        """Strings with one language follow each other: the language, a zero byte, the string."""
        cdef Text text
        cdef uint64_t bits = 0, ones = 0
        cdef int64_t i
        if not self.order.read_text(term_id, &text, NULL):
            return 0
        for i in range(8):
            bits <<= 8
            ones <<= 8
            if i < text.language_length:
                bits |= text.language[i]
            elif i > text.language_length:
                bits |= text.bytes[i - text.language_length - 1] if i - text.language_length - 1 < text.length else 0
                ones |= 255
        bits = classed(LANGUAGE_CLASS, bits >> 4)
        given.first = bits & ~(ones >> 4)
        given.doubt_low = given.doubt_high = bits
        given.last = bits | ones >> 4
        return 1

    cdef int number_ranges(self, int64_t term_id, Range* given) except -1:
        """One in its own class, and one around it in the other; a decimal is rounded to be compared with a float."""
        cdef double number = 0, room, low, high
        cdef bint single
        if not self.order.read_number(term_id, &number):
            return 0
        single = self.is_single(term_id)
        room = 0 if fabs(number) == INFINITY else fabs(number) * 3e-7 + 1e-44
        low = -INFINITY if number - room < -3e38 else min(number - room, 3e38)
        high = INFINITY if number + room > 3e38 else max(number + room, -3e38)
        whole_class(given, classed(FLOAT_CLASS if single else NUMBER_CLASS, key_of_double(number)),
                    classed(FLOAT_CLASS if single else NUMBER_CLASS, key_of_double(number)))
        whole_class(given + 1, classed(NUMBER_CLASS if single else FLOAT_CLASS, key_of_double(low)),
                    classed(NUMBER_CLASS if single else FLOAT_CLASS, key_of_double(high)))
        return 2

    cdef int ranges(self, int64_t term_id, bint greater, Range* given) except -1:
        """Where values are that compare with a term's: how many ranges. The first one's doubt begins with its own key."""
        cdef int kind = kind_of(term_id), count = 0
        cdef int own
        cdef int64_t at_ms
        cdef uint64_t key = 0
        if term_id < 0 or kind < STRING:
            return 0
        if kind == DATETIME:
            own = UNZONED_CLASS if zone_of(term_id) == ZONE_NONE else ZONED_CLASS
            at_ms = instant_of(term_id)
            key = instant_key(own, at_ms)
            whole_class(given, key, key)
            key = instant_key(
                ZONED_CLASS + UNZONED_CLASS - own, at_ms + (FARTHEST_ZONE_MS if greater else -FARTHEST_ZONE_MS)
            )
            whole_class(given + 1, key, key)
            return 2
        if kind == BOOLEAN:
            key = classed(BOOLEAN_CLASS, <uint64_t>payload_of(term_id))
            whole_class(given, key, key)
            return 1
        if kind == STRING and self.order.text_key(term_id, &key):
            key = classed(STRING_CLASS, key)
            whole_class(given, key, key)
            return 1
        if kind == LANGUAGE:
            count = self.language_key(term_id, given)
        elif kind != STRING:
            count = self.number_ranges(term_id, given)
        return count if count else self.asked_ranges(term_id, greater, given)

    cdef int asked_ranges(self, int64_t term_id, bint greater, Range* given) except -1:
        cdef int count = 0
        for first, low, high, last in self.by_value.ranges(term_id, greater)[:MOST_RANGES]:
            given[count].first, given[count].doubt_low, given[count].doubt_high, given[count].last = first, low, high, last
            count += 1
        return count

    # Matching

    cdef bint matches(self, int64_t left, int64_t right) except -1:
        cdef int found = compare_inlined(left, right)
        if found == INCOMPARABLE:
            if kind_of(left) == kind_of(right) == STRING:
                found = 0 if left == right else self.order.compare_alike(left, right)
            if found == INCOMPARABLE:
                return self.by_value.matches(left, right)
        if found == 0:
            return self.or_equal
        return (found < 0) == self.rising

    cdef void put(self, int side, int64_t* other, int64_t weight) noexcept nogil:
        """Collects the row at hand, of a side, with a row of the other."""
        cdef int64_t* values = change_row(&self.group)
        cdef int left = self.sides[0].rows.width, right = self.sides[1].rows.width
        memcpy(values, other if side else self.wanted, left * sizeof(int64_t))
        memcpy(values + left, self.wanted if side else other, right * sizeof(int64_t))
        values[left + right] = weight

    cdef int probe(self, int side, Range* given, bint greater, int64_t weight) except -1:
        """Collects the row at hand with all rows of the other side that match in a range."""
        cdef OrderedRows* rows = &self.sides[1 - side]
        cdef uint64_t last = given.last if greater else given.doubt_high, key
        cdef Spot spot = first_from(rows, given.doubt_low if greater else given.first)
        cdef int64_t* row
        cdef int64_t own = self.wanted[self.places[side]], other
        if spot.place == rows.tree.nodes[spot.leaf].count and not tree_step(&rows.tree, &spot):
            return 0
        while True:
            key = rows.tree.nodes[spot.leaf].keys[spot.place]
            if key > last:
                return 0
            row = keyed_at(&rows.rows, rows.tree.nodes[spot.leaf].entries[spot.place])
            other = row[self.places[1 - side]]
            if not given.doubt_low <= key <= given.doubt_high or (
                self.matches(other, own) if side else self.matches(own, other)
            ):
                self.put(side, row, weight * row[rows.rows.width])
            if not tree_step(&rows.tree, &spot):
                return 0

    cdef int take(self, int side, int64_t weight) except -1:
        """One row of a side, its ids at hand."""
        cdef Range given[MOST_RANGES]
        cdef bint greater = self.rising != (side == 1)
        cdef int count = self.ranges(self.wanted[self.places[side]], greater, given), i
        for i in range(count):
            self.probe(side, given + i, greater, weight)
        if count:
            row_add(&self.sides[side], self.wanted, given[0].doubt_low, weight)
        return 0

    cdef int add(self, int side, int64_t row) except -1:
        cdef Written* given = &self.left.rows if side == LEFT else &self.right.rows
        read_row(self.wanted, given, row)
        return self.take(side, given.columns[given.width + WEIGHT][row])

    @property
    def stats(self):
        return {
            "left": int(self.sides[0].rows.records.live),
            "right": int(self.sides[1].rows.records.live),
            "bytes": int(rows_bytes(&self.sides[0]) + rows_bytes(&self.sides[1])),
        }

    @property
    def stored(self):
        return int(self.sides[0].rows.records.live + self.sides[1].rows.records.live)
