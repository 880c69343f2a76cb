"""Arrays by number that grow: what lies behind the end reads as zero bytes once there is room for it."""

from libc.stdint cimport int64_t
from libc.string cimport memset

from millstream.kernels.containers.memory cimport block_free, block_resize


cdef struct Growing:
    char* data
    int64_t bytes


cdef inline void growing_room(Growing* array, int64_t count, int64_t bytes_each) noexcept nogil:
    """Makes room for `count` elements."""
    cdef int64_t needed = count * bytes_each, bytes
    if needed > array.bytes:
        bytes = max(needed, array.bytes + (array.bytes >> 1), 256)
        array.data = <char*>block_resize(array.data, array.bytes, bytes)
        memset(array.data + array.bytes, 0, bytes - array.bytes)
        array.bytes = bytes


cdef inline void growing_close(Growing* array) noexcept nogil:
    block_free(array.data, array.bytes)
    array.data = NULL
    array.bytes = 0
