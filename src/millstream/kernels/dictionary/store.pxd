"""What other kernels may use of the store of terms."""

from cython cimport final
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from millstream.kernels.containers.hash_index cimport prefetch
from millstream.kernels.dictionary.cells cimport Cells, hash_bytes
from millstream.kernels.dictionary.index cimport SEGMENT, VACANT, Entry, Index, segment_of
from millstream.kernels.dictionary.values cimport TYPED, kind_of, number_of

cdef enum:
    CHUNK_SHIFT = 12
    CHUNK = 1 << CHUNK_SHIFT
    MAX_HOLDS = 0x7FFFFFFF

cdef struct Slot:
    uint8_t *bytes          # NULL: the number is free
    int64_t keep_until      # of a free number: the next free one, or -1
    uint32_t length
    uint32_t holds          # the highest bit says pending
    uint32_t stamp          # the id without its number: kind and generation
    uint32_t hash

cdef class Store:
    cdef Cells cells
    cdef Index index
    cdef Slot **chunks
    cdef Slot *blank          # stands for all chunks without any term, after a load
    cdef int64_t chunk_count, slot_count, free_number, live_count, live_bytes
    cdef int64_t low_mark, next_mark, hand
    cdef uint32_t *pending
    cdef int64_t pending_count, pending_room
    cdef readonly int64_t epoch      # grows whenever ids may have been forgotten: a cache of ids is good for one epoch
    cdef uint64_t seed

    cdef inline Slot *slot_at(self, int64_t number) noexcept nogil:
        return &self.chunks[number >> CHUNK_SHIFT][number & (CHUNK - 1)]

    cdef inline Slot *slot_of(self, int64_t term_id) noexcept nogil:
        """The slot of an id that is not inlined, NULL if it is forgotten."""
        cdef int64_t number = number_of(term_id)
        cdef Slot *slot
        if number >= self.slot_count:
            return NULL
        slot = self.slot_at(number)
        return slot if slot.bytes != NULL and slot.stamp == <uint32_t>(term_id >> 32) else NULL

    cdef inline void ask_for(self, int64_t term_id) noexcept nogil:
        """Has the slot of an id come from memory, if it has one."""
        cdef int64_t number = number_of(term_id)
        if 0 <= kind_of(term_id) <= TYPED and number < self.slot_count:
            prefetch(self.slot_at(number))

    cdef inline uint32_t hash_of(self, const uint8_t *term, int64_t length) noexcept nogil:
        return hash_bytes(term, length, self.seed)

    cdef inline void ask_for_entry(self, uint32_t hash) noexcept nogil:
        """Has the place in the index where a hash would be come from memory."""
        prefetch(&segment_of(&self.index, hash).entries[hash & (SEGMENT - 1)])

    cdef inline int64_t ask_for_slot(self, uint32_t hash) noexcept nogil:
        """Has the slot of the first term with this hash come from memory; its number, -1 if there is none."""
        cdef Entry *entries = segment_of(&self.index, hash).entries
        cdef uint32_t i = hash & (SEGMENT - 1)
        while entries[i].number != VACANT():
            if entries[i].hash == hash:
                prefetch(self.slot_at(entries[i].number))
                return entries[i].number
            i = (i + 1) & (SEGMENT - 1)
        return -1

    cdef inline void ask_for_bytes(self, int64_t number) noexcept nogil:
        """Has the bytes of a term come from memory; -1 for none."""
        if number >= 0:
            prefetch(self.slot_at(number).bytes)

    cdef inline bint is_forgettable(self, const Slot *slot) noexcept nogil:
        return slot.holds == 0 and slot.keep_until < self.low_mark

    @final
    cdef int64_t lookup(self, const uint8_t *term, int64_t length, uint32_t hash) noexcept nogil
    cdef int64_t intern(self, const uint8_t *term, int64_t length, int kind) noexcept nogil
    @final
    cdef int64_t intern_hashed(self, const uint8_t *term, int64_t length, int kind, uint32_t hash,
                               int64_t number) noexcept nogil
    cdef int64_t insert(self, const uint8_t *term, int64_t length, int kind, uint32_t hash) noexcept nogil
    cdef bint pend(self, uint32_t number, Slot *slot) noexcept nogil
    cdef int64_t take_number(self) noexcept nogil
    cdef bint add_chunk(self, Slot *chunk) noexcept nogil
    cdef void forget(self, uint32_t number, Slot *slot) noexcept nogil
    cdef int64_t examine(self, int64_t slots) noexcept nogil
    cdef int touch_slot(self, int64_t id, int64_t until) except -1
    cdef inline int hold_one(self, int64_t id) except -1:
        return self.hold_times(id, 1)

    cdef inline int release_one(self, int64_t id, int64_t at) except -1:
        return self.release_times(id, 1, at)

    cdef int hold_times(self, int64_t id, int64_t times) except -1
    cdef int release_times(self, int64_t id, int64_t times, int64_t at) except -1
    cdef int hold_all(self, const int64_t *ids, int64_t n, int64_t step) except -1
    cdef int release_all(self, const int64_t *ids, int64_t n, int64_t step, int64_t at) except -1
    cdef int check_live(self, int64_t term_id) except -1
