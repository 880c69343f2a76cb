"""Cells for the bytes of terms, and their hash.

Cells come in sizes of 16 bytes up to 1024, cut from blocks; a freed cell goes to the list of its size and is used again at
once, so nothing is ever moved. Longer terms are allocated one by one. Blocks stay until the end: memory follows the peak of
each size, not the number of terms seen.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cdef enum:
    CELL_STEP = 16
    CELL_SIZES = 64
    BLOCK_BYTES = 1 << 16

cdef struct Cells:
    void *blocks                 # each block starts with the address of the one before
    uint8_t *fresh               # the unused rest of the last block
    int64_t room
    void *returned[CELL_SIZES + 1]
    int64_t reserved             # bytes taken from the system


cdef inline void open_cells(Cells *cells) noexcept nogil:
    memset(cells, 0, sizeof(Cells))


cdef inline void close_cells(Cells *cells) noexcept nogil:
    cdef void *block
    while cells.blocks != NULL:
        block = cells.blocks
        cells.blocks = (<void **>block)[0]
        free(block)


cdef inline uint8_t *take_cell(Cells *cells, int64_t length) noexcept nogil:
    """Room for `length` bytes, NULL without memory."""
    cdef int64_t size = (length + CELL_STEP - 1) // CELL_STEP
    cdef uint8_t *cell
    if size > CELL_SIZES:
        cell = <uint8_t *>malloc(length)
        if cell != NULL:
            cells.reserved += length
        return cell
    cell = <uint8_t *>cells.returned[size]
    if cell != NULL:
        cells.returned[size] = (<void **>cell)[0]
        return cell
    if cells.room < size * CELL_STEP:
        cell = <uint8_t *>malloc(BLOCK_BYTES)
        if cell == NULL:
            return NULL
        (<void **>cell)[0] = cells.blocks
        cells.blocks = cell
        cells.fresh = cell + CELL_STEP
        cells.room = BLOCK_BYTES - CELL_STEP
        cells.reserved += BLOCK_BYTES
    cell = cells.fresh
    cells.fresh += size * CELL_STEP
    cells.room -= size * CELL_STEP
    return cell


cdef inline void return_cell(Cells *cells, uint8_t *cell, int64_t length) noexcept nogil:
    cdef int64_t size = (length + CELL_STEP - 1) // CELL_STEP
    if size > CELL_SIZES:
        cells.reserved -= length
        free(cell)
    else:
        (<void **>cell)[0] = cells.returned[size]
        cells.returned[size] = cell


cdef extern from *:
    """
    static inline uint64_t ms_fold(uint64_t a, uint64_t b) {
        unsigned __int128 product = (unsigned __int128)a * b;
        return (uint64_t)product ^ (uint64_t)(product >> 64);
    }
    static inline uint64_t ms_load(const uint8_t *p, int64_t bytes) {
        uint64_t word = 0;
        memcpy(&word, p, bytes);
        return word;
    }
    /* Sixteen bytes a multiplication, the last ones overlapping; `seed` is secret: no input can aim at collisions. */
    static inline uint32_t ms_hash(const uint8_t *p, int64_t n, uint64_t seed) {
        uint64_t h = seed ^ (uint64_t)n, a, b;
        int64_t i = 0;
        for (; i + 16 < n; i += 16)
            h = ms_fold(ms_load(p + i, 8) ^ 0x9E3779B97F4A7C15ULL, ms_load(p + i + 8, 8) ^ h);
        if (n >= 16) {
            a = ms_load(p + n - 16, 8);
            b = ms_load(p + n - 8, 8);
        } else if (n >= 8) {
            a = ms_load(p, 8);
            b = ms_load(p + n - 8, 8);
        } else if (n >= 4) {
            a = ms_load(p, 4);
            b = ms_load(p + n - 4, 4);
        } else {
            a = n ? (uint64_t)p[0] << 16 | (uint64_t)p[n >> 1] << 8 | p[n - 1] : 0;
            b = 0;
        }
        h = ms_fold(a ^ 0xC2B2AE3D27D4EB4FULL, b ^ h);
        h = ms_fold(h ^ seed, 0x9FB21C651E98DF25ULL);
        return (uint32_t)(h ^ (h >> 32));
    }
    """
    uint32_t hash_bytes "ms_hash"(const uint8_t *p, int64_t n, uint64_t seed) noexcept nogil
