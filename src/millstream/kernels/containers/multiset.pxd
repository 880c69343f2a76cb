"""A multiset of rows of equal width: each different row once, with its counts, found by a hash of the whole row.

A record is words of 64 bits, addressed by its first column; a free one keeps the free list in its last four bytes:

    links ... | columns ... | counts ...
              ^ row_at

Links belong to whoever chains the rows; `multiset_widen` adds one in front of each record, which moves no free list. The
caller enters a row when its counts become other than zero and lets it leave when they are zero again.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy, memset

from millstream.kernels.containers.hash_index cimport (
    Index, Probe, index_bytes, index_close, index_drop, index_open, index_put, probe, probe_next, words_hash,
)
from millstream.kernels.containers.memory cimport block_free, block_new
from millstream.kernels.containers.records cimport Records, record_free, record_new


cdef struct Multiset:
    int width
    int counts
    int links
    int64_t bytes_each
    Records records
    Index index


cdef inline void multiset_open(Multiset* rows, int width, int counts) noexcept nogil:
    memset(rows, 0, sizeof(Multiset))
    rows.width = width
    rows.counts = counts
    rows.bytes_each = (width + counts) * <int64_t>sizeof(int64_t)
    rows.records.free = -1
    index_open(&rows.index)


cdef inline void multiset_close(Multiset* rows) noexcept nogil:
    block_free(rows.records.data, rows.records.capacity * rows.bytes_each)
    rows.records.data = NULL
    if rows.index.slots != NULL:
        index_close(&rows.index)


cdef inline int64_t multiset_bytes(Multiset* rows) noexcept nogil:
    return rows.records.capacity * rows.bytes_each + index_bytes(&rows.index)


cdef inline int64_t* row_at(Multiset* rows, int32_t number) noexcept nogil:
    return (<int64_t*>(rows.records.data + number * rows.bytes_each)) + rows.links


cdef inline uint32_t row_hash(int64_t* values, int width) noexcept nogil:
    return words_hash(values, width)


cdef inline bint row_equal(int64_t* a, int64_t* b, int width) noexcept nogil:
    cdef int i
    for i in range(width):
        if a[i] != b[i]:
            return False
    return True


cdef inline int32_t multiset_find(Multiset* rows, int64_t* values, uint32_t hash) noexcept nogil:
    """The number of a row, -1 if it is not there."""
    cdef Probe found = probe(&rows.index, hash)
    cdef int32_t number = probe_next(&rows.index, &found)
    while number >= 0 and not row_equal(row_at(rows, number), values, rows.width):
        number = probe_next(&rows.index, &found)
    return number


cdef inline int32_t multiset_enter(Multiset* rows, int64_t* values, uint32_t hash) noexcept nogil:
    """Puts a row in that is not there, its counts zero."""
    cdef int32_t number = record_new(&rows.records, rows.bytes_each)
    cdef int64_t* row = row_at(rows, number)
    memcpy(row, values, rows.width * sizeof(int64_t))
    memset(row + rows.width, 0, rows.counts * sizeof(int64_t))
    index_put(&rows.index, hash, number)
    return number


cdef inline void multiset_leave(Multiset* rows, int32_t number, uint32_t hash) noexcept nogil:
    index_drop(&rows.index, hash, number)
    record_free(&rows.records, rows.bytes_each, number)


cdef inline void multiset_widen(Multiset* rows) noexcept nogil:
    """One more link before each row."""
    cdef int64_t wider = rows.bytes_each + <int64_t>sizeof(int64_t), number
    cdef char* data = NULL
    if rows.records.capacity:
        data = <char*>block_new(rows.records.capacity * wider)
        for number in range(rows.records.size):
            memcpy(data + number * wider + sizeof(int64_t), rows.records.data + number * rows.bytes_each, rows.bytes_each)
        block_free(rows.records.data, rows.records.capacity * rows.bytes_each)
    rows.records.data = data
    rows.bytes_each = wider
    rows.links += 1
