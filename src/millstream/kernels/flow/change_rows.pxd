"""Rows of one change, collected in any order and written consolidated.

A group holds rows of `width` values and a weight, row by row. Written as one change, rows of equal columns are summed, zeros
dropped, the rest ordered by columns: so the order in which rows were found does not show. What was written is column by
column: those of the rows, then tick, change and weight.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.flow.change_sort cimport SMALL, ChangeRows, change_sort, compare_rows

cdef enum:
    TILE = 64                   # rows that are written together
    KEPT = 1 << 18              # room for more rows than this is given back
    MORE_COLUMNS = 3
    TICK = 0                    # places of the further columns, after the width
    CHANGE = 1
    WEIGHT = 2


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


cdef inline void change_grow(ChangeRows* group, int64_t least) noexcept nogil:
    cdef int64_t capacity = max(64, group.capacity * 2, least)
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
        change_grow(group, 0)
    group.size += 1
    return group.rows + (group.size - 1) * group.stride


cdef inline int64_t* change_room(ChangeRows* group, int64_t more) noexcept nogil:
    """Where so many rows more can be written; the caller counts them."""
    if group.size + more > group.capacity:
        change_grow(group, group.size + more)
    return group.rows + group.size * group.stride


cdef inline void read_row(int64_t* into, const Written* rows, int64_t row) noexcept nogil:
    cdef int column
    for column in range(rows.width):
        into[column] = rows.columns[column][row]


cdef inline void change_take(ChangeRows* group, const Written* rows, int64_t row) noexcept nogil:
    """Copies a row in."""
    cdef int64_t* values = change_row(group)
    read_row(values, rows, row)
    values[group.width] = rows.columns[rows.width + WEIGHT][row]


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


cdef inline void change_write_few(ChangeRows* group, Written* written, int64_t tick, int64_t change) noexcept nogil:
    """As change_write, for at most SMALL rows: each is added to an equal one, or put in its place, as it is met."""
    cdef int64_t* order[SMALL]
    cdef int64_t* row = group.rows
    cdef int64_t i
    cdef int size = 0, at, moved, found
    for i in range(group.size):
        at = size
        found = 1
        while at > 0:
            found = compare_rows(order[at - 1], row, group.width)
            if found <= 0:
                break
            at -= 1
        if found == 0:
            order[at - 1][group.width] += row[group.width]
        else:
            for moved in range(size, at, -1):
                order[moved] = order[moved - 1]
            order[at] = row
            size += 1
        row += group.stride
    for at in range(size):
        if order[at][group.width]:
            write_row(written, order[at], tick, change, order[at][group.width])
    group.size = 0


cdef inline void change_write(ChangeRows* group, Written* written, int64_t tick, int64_t change) noexcept nogil:
    """Writes the group as one change and empties it."""
    cdef int32_t rows[TILE]
    cdef int64_t weights[TILE]
    cdef int64_t i = 0, weight, count = 0
    cdef int32_t row
    if group.size <= SMALL:
        change_write_few(group, written, tick, change)
        return
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
