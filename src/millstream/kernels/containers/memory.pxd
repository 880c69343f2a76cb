"""Blocks that grow without being copied, and small arrays of list entries.

A block is addressed by the number of bytes it was given. Past `MAPPED` bytes it is a mapping of its own: it grows by moving
page tables, comes zeroed, and costs nothing until it is touched, so that growing never pauses a stream. Past `PAGED` bytes
its pages are large ones, where the system has such. Below `MAPPED` it comes from malloc. Running out of memory ends the
process: half-linked structures cannot be unwound.

A shelf hands out arrays of 16-byte entries whose capacities are 1, 2, 3, 4, 6, 8, 12, 16, ... up to `SHELVED`; freed ones
wait on a free list of their capacity, threaded through their first bytes. Larger arrays are blocks.
"""

from libc.stdint cimport int32_t, int64_t

cdef extern from *:
    """
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #ifndef MILLSTREAM_BLOCKS
    #define MILLSTREAM_BLOCKS
    #define MILLSTREAM_MAPPED ((size_t)1 << 19)
    #define MILLSTREAM_PAGED ((size_t)1 << 22)
    #ifdef __linux__
    #include <sys/mman.h>
    #endif

    static void *block_checked(void *block) {
        if (block == NULL) { fprintf(stderr, "millstream: out of memory\\n"); abort(); }
        return block;
    }
    /* Large pages: fewer faults while a block is filled, fewer misses of addresses while it is read. */
    static void *block_paged(void *block, size_t size) {
    #ifdef MADV_HUGEPAGE
        if (size >= MILLSTREAM_PAGED) madvise(block, size, MADV_HUGEPAGE);
    #endif
        return block;
    }
    static void *block_new(size_t size) {
    #ifdef __linux__
        if (size >= MILLSTREAM_MAPPED) {
            void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            return block_paged(block_checked(block == MAP_FAILED ? NULL : block), size);
        }
    #endif
        return block_checked(calloc(size ? size : 1, 1));
    }
    /* Whose bytes the caller writes before it reads them. */
    static void *block_unset(size_t size) {
        return size >= MILLSTREAM_MAPPED ? block_new(size) : block_checked(malloc(size ? size : 1));
    }
    static void block_free(void *block, size_t size) {
        if (block == NULL) return;
    #ifdef __linux__
        if (size >= MILLSTREAM_MAPPED) { munmap(block, size); return; }
    #endif
        free(block);
    }
    static void *block_resize(void *block, size_t was, size_t size) {
    #ifdef __linux__
        if (was >= MILLSTREAM_MAPPED && size >= MILLSTREAM_MAPPED) {
            void *moved = mremap(block, was, size, MREMAP_MAYMOVE);
            return block_paged(block_checked(moved == MAP_FAILED ? NULL : moved), size);
        }
        if (was >= MILLSTREAM_MAPPED || size >= MILLSTREAM_MAPPED) {
            void *moved = block_new(size);
            if (block) memcpy(moved, block, was < size ? was : size);
            block_free(block, was);
            return moved;
        }
    #endif
        return block_checked(realloc(block, size ? size : 1));
    }
    #endif
    """
    void* block_new(size_t size) noexcept nogil
    void* block_unset(size_t size) noexcept nogil
    void block_free(void* block, size_t size) noexcept nogil
    void* block_resize(void* block, size_t was, size_t size) noexcept nogil
    int leading_zeros "__builtin_clzll"(unsigned long long) noexcept nogil

cdef enum:
    ENTRY_BYTES = 16
    SHELVED = 4096              # entries; a larger array is a block
    CLASSES = 26
    CHUNK_BYTES = 1 << 16


cdef struct Shelf:
    void* spare[CLASSES]        # free arrays by class of capacity
    char* chunk                 # what new arrays are cut from
    int64_t left                # bytes left in it
    void** chunks               # all of them, to be freed at the end
    int64_t chunk_count
    int64_t large               # bytes in blocks


cdef inline int capacity_class(int64_t capacity) noexcept nogil:
    """1, 2, 3, 4, 6, 8, 12 ... -> 0, 1, 2, 3, 4, 5, 6 ..."""
    cdef int power
    if capacity == 1:
        return 0
    power = 63 - leading_zeros(<unsigned long long>capacity)
    return 2 * power - 1 + (capacity & (capacity - 1) != 0)


cdef inline int64_t larger_capacity(int64_t capacity) noexcept nogil:
    if capacity < 3:
        return capacity + 1
    if capacity & (capacity - 1):
        return capacity // 3 * 4
    return capacity // 2 * 3


cdef inline int64_t smaller_capacity(int64_t capacity) noexcept nogil:
    """Half of it, in the same sequence."""
    return capacity >> 1


cdef inline void* shelf_take(Shelf* shelf, int64_t capacity) noexcept nogil:
    cdef int kind
    cdef void* array
    cdef int64_t size = capacity * ENTRY_BYTES
    if capacity > SHELVED:
        shelf.large += size
        return block_new(size)
    kind = capacity_class(capacity)
    array = shelf.spare[kind]
    if array != NULL:
        shelf.spare[kind] = (<void**>array)[0]
        return array
    if shelf.left < size:
        shelf.chunks = <void**>block_resize(shelf.chunks, shelf.chunk_count * sizeof(void*),
                                            (shelf.chunk_count + 1) * sizeof(void*))
        shelf.chunk = <char*>block_unset(CHUNK_BYTES)
        shelf.chunks[shelf.chunk_count] = shelf.chunk
        shelf.chunk_count += 1
        shelf.left = CHUNK_BYTES
    array = shelf.chunk
    shelf.chunk += size
    shelf.left -= size
    return array


cdef inline void shelf_give(Shelf* shelf, void* array, int64_t capacity) noexcept nogil:
    cdef int kind
    if capacity > SHELVED:
        shelf.large -= capacity * ENTRY_BYTES
        block_free(array, capacity * ENTRY_BYTES)
        return
    kind = capacity_class(capacity)
    (<void**>array)[0] = shelf.spare[kind]
    shelf.spare[kind] = array


cdef inline void shelf_close(Shelf* shelf) noexcept nogil:
    """Frees the chunks; the owner gives large arrays back first."""
    cdef int64_t i
    for i in range(shelf.chunk_count):
        block_free(shelf.chunks[i], CHUNK_BYTES)
    block_free(shelf.chunks, shelf.chunk_count * sizeof(void*))
    shelf.chunk_count = 0
    shelf.chunks = NULL
