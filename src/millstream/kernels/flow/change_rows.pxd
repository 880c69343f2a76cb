"""Rows of one change, collected in any order and written consolidated.

A group holds rows of `width` values and a weight, row by row. Written as one change, rows of equal columns are summed, zeros
dropped, the rest ordered by columns: so the order in which rows were found does not show. What was written is column by
column: those of the rows, then tick, change and weight.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from millstream.kernels.containers.memory cimport block_free, block_new, block_resize, leading_zeros

cdef extern from *:
    int lowest_bit "__builtin_ctzll"(unsigned long long) noexcept nogil

cdef enum:
    SMALL = 12                  # up to so many rows are sorted by insertion
    MANY = 512                  # from so many on, keys are packed and sorted by digits
    MOST_PACKED = 64            # columns whose keys may be packed
    DIGIT = 11                  # bits
    TILE = 64                   # rows that are written together
    KEPT = 1 << 18              # room for more rows than this is given back
    MORE_COLUMNS = 3
    TICK = 0                    # places of the further columns, after the width
    CHANGE = 1
    WEIGHT = 2


cdef struct ChangeRows:
    int width
    int64_t stride              # values of a row: columns, weight
    int64_t* rows
    int32_t* order
    int32_t* other_order
    int64_t size
    int64_t capacity


cdef struct Written:
    int width
    int64_t** columns
    int64_t size
    int64_t capacity


cdef inline void change_open(ChangeRows* group, int width) noexcept nogil:
    group.width = width
    group.stride = width + 1


cdef inline void change_close(ChangeRows* group) noexcept nogil:
    block_free(group.rows, group.capacity * group.stride * sizeof(int64_t))
    block_free(group.order, group.capacity * sizeof(int32_t))
    block_free(group.other_order, group.capacity * sizeof(int32_t))
    group.rows = NULL
    group.order = NULL
    group.other_order = NULL
    group.capacity = 0


cdef inline void change_grow(ChangeRows* group) noexcept nogil:
    cdef int64_t capacity = max(64, group.capacity * 2)
    group.rows = <int64_t*>block_resize(group.rows, group.capacity * group.stride * sizeof(int64_t),
                                        capacity * group.stride * sizeof(int64_t))
    group.order = <int32_t*>block_resize(group.order, group.capacity * sizeof(int32_t), capacity * sizeof(int32_t))
    group.other_order = <int32_t*>block_resize(
        group.other_order, group.capacity * sizeof(int32_t), capacity * sizeof(int32_t)
    )
    group.capacity = capacity


cdef inline int64_t* change_row(ChangeRows* group) noexcept nogil:
    """A new row, its columns and then its weight to be written by the caller."""
    if group.size == group.capacity:
        change_grow(group)
    group.size += 1
    return group.rows + (group.size - 1) * group.stride


cdef inline void read_row(int64_t* into, const Written* rows, int64_t row) noexcept nogil:
    cdef int column
    for column in range(rows.width):
        into[column] = rows.columns[column][row]


cdef inline void change_take(ChangeRows* group, const Written* rows, int64_t row) noexcept nogil:
    """Copies a row in."""
    cdef int64_t* values = change_row(group)
    read_row(values, rows, row)
    values[group.width] = rows.columns[rows.width + WEIGHT][row]


cdef inline int change_compare(ChangeRows* group, int32_t a, int32_t b) noexcept nogil:
    cdef int64_t* x = group.rows + a * group.stride
    cdef int64_t* y = group.rows + b * group.stride
    cdef int i
    for i in range(group.width):
        if x[i] != y[i]:
            return -1 if x[i] < y[i] else 1
    return 0


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
    """Orders the group by its columns: insertion in short pieces, then merging from the bottom up; a large one by digits.

    A row that is equal to the one before is there as ~row."""
    cdef int64_t i
    cdef int32_t row, before
    if group.size >= MANY and group_sort_packed(group):
        return
    group_merge_sort(group)
    before = group.order[0]
    for i in range(1, group.size):
        row = group.order[i]
        if change_compare(group, before, row) == 0:
            group.order[i] = ~row
        before = row


cdef inline void group_merge_sort(ChangeRows* group) noexcept nogil:
    cdef int32_t size = <int32_t>group.size, piece = SMALL, first, middle, last, i, j, k
    cdef int32_t* swapped
    for i in range(size):
        group.order[i] = i
    first = 0
    while first < size:
        change_sort_piece(group, first, min(first + SMALL, size))
        first += SMALL
    while piece < size:
        first = 0
        while first < size:
            middle = min(first + piece, size)
            last = min(middle + piece, size)
            i = first
            j = middle
            for k in range(first, last):
                if i < middle and (j >= last or change_compare(group, group.order[i], group.order[j]) <= 0):
                    group.other_order[k] = group.order[i]
                    i += 1
                else:
                    group.other_order[k] = group.order[j]
                    j += 1
            first = last
        swapped = group.order
        group.order = group.other_order
        group.other_order = swapped
        piece *= 2


cdef inline void written_open(Written* written, int width) noexcept nogil:
    cdef int column
    written.width = width
    written.columns = <int64_t**>block_resize(NULL, 0, (width + MORE_COLUMNS) * sizeof(int64_t*))
    for column in range(width + MORE_COLUMNS):
        written.columns[column] = NULL


cdef inline void written_shrink(Written* written) noexcept nogil:
    cdef int column
    for column in range(written.width + MORE_COLUMNS):
        block_free(written.columns[column], written.capacity * sizeof(int64_t))
        written.columns[column] = NULL
    written.capacity = 0


cdef inline void written_close(Written* written) noexcept nogil:
    if written.columns == NULL:
        return
    written_shrink(written)
    block_free(written.columns, (written.width + MORE_COLUMNS) * sizeof(int64_t*))
    written.columns = NULL


cdef inline void written_room(Written* written, int64_t more) noexcept nogil:
    """Room for so many rows more."""
    cdef int64_t capacity = max(16, written.capacity * 2, written.size + more)
    cdef int column
    if written.size + more <= written.capacity:
        return
    for column in range(written.width + MORE_COLUMNS):
        written.columns[column] = <int64_t*>block_resize(
            written.columns[column], written.capacity * sizeof(int64_t), capacity * sizeof(int64_t))
    written.capacity = capacity


cdef inline void write_rows(Written* written, const ChangeRows* group, const int32_t* rows, const int64_t* weights,
                            int64_t count, int64_t tick, int64_t change) noexcept nogil:
    """Writes rows of a group, column by column: columns lie alike in memory, and would drive each other out of the cache."""
    cdef int64_t first = written.size, i
    cdef const int64_t* values
    cdef int64_t* into
    cdef int column
    written_room(written, count)
    for column in range(written.width):
        into = written.columns[column] + first
        values = group.rows + column
        for i in range(count):
            into[i] = values[rows[i] * group.stride]
    for i in range(count):
        written.columns[written.width + TICK][first + i] = tick
    for i in range(count):
        written.columns[written.width + CHANGE][first + i] = change
    memcpy(written.columns[written.width + WEIGHT] + first, weights, count * sizeof(int64_t))
    written.size += count


cdef inline void write_row(Written* written, int64_t* values, int64_t tick, int64_t change, int64_t weight) noexcept nogil:
    cdef int column
    written_room(written, 1)
    for column in range(written.width):
        written.columns[column][written.size] = values[column]
    written.columns[written.width + TICK][written.size] = tick
    written.columns[written.width + CHANGE][written.size] = change
    written.columns[written.width + WEIGHT][written.size] = weight
    written.size += 1


cdef inline void written_copy(Written* into, int first, const Written* given, const int64_t* places) noexcept nogil:
    """Writes all rows of another into one that is empty: from column `first` on those at its places, -1 for none."""
    cdef int64_t bytes = given.size * sizeof(int64_t), i
    cdef int column
    written_room(into, given.size)
    if given.size == 0:
        return
    for column in range(first, into.width):
        if places[column - first] >= 0:
            memcpy(into.columns[column], given.columns[places[column - first]], bytes)
        else:
            for i in range(given.size):
                into.columns[column][i] = -1
    for column in range(MORE_COLUMNS):
        memcpy(into.columns[into.width + column], given.columns[given.width + column], bytes)
    into.size = given.size


cdef inline void change_write(ChangeRows* group, Written* written, int64_t tick, int64_t change) noexcept nogil:
    """Writes the group as one change and empties it."""
    cdef int32_t rows[TILE]
    cdef int64_t weights[TILE]
    cdef int64_t i = 0, weight, count = 0
    cdef int32_t row
    if group.size == 1:
        group.order[0] = 0
    elif group.size:
        change_sort(group)
        written_room(written, group.size)
    while i < group.size:
        row = group.order[i]
        weight = group.rows[row * group.stride + group.width]
        i += 1
        while i < group.size and group.order[i] < 0:
            weight += group.rows[~group.order[i] * group.stride + group.width]
            i += 1
        if weight == 0:
            continue
        rows[count] = row
        weights[count] = weight
        count += 1
        if count == TILE:
            write_rows(written, group, rows, weights, count, tick, change)
            count = 0
    if count:
        write_rows(written, group, rows, weights, count, tick, change)
    group.size = 0
    if group.capacity > KEPT:
        change_close(group)


cdef inline tuple written_take(Written* written):
    """What was written, as arrays: columns (rows by width), tick, change, weight. Empties it."""
    cdef cnp.npy_intp shape[2]
    cdef int64_t size = written.size
    cdef int column
    shape[0] = written.width
    shape[1] = size
    cdef cnp.ndarray columns = cnp.PyArray_SimpleNew(2, shape, cnp.NPY_INT64)
    cdef cnp.ndarray tick = cnp.PyArray_SimpleNew(1, &shape[1], cnp.NPY_INT64)
    cdef cnp.ndarray change = cnp.PyArray_SimpleNew(1, &shape[1], cnp.NPY_INT64)
    cdef cnp.ndarray weight = cnp.PyArray_SimpleNew(1, &shape[1], cnp.NPY_INT64)
    if size:
        for column in range(written.width):
            memcpy((<int64_t*>cnp.PyArray_DATA(columns)) + column * size, written.columns[column], size * sizeof(int64_t))
        memcpy(cnp.PyArray_DATA(tick), written.columns[written.width + TICK], size * sizeof(int64_t))
        memcpy(cnp.PyArray_DATA(change), written.columns[written.width + CHANGE], size * sizeof(int64_t))
        memcpy(cnp.PyArray_DATA(weight), written.columns[written.width + WEIGHT], size * sizeof(int64_t))
    written.size = 0
    if written.capacity > KEPT:
        written_shrink(written)
    return columns.T, tick, change, weight
