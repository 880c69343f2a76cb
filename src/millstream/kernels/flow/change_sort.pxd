"""Rows of one change in order of their columns, equal ones beside each other.

Rows that come in order stay as they are. Others are merged from the runs that are in order; many are sorted by digits.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from millstream.kernels.containers.memory cimport block_free, block_new, leading_zeros

cdef extern from *:
    int lowest_bit "__builtin_ctzll"(unsigned long long) noexcept nogil

cdef enum:
    SMALL = 12                  # up to so many rows are sorted by insertion, and no run is shorter
    MANY = 512                  # from so many on, keys are packed and sorted by digits
    FEW_RUNS = 44               # of less than that: MANY / SMALL + 2
    MOST_PACKED = 64            # columns whose keys may be packed
    DIGIT = 11                  # bits


cdef struct ChangeRows:
    int width
    int64_t stride              # values of a row: columns, weight
    int64_t* rows
    int32_t* order
    int32_t* other_order
    int64_t size
    int64_t capacity


cdef inline int compare_rows(const int64_t* x, const int64_t* y, int width) noexcept nogil:
    cdef int i
    for i in range(width):
        if x[i] != y[i]:
            return -1 if x[i] < y[i] else 1
    return 0


cdef inline int change_compare(ChangeRows* group, int32_t a, int32_t b) noexcept nogil:
    return compare_rows(group.rows + a * group.stride, group.rows + b * group.stride, group.width)


cdef inline void change_sort_piece(ChangeRows* group, int32_t first, int32_t last) noexcept nogil:
    cdef int32_t i, j, moved
    for i in range(first + 1, last):
        moved = group.order[i]
        j = i
        while j > first and change_compare(group, group.order[j - 1], moved) > 0:
            group.order[j] = group.order[j - 1]
            j -= 1
        group.order[j] = moved


cdef struct Packed:
    # The bits in which rows of a group differ, column after column, as a number of 128.
    uint64_t high
    uint64_t low
    int64_t row


cdef inline bint group_sort_packed(ChangeRows* group) noexcept nogil:
    """Orders a large group by its columns, digit by digit, if few enough bits tell its rows apart; whether they do."""
    cdef uint64_t differ[MOST_PACKED]
    cdef int shift[MOST_PACKED]
    cdef int bits[MOST_PACKED]
    cdef int64_t counts[1 << DIGIT]
    cdef int64_t size = group.size, i, before, count
    cdef int column, total = 0, at
    cdef int64_t* row
    cdef Packed* packed
    cdef Packed* other
    cdef Packed* swapped
    cdef Packed one
    cdef uint64_t value, mask = (1 << DIGIT) - 1
    if group.width > MOST_PACKED:
        return False
    memset(differ, 0, group.width * sizeof(uint64_t))
    for i in range(1, size):
        row = group.rows + i * group.stride
        for column in range(group.width):
            differ[column] |= <uint64_t>(row[column] ^ group.rows[column])
    for column in range(group.width):
        bits[column] = 0
        shift[column] = 0
        if differ[column]:
            shift[column] = lowest_bit(differ[column])
            bits[column] = 64 - leading_zeros(differ[column]) - shift[column]
        total += bits[column]
    if total > 128:
        return False
    packed = <Packed*>block_new(size * sizeof(Packed))
    other = <Packed*>block_new(size * sizeof(Packed))
    for i in range(size):
        row = group.rows + i * group.stride
        one.high = one.low = 0
        one.row = i
        for column in range(group.width):
            if bits[column] == 0:
                continue
            # The sign comes first where rows differ in it: with it flipped, bits are ordered as numbers are.
            value = (<uint64_t>row[column] ^ (<uint64_t>1 << 63)) >> shift[column]
            if bits[column] == 64:
                one.high = one.low
                one.low = value
                continue
            value &= (<uint64_t>1 << bits[column]) - 1
            one.high = one.high << bits[column] | one.low >> (64 - bits[column])
            one.low = one.low << bits[column] | value
        packed[i] = one
    at = 0
    while at < total:
        memset(counts, 0, sizeof(counts))
        for i in range(size):
            counts[digit_of(&packed[i], at) & mask] += 1
        before = 0
        for i in range(1 << DIGIT):
            count = counts[i]
            counts[i] = before
            before += count
        for i in range(size):
            value = digit_of(&packed[i], at) & mask
            other[counts[value]] = packed[i]
            counts[value] += 1
        swapped = packed
        packed = other
        other = swapped
        at += DIGIT
    for i in range(size):
        group.order[i] = <int32_t>packed[i].row
        if i and packed[i].low == packed[i - 1].low and packed[i].high == packed[i - 1].high:
            group.order[i] = ~group.order[i]
    block_free(packed, size * sizeof(Packed))
    block_free(other, size * sizeof(Packed))
    return True


cdef inline uint64_t digit_of(const Packed* packed, int at) noexcept nogil:
    """The bits of a number from a place on; more than are asked for."""
    if at >= 64:
        return packed.high >> (at - 64)
    if at == 0:
        return packed.low
    return packed.low >> at | packed.high << (64 - at)


cdef inline void change_sort(ChangeRows* group) noexcept nogil:
    """Orders the group by its columns, and tells equal rows: one that is equal to the one before is there as ~row."""
    cdef int64_t i
    cdef int32_t row = 1, before
    cdef int order
    # Rows mostly come in the order in which a join or an operator found them, and that is often theirs.
    group.order[0] = 0
    while row < group.size:
        order = change_compare(group, row - 1, row)
        if order > 0:
            break
        group.order[row] = row if order else ~row
        row += 1
    if row == group.size or (group.size >= MANY and group_sort_packed(group)):
        return
    group_merge_sort(group, row)
    before = group.order[0]
    for i in range(1, group.size):
        row = group.order[i]
        if change_compare(group, before, row) == 0:
            group.order[i] = ~row
        before = row


cdef inline int32_t next_run(ChangeRows* group, int32_t first) noexcept nogil:
    """Where a run ends that begins at a row: in order as it is, turned round, or a short one put in order."""
    cdef int32_t size = <int32_t>group.size, last = first + 1, i
    if last < size and change_compare(group, first, last) > 0:
        # As chains give them, the latest first.
        while last < size and change_compare(group, last - 1, last) > 0:
            last += 1
        for i in range(first, last):
            group.order[i] = first + last - 1 - i
    else:
        while last < size and change_compare(group, last - 1, last) <= 0:
            last += 1
    if last - first < SMALL:
        last = min(first + SMALL, size)
        change_sort_piece(group, first, last)
    return last


cdef inline void group_merge_sort(ChangeRows* group, int32_t ordered) noexcept nogil:
    """Merges runs of rows in order, neighbours first, until there is one; so many of the first rows are in order."""
    cdef int32_t few[FEW_RUNS]
    cdef int32_t size = <int32_t>group.size, first, middle, last = 0, i, j, k
    cdef int64_t bytes = (size // SMALL + 2) * <int64_t>sizeof(int32_t)
    cdef int32_t* ends = &few[0] if size <= MANY else <int32_t*>block_new(bytes)
    cdef int32_t* swapped
    cdef int32_t runs = 0, run, merged
    for i in range(size):
        group.order[i] = i
    while last < size:
        last = ordered if runs == 0 and ordered >= SMALL else next_run(group, last)
        ends[runs] = last
        runs += 1
    while runs > 1:
        first = 0
        merged = 0
        for run in range(0, runs, 2):
            middle = ends[run]
            last = ends[run + 1] if run + 1 < runs else middle
            i = first
            j = middle
            for k in range(first, last):
                if i < middle and (j >= last or change_compare(group, group.order[i], group.order[j]) <= 0):
                    group.other_order[k] = group.order[i]
                    i += 1
                else:
                    group.other_order[k] = group.order[j]
                    j += 1
            ends[merged] = last
            merged += 1
            first = last
        runs = merged
        swapped = group.order
        group.order = group.other_order
        group.other_order = swapped
    if ends != &few[0]:
        block_free(ends, bytes)
