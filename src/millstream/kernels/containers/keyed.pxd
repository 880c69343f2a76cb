"""Records of words that are found by their first words.

    record:  key, `width` words | what the owner keeps, at least one word

A record has one number while it is in the table; numbers are used again. A new record has zeros behind its key. The last
four bytes of a free one have the number of the next.

Who asks for many keys in order looks ahead: what a key will touch is fetched from memory while those before it are served.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from millstream.kernels.containers.hash_index cimport (
    Index, Probe, index_add, index_bytes, index_close, index_drop, index_open, index_put, is_far, prefetch, prefetch_slot,
    probe, probe_next, words_equal, words_hash,
)
from millstream.kernels.containers.memory cimport block_free, block_new
from millstream.kernels.containers.records cimport Records, record_free, record_new, record_next


cdef enum:
    AHEAD = 16                  # places ahead: where a key is looked for is fetched; a power of two
    SOON = 8                    # places ahead: the record that was found there is


cdef struct Keyed:
    int width
    int64_t stride              # words a record
    Records records
    Index index


cdef struct LookAhead:
    bint on
    uint32_t hashes[AHEAD]      # of the keys that come, by place


cdef inline void keyed_open(Keyed* table, int width, int64_t kept) noexcept nogil:
    table.width = width
    table.stride = width + kept
    table.records.free = -1
    index_open(&table.index)


cdef inline void keyed_close(Keyed* table) noexcept nogil:
    block_free(table.records.data, table.records.capacity * table.stride * sizeof(int64_t))
    index_close(&table.index)


cdef inline int64_t* keyed_at(Keyed* table, int64_t number) noexcept nogil:
    return (<int64_t*>table.records.data) + number * table.stride


cdef inline int64_t keyed_bytes(Keyed* table) noexcept nogil:
    return table.records.capacity * table.stride * <int64_t>sizeof(int64_t) + index_bytes(&table.index)


cdef inline uint32_t keyed_hash(Keyed* table, const int64_t* key) noexcept nogil:
    return words_hash(key, table.width)


cdef inline int32_t keyed_find(Keyed* table, const int64_t* key, uint32_t hash) noexcept nogil:
    """The number of the record with that key, -1 without one."""
    cdef Probe found = probe(&table.index, hash)
    cdef int32_t number = probe_next(&table.index, &found)
    while number >= 0 and not words_equal(keyed_at(table, number), key, table.width):
        number = probe_next(&table.index, &found)
    return number


cdef inline int32_t keyed_new(Keyed* table, const int64_t* key) noexcept nogil:
    """A new record with that key, which nobody finds yet."""
    cdef int32_t number = record_new(&table.records, table.stride * sizeof(int64_t))
    cdef int64_t* record = keyed_at(table, number)
    memcpy(record, key, table.width * sizeof(int64_t))
    memset(record + table.width, 0, (table.stride - table.width) * sizeof(int64_t))
    return number


cdef inline int32_t keyed_enter(Keyed* table, const int64_t* key, uint32_t hash) noexcept nogil:
    """The number of a new record with that key, of which there is none."""
    cdef int32_t number = keyed_new(table, key)
    index_put(&table.index, hash, number)
    return number


cdef inline int32_t keyed_get(Keyed* table, const int64_t* key, uint32_t hash) noexcept nogil:
    """The number of the record with that key, made if there is none."""
    cdef int32_t number = keyed_find(table, key, hash)
    return keyed_enter(table, key, hash) if number < 0 else number


cdef inline int32_t keyed_add(Keyed* table, const int64_t* key, uint32_t hash) noexcept nogil:
    """As keyed_get, where mostly there is none."""
    if not index_add(&table.index, hash, record_next(&table.records)):
        return keyed_get(table, key, hash)
    return keyed_new(table, key)


cdef inline void keyed_ask(Keyed* table, uint32_t hash) noexcept nogil:
    """Asks for the record that may have a key with this hash, so that it is on its way from memory."""
    cdef Probe found = probe(&table.index, hash)
    cdef int32_t number = probe_next(&table.index, &found)
    if number >= 0:
        prefetch(keyed_at(table, number))


cdef inline void keyed_leave(Keyed* table, int32_t number, uint32_t hash) noexcept nogil:
    """Frees a record whose key has this hash."""
    index_drop(&table.index, hash, number)
    record_free(&table.records, table.stride * sizeof(int64_t), number)


cdef inline void keyed_drop(Keyed* table, int32_t number) noexcept nogil:
    keyed_leave(table, number, keyed_hash(table, keyed_at(table, number)))


cdef inline void keyed_widen(Keyed* table) noexcept nogil:
    """One more word at the end of each record, for the owner to write."""
    cdef int64_t stride = table.stride, number
    cdef int64_t* data = NULL
    if table.records.capacity:
        data = <int64_t*>block_new(table.records.capacity * (stride + 1) * sizeof(int64_t))
        for number in range(table.records.size):
            memcpy(data + number * (stride + 1), keyed_at(table, number), stride * sizeof(int64_t))
            # Of a free record the number of the next.
            data[number * (stride + 1) + stride] = keyed_at(table, number)[stride - 1]
        block_free(table.records.data, table.records.capacity * stride * sizeof(int64_t))
    table.records.data = <char*>data
    table.stride += 1


# Looking ahead

cdef inline void ahead_begin(LookAhead* ahead, const Keyed* table) noexcept nogil:
    """Looks ahead if the table is so large that it is worth while. Then the first AHEAD keys are to be shown."""
    ahead.on = is_far(&table.index)


cdef inline void ahead_show(LookAhead* ahead, Keyed* table, const int64_t* key, int64_t place) noexcept nogil:
    """The key at a place is asked for soon."""
    cdef uint32_t hash = keyed_hash(table, key)
    ahead.hashes[place & (AHEAD - 1)] = hash
    prefetch_slot(&table.index, hash)


cdef inline uint32_t ahead_hash(const LookAhead* ahead, int64_t place) noexcept nogil:
    """The hash of the key that was shown."""
    return ahead.hashes[place & (AHEAD - 1)]


cdef inline int32_t ahead_fetch(const LookAhead* ahead, Keyed* table, int64_t place) noexcept nogil:
    """Fetches the record that stands where the key at a place is looked for; its number, -1 without one."""
    cdef uint64_t slot = table.index.slots[ahead_hash(ahead, place) & table.index.mask]
    if slot:
        prefetch(keyed_at(table, <uint32_t>slot - 1))
    return <int32_t>(<uint32_t>slot - 1)
