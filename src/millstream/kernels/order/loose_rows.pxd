"""Rows in no order, with their first keys: those of a ranking that lie far behind its slice.

A row is the number of a record, whose place here its owner remembers. What leaves is replaced by the last one.
"""

from libc.stdint cimport int64_t, uint64_t

from millstream.kernels.containers.memory cimport block_free, block_resize

cdef enum:
    FEWEST = 64                 # rows that there is room for
    SAMPLED = 64


cdef struct LooseRow:
    uint64_t key
    int64_t number


cdef struct LooseRows:
    LooseRow* data
    int64_t size
    int64_t capacity
    int64_t weight              # of all of them


cdef inline void loose_fit(LooseRows* rows, int64_t capacity) noexcept nogil:
    rows.data = <LooseRow*>block_resize(rows.data, rows.capacity * sizeof(LooseRow), capacity * sizeof(LooseRow))
    rows.capacity = capacity


cdef inline void loose_close(LooseRows* rows) noexcept nogil:
    block_free(rows.data, rows.capacity * sizeof(LooseRow))


cdef inline int64_t loose_put(LooseRows* rows, uint64_t key, int64_t number) noexcept nogil:
    """Where a row is put."""
    if rows.size == rows.capacity:
        loose_fit(rows, max(<int64_t>FEWEST, 2 * rows.capacity))
    rows.data[rows.size].key = key
    rows.data[rows.size].number = number
    rows.size += 1
    return rows.size - 1


cdef inline int64_t loose_drop(LooseRows* rows, int64_t place) noexcept nogil:
    """Takes a row out; the number of the row that stands at its place then, -1 for none."""
    rows.size -= 1
    rows.data[place] = rows.data[rows.size]
    if rows.capacity > FEWEST and 4 * rows.size < rows.capacity:
        loose_fit(rows, rows.capacity >> 1)
    return rows.data[place].number if place < rows.size else -1


cdef inline uint64_t loose_key(const LooseRows* rows, int64_t wanted) noexcept nogil:
    """A key of which about as many rows as are wanted, and at least one, have it or a lower one; there are rows."""
    cdef uint64_t sample[SAMPLED]
    cdef int64_t count = min(rows.size, <int64_t>SAMPLED), i, at
    cdef uint64_t key
    if wanted >= rows.size:
        return <uint64_t>-1
    for i in range(count):
        key = rows.data[i * rows.size // count].key
        at = i
        while at > 0 and sample[at - 1] > key:
            sample[at] = sample[at - 1]
            at -= 1
        sample[at] = key
    return sample[<int64_t>(<double>wanted / <double>rows.size * <double>count)]
