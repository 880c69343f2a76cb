"""From hashes to numbers: an extendible hash table that grows and shrinks one segment at a time.

The first `depth` bits of a 32-bit hash choose a segment through the directory; its last bits a place there, then linear
probing. A full segment is split in two, an emptied one merged with its twin, each touching 512 entries at most: there is no
pause that grows with the table. Removing shifts later entries back, so that there are no tombstones.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cdef enum:
    SEGMENT = 512
    SEGMENT_FULL = 384
    SEGMENT_EMPTY = 48
    SEGMENT_MERGED = 192
    MAX_DEPTH = 23

cdef struct Entry:
    uint32_t hash
    uint32_t number      # VACANT where there is none

cdef struct Segment:
    int depth
    int count
    Entry entries[SEGMENT]

cdef struct Index:
    Segment **directory
    int depth
    int64_t segments

cdef inline uint32_t VACANT() noexcept nogil:
    return <uint32_t>0xFFFFFFFF


cdef inline Segment *new_segment(int depth) noexcept nogil:
    cdef Segment *segment = <Segment *>malloc(sizeof(Segment))
    if segment != NULL:
        segment.depth = depth
        segment.count = 0
        memset(segment.entries, 255, sizeof(segment.entries))
    return segment


cdef inline bint open_index(Index *index) noexcept nogil:
    index.depth = 0
    index.segments = 1
    index.directory = <Segment **>malloc(sizeof(Segment *))
    if index.directory == NULL:
        return False
    index.directory[0] = new_segment(0)
    return index.directory[0] != NULL


cdef inline void close_index(Index *index) noexcept nogil:
    cdef int64_t i, size = <int64_t>1 << index.depth
    cdef Segment *last = NULL
    if index.directory == NULL:
        return
    for i in range(size):     # the places of one segment lie side by side
        if index.directory[i] != last:
            last = index.directory[i]
            free(last)
    free(index.directory)
    index.directory = NULL


cdef inline int64_t directory_place(Index *index, uint32_t hash) noexcept nogil:
    return <int64_t>(<uint64_t>hash >> (32 - index.depth))


cdef inline Segment *segment_of(Index *index, uint32_t hash) noexcept nogil:
    return index.directory[directory_place(index, hash)]


cdef inline void place_entry(Segment *segment, Entry entry) noexcept nogil:
    cdef uint32_t i = entry.hash & (SEGMENT - 1)
    while segment.entries[i].number != VACANT():
        i = (i + 1) & (SEGMENT - 1)
    segment.entries[i] = entry
    segment.count += 1


cdef inline void point_to(Index *index, Segment *segment, uint32_t hash) noexcept nogil:
    """Sets all places of the directory that belong to the segment with this hash in it."""
    cdef int64_t width = <int64_t>1 << (index.depth - segment.depth)
    cdef int64_t first = directory_place(index, hash) & ~(width - 1), i
    for i in range(first, first + width):
        index.directory[i] = segment


cdef inline bint double_directory(Index *index) noexcept nogil:
    cdef int64_t size = <int64_t>1 << index.depth, i
    cdef Segment **directory = <Segment **>malloc(2 * size * sizeof(Segment *))
    if directory == NULL:
        return False
    for i in range(size):
        directory[2 * i] = index.directory[i]
        directory[2 * i + 1] = index.directory[i]
    free(index.directory)
    index.directory = directory
    index.depth += 1
    return True


cdef inline bint split_segment(Index *index, uint32_t hash) noexcept nogil:
    """Splits the segment of `hash` by its next bit; False without memory, or if the hash has no bits left."""
    cdef Segment *old = segment_of(index, hash)
    cdef Segment *low
    cdef Segment *high
    cdef uint32_t bit
    cdef int i
    if old.depth == MAX_DEPTH or (old.depth == index.depth and not double_directory(index)):
        return False
    low = new_segment(old.depth + 1)
    high = new_segment(old.depth + 1)
    if low == NULL or high == NULL:
        free(low)
        free(high)
        return False
    bit = <uint32_t>1 << (31 - old.depth)
    for i in range(SEGMENT):
        if old.entries[i].number != VACANT():
            place_entry(high if old.entries[i].hash & bit else low, old.entries[i])
    point_to(index, low, hash & ~bit)
    point_to(index, high, hash | bit)
    index.segments += 1
    free(old)
    return True


cdef inline void merge_segment(Index *index, uint32_t hash) noexcept nogil:
    """Merges the segment of `hash` with its twin if both together are small."""
    cdef Segment *segment = segment_of(index, hash)
    cdef Segment *twin
    cdef int i
    if segment.depth == 0:
        return
    twin = segment_of(index, hash ^ (<uint32_t>1 << (32 - segment.depth)))
    if twin.depth != segment.depth or twin.count + segment.count > SEGMENT_MERGED:
        return
    for i in range(SEGMENT):
        if twin.entries[i].number != VACANT():
            place_entry(segment, twin.entries[i])
    segment.depth -= 1
    point_to(index, segment, hash)
    index.segments -= 1
    free(twin)


cdef inline bint add_entry(Index *index, uint32_t hash, uint32_t number) noexcept nogil:
    """False without memory."""
    cdef Entry entry
    while segment_of(index, hash).count >= SEGMENT_FULL:
        if not split_segment(index, hash):
            return False
    entry.hash = hash
    entry.number = number
    place_entry(segment_of(index, hash), entry)
    return True


cdef inline void remove_entry(Index *index, uint32_t hash, uint32_t number) noexcept nogil:
    """Removes an entry that is there."""
    cdef Segment *segment = segment_of(index, hash)
    cdef Entry *entries = segment.entries
    cdef uint32_t mask = SEGMENT - 1, hole = hash & mask, i
    while entries[hole].number != number:
        hole = (hole + 1) & mask
    i = hole
    while True:
        i = (i + 1) & mask
        if entries[i].number == VACANT():
            break
        # an entry may move back to the hole unless its own place lies behind the hole
        if ((i - entries[i].hash) & mask) >= ((i - hole) & mask):
            entries[hole] = entries[i]
            hole = i
    entries[hole].number = VACANT()
    segment.count -= 1
    if segment.count < SEGMENT_EMPTY:
        merge_segment(index, hash)
