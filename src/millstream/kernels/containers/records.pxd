"""Records of equal size by number, free ones used again: a free list in one block that grows without being copied.

A free record keeps the number of the next in its last four bytes.
"""

from libc.stdint cimport int32_t, int64_t

from millstream.kernels.containers.memory cimport SHELVED, block_resize


cdef struct Records:
    char* data
    int64_t size                # records ever used, free ones included
    int64_t capacity
    int64_t live
    int32_t free


cdef inline int32_t* next_free(Records* records, int64_t bytes_each, int32_t number) noexcept nogil:
    """Where a free record keeps the number of the next: in its last four bytes."""
    return (<int32_t*>(records.data + (number + 1) * bytes_each)) - 1


cdef inline int32_t record_next(Records* records) noexcept nogil:
    """The number that the next new record will have."""
    return records.free if records.free >= 0 else <int32_t>records.size


cdef inline int32_t record_new(Records* records, int64_t bytes_each) noexcept nogil:
    """A number for a new record; a free one first."""
    cdef int32_t number = records.free
    cdef int64_t capacity
    records.live += 1
    if number >= 0:
        records.free = next_free(records, bytes_each, number)[0]
        return number
    if records.size == records.capacity:
        capacity = records.capacity + max(16, records.capacity >> (2 if records.capacity > SHELVED else 1))
        records.data = <char*>block_resize(records.data, records.capacity * bytes_each, capacity * bytes_each)
        records.capacity = capacity
    number = <int32_t>records.size
    records.size += 1
    return number


cdef inline void record_free(Records* records, int64_t bytes_each, int32_t number) noexcept nogil:
    next_free(records, bytes_each, number)[0] = records.free
    records.free = number
    records.live -= 1
