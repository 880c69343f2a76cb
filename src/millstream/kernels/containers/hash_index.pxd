"""An index from 32-bit hashes to the numbers of records, which hold the keys.

A slot is `hash << 32 | number + 1`, 0 where empty: open addressing, linear probing, deletion by shifting back, so that there
are no tombstones. The table grows and shrinks without a pause: a second one is filled while the first is drained, a few
clusters at every change. A cluster (slots between two empty ones) moves whole, hence probing stays right in both tables;
nothing is put into the old one.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from millstream.kernels.containers.memory cimport block_free, block_new

cdef extern from *:
    """
    /* A function that does nothing but fetch has no effect in the eyes of GCC, which leaves calls of it out: the empty
       statement is one. */
    static inline void ms_prefetch(const void *address) { __builtin_prefetch(address); __asm__ volatile(""); }

    /* Odd words without a pattern, from the generator SplitMix64. */
    static const uint64_t ms_multipliers[16] = {
        0xE220A8397B1DCDAFULL, 0x6E789E6AA1B965F5ULL, 0x06C45D188009454FULL, 0xF88BB8A8724C81EDULL,
        0x1B39896A51A8749BULL, 0x53CB9F0C747EA2EBULL, 0x2C829ABE1F4532E1ULL, 0xC584133AC916AB3DULL,
        0x3EE5789041C98AC3ULL, 0xF3B8488C368CB0A7ULL, 0x657EECDD3CB13D09ULL, 0xC2D326E0055BDEF7ULL,
        0x8621A03FE0BBDB7BULL, 0x8E1F7555983AA92FULL, 0xB54E0F1600CC4D19ULL, 0x84BB3F97971D80ABULL,
    };
    """
    void prefetch "ms_prefetch"(const void* address) noexcept nogil
    const uint64_t* MULTIPLIERS "ms_multipliers"

cdef enum:
    SMALLEST = 16
    DRAINED = 3                 # slots drained at every change: done before the new table is full
    NEXT = 12                   # slots looked ahead while draining
    FAR_SLOTS = 1 << 12
    KNOWN_MULTIPLIERS = 16


cdef struct Index:
    uint64_t* slots
    uint64_t mask
    int64_t used
    uint64_t* old               # NULL unless draining
    uint64_t old_mask
    uint64_t cursor             # where draining goes on: always an empty slot
    int64_t left                # slots still to be looked at


cdef struct Probe:
    uint64_t* slots
    uint64_t mask
    uint64_t at
    uint32_t hash


cdef inline uint64_t mix(uint64_t x) noexcept nogil:
    x *= <uint64_t>0x9E3779B97F4A7C15
    x ^= x >> 32
    x *= <uint64_t>0xD6E8FEB86659FD93
    return x ^ (x >> 32)


cdef inline uint64_t spread(int64_t value, int place) noexcept nogil:
    """A word of a key. The hash of a key folds the sum of these, of which none waits for the one before.

    The multipliers must not depend on each other: were they an arithmetic progression, keys with equal sums of their words
    and of these times their places would share a hash, as most keys of three small numbers do.
    """
    cdef uint64_t multiplier = MULTIPLIERS[place] if place < KNOWN_MULTIPLIERS else mix(<uint64_t>place) | 1
    return (<uint64_t>value ^ (<uint64_t>value >> 32)) * multiplier


cdef inline uint32_t fold(uint64_t x) noexcept nogil:
    return <uint32_t>(((x ^ (x >> 32)) * <uint64_t>0x9E3779B97F4A7C15) >> 32)


cdef inline uint32_t words_hash(const int64_t* words, int width) noexcept nogil:
    """The hash of a key."""
    cdef uint64_t mixed = 0
    cdef int i
    for i in range(width):
        mixed += spread(words[i], i)
    return fold(mixed)


cdef inline bint words_equal(const int64_t* a, const int64_t* b, int width) noexcept nogil:
    cdef int i
    for i in range(width):
        if a[i] != b[i]:
            return False
    return True


cdef inline void prefetch_slot(Index* index, uint32_t hash) noexcept nogil:
    prefetch(&index.slots[hash & index.mask])
    if index.old != NULL:
        prefetch(&index.old[hash & index.old_mask])


cdef inline bint is_far(const Index* index) noexcept nogil:
    """Whether it is so large that fetching ahead is worth its while; what is smaller stays in the cache."""
    return index.mask >= FAR_SLOTS


cdef inline void index_open(Index* index) noexcept nogil:
    index.slots = <uint64_t*>block_new(SMALLEST * sizeof(uint64_t))
    index.mask = SMALLEST - 1
    index.used = 0
    index.old = NULL


cdef inline void index_close(Index* index) noexcept nogil:
    block_free(index.slots, (index.mask + 1) * sizeof(uint64_t))
    if index.old != NULL:
        block_free(index.old, (index.old_mask + 1) * sizeof(uint64_t))
    index.slots = NULL
    index.old = NULL


cdef inline int64_t index_bytes(Index* index) noexcept nogil:
    return <int64_t>(index.mask + 1 + (index.old_mask + 1 if index.old != NULL else 0)) * sizeof(uint64_t)


cdef inline Probe probe(Index* index, uint32_t hash) noexcept nogil:
    cdef Probe found
    found.slots = index.slots
    found.mask = index.mask
    found.hash = hash
    found.at = hash & index.mask
    return found


cdef inline int32_t probe_next(Index* index, Probe* found) noexcept nogil:
    """The next record with that hash, -1 after the last; the caller compares keys."""
    cdef uint64_t slot
    while True:
        slot = found.slots[found.at]
        if slot == 0:
            if index.old == NULL or found.slots == index.old:
                return -1
            found.slots = index.old
            found.mask = index.old_mask
            found.at = found.hash & found.mask
            continue
        found.at = (found.at + 1) & found.mask
        if <uint32_t>(slot >> 32) == found.hash:
            return <int32_t>(<uint32_t>slot - 1)


cdef inline void slot_put(uint64_t* slots, uint64_t mask, uint64_t slot) noexcept nogil:
    cdef uint64_t at = (slot >> 32) & mask
    while slots[at] != 0:
        at = (at + 1) & mask
    slots[at] = slot


cdef inline bint slot_drop(uint64_t* slots, uint64_t mask, uint64_t slot) noexcept nogil:
    cdef uint64_t at = (slot >> 32) & mask
    cdef uint64_t gap, next_slot
    while slots[at] != slot:
        if slots[at] == 0:
            return False
        at = (at + 1) & mask
    gap = at
    while True:
        at = (at + 1) & mask
        next_slot = slots[at]
        if next_slot == 0:
            break
        # It may fill the gap unless its home lies after the gap.
        if ((at - (next_slot >> 32)) & mask) >= ((at - gap) & mask):
            slots[gap] = next_slot
            gap = at
    slots[gap] = 0
    return True


cdef inline void index_drain(Index* index, int64_t most) noexcept nogil:
    """Moves whole clusters, at least `most` slots."""
    cdef uint64_t slot
    while index.left > 0 and (most > 0 or index.old[index.cursor] != 0):
        prefetch(&index.slots[(index.old[(index.cursor + NEXT) & index.old_mask] >> 32) & index.mask])
        slot = index.old[index.cursor]
        if slot != 0:
            index.old[index.cursor] = 0
            slot_put(index.slots, index.mask, slot)
        index.cursor = (index.cursor + 1) & index.old_mask
        index.left -= 1
        most -= 1
    if index.left <= 0:
        block_free(index.old, (index.old_mask + 1) * sizeof(uint64_t))
        index.old = NULL


cdef inline void index_resize(Index* index, uint64_t capacity) noexcept nogil:
    index.old = index.slots
    index.old_mask = index.mask
    index.cursor = 0
    while index.old[index.cursor] != 0:
        index.cursor += 1
    index.left = <int64_t>index.old_mask + 1
    index.slots = <uint64_t*>block_new(capacity * sizeof(uint64_t))
    index.mask = capacity - 1


cdef inline void index_room(Index* index) noexcept nogil:
    """Makes room for one more record, or goes on making it."""
    if index.old != NULL:
        index_drain(index, DRAINED)
    elif index.used * 16 > <int64_t>(index.mask + 1) * 11:
        index_resize(index, (index.mask + 1) * 2)


cdef inline bint index_add(Index* index, uint32_t hash, int32_t number) noexcept nogil:
    """Puts a record in, unless there may be another with this hash: finding that out, and the place, are one walk."""
    cdef uint64_t* slots
    cdef uint64_t at, slot
    index_room(index)
    if index.old != NULL:
        return False
    slots = index.slots
    at = hash & index.mask
    while True:
        slot = slots[at]
        if slot == 0:
            break
        if <uint32_t>(slot >> 32) == hash:
            return False
        at = (at + 1) & index.mask
    slots[at] = (<uint64_t>hash << 32) | (<uint32_t>number + 1)
    index.used += 1
    return True


cdef inline void index_put(Index* index, uint32_t hash, int32_t number) noexcept nogil:
    index_room(index)
    slot_put(index.slots, index.mask, (<uint64_t>hash << 32) | (<uint32_t>number + 1))
    index.used += 1


cdef inline void index_drop(Index* index, uint32_t hash, int32_t number) noexcept nogil:
    cdef uint64_t slot = (<uint64_t>hash << 32) | (<uint32_t>number + 1)
    if not slot_drop(index.slots, index.mask, slot) and index.old != NULL:
        slot_drop(index.old, index.old_mask, slot)
    index.used -= 1
    if index.old != NULL:
        index_drain(index, DRAINED)
    elif index.mask >= SMALLEST and index.used * 8 < <int64_t>(index.mask + 1):
        index_resize(index, (index.mask + 1) >> 1)


cdef inline void index_replace(Index* index, uint32_t hash, int32_t number, int32_t other) noexcept nogil:
    """Puts another record with the same hash in a record's place."""
    cdef uint64_t slot = (<uint64_t>hash << 32) | (<uint32_t>number + 1)
    cdef uint64_t* slots = index.slots
    cdef uint64_t mask = index.mask
    cdef uint64_t at = hash & mask
    while slots[at] != slot:
        if slots[at] != 0:
            at = (at + 1) & mask
        elif index.old == NULL or slots == index.old:
            return
        else:
            slots = index.old
            mask = index.old_mask
            at = hash & mask
    slots[at] = (<uint64_t>hash << 32) | (<uint32_t>other + 1)
