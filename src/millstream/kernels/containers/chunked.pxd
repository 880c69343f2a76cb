"""Records by number in chunks that stay where they are, free ones used again.

Of records that are many and come and go with graphs: a chunk comes from malloc, so what one store gave back serves the next,
where a block that grows would have the system clear each of its pages first. A free record keeps the number of the next in
its last four bytes. Records are of RECORD_BYTES each.
"""

from libc.stdint cimport int32_t, int64_t

from millstream.kernels.containers.memory cimport block_free, block_resize, block_unset

cdef enum:
    RECORD_BYTES = 32
    CHUNK_BITS = 11
    IN_CHUNK = 1 << CHUNK_BITS


cdef struct Chunked:
    char** chunks
    int64_t size                # records ever used, free ones included
    int64_t capacity
    int64_t live
    int32_t free


cdef inline void* chunked_at(const Chunked* records, int64_t number) noexcept nogil:
    return records.chunks[number >> CHUNK_BITS] + (number & (IN_CHUNK - 1)) * RECORD_BYTES


cdef inline int32_t* chunked_link(const Chunked* records, int64_t number) noexcept nogil:
    """Where a free record keeps the number of the next."""
    return <int32_t*>chunked_at(records, number) + (RECORD_BYTES // 4 - 1)


cdef inline void chunked_grow(Chunked* records) noexcept nogil:
    cdef int64_t chunks = records.capacity >> CHUNK_BITS
    records.chunks = <char**>block_resize(records.chunks, chunks * sizeof(char*), (chunks + 1) * sizeof(char*))
    records.chunks[chunks] = <char*>block_unset(IN_CHUNK * RECORD_BYTES)
    records.capacity += IN_CHUNK


cdef inline int32_t chunked_new(Chunked* records) noexcept nogil:
    """A number for a new record; a free one first."""
    cdef int32_t number = records.free
    records.live += 1
    if number >= 0:
        records.free = chunked_link(records, number)[0]
        return number
    if records.size == records.capacity:
        chunked_grow(records)
    records.size += 1
    return <int32_t>(records.size - 1)


cdef inline void chunked_free(Chunked* records, int32_t number) noexcept nogil:
    chunked_link(records, number)[0] = records.free
    records.free = number
    records.live -= 1


cdef inline int64_t chunked_bytes(const Chunked* records) noexcept nogil:
    return records.capacity * RECORD_BYTES


cdef inline void chunked_close(Chunked* records) noexcept nogil:
    cdef int64_t i, chunks = records.capacity >> CHUNK_BITS
    for i in range(chunks):
        block_free(records.chunks[i], IN_CHUNK * RECORD_BYTES)
    block_free(records.chunks, chunks * sizeof(char*))
