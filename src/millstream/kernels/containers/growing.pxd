"""Arrays by number that grow, what lies behind the end reading as zeros once there is room; and lists of numbers."""

from libc.stdint cimport int32_t, int64_t
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


cdef struct Numbers:
    int32_t* items
    int64_t size
    int64_t capacity


cdef inline void numbers_push(Numbers* numbers, int32_t number) noexcept nogil:
    cdef int64_t capacity
    if numbers.size == numbers.capacity:
        capacity = max(64, numbers.capacity * 2)
        numbers.items = <int32_t*>block_resize(
            numbers.items, numbers.capacity * sizeof(int32_t), capacity * sizeof(int32_t))
        numbers.capacity = capacity
    numbers.items[numbers.size] = number
    numbers.size += 1


cdef inline void numbers_close(Numbers* numbers) noexcept nogil:
    """Frees the room of numbers, which are none then."""
    block_free(numbers.items, numbers.capacity * sizeof(int32_t))
    numbers.items = NULL
    numbers.size = numbers.capacity = 0
