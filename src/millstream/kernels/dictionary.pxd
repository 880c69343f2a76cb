"""What other kernels may use of the dictionary; ids and inlined values are in `dictionary_values`."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from millstream.kernels.dictionary_cells cimport Cells
from millstream.kernels.dictionary_index cimport Index
from millstream.kernels.dictionary_values cimport compare_inlined, INCOMPARABLE
from millstream.kernels.scanner_grammar cimport Term

cdef struct Slot:
    uint8_t *bytes          # NULL: the number is free
    int64_t keep_until      # of a free number: the next free one, or -1
    uint32_t length
    uint32_t holds          # the highest bit says pending
    uint32_t stamp          # the id without its number: kind and generation
    uint32_t hash

cdef class Dictionary:
    cdef Cells cells
    cdef Index index
    cdef Slot **chunks
    cdef int64_t chunk_count, slot_count, free_number, live_count, live_bytes
    cdef int64_t low_mark, next_mark, hand
    cdef uint32_t *pending
    cdef int64_t pending_count, pending_room
    cdef readonly int64_t epoch      # grows whenever ids may have been forgotten: a cache of ids is good for one epoch
    cdef uint64_t seed
    cdef Term term
    cdef uint8_t *line
    cdef int64_t line_room

    cdef Slot *slot_of(self, int64_t term_id) noexcept nogil
    cdef int64_t lookup(self, const uint8_t *term, int64_t length, uint32_t hash) noexcept nogil
    cdef int64_t intern(self, const uint8_t *term, int64_t length, int kind) noexcept nogil
    cdef int64_t insert(self, const uint8_t *term, int64_t length, int kind, uint32_t hash) noexcept nogil
    cdef bint pend(self, uint32_t number, Slot *slot) noexcept nogil
    cdef int64_t take_number(self) noexcept nogil
    cdef void forget(self, uint32_t number, Slot *slot) noexcept nogil
    cdef int64_t examine(self, int64_t slots) noexcept nogil
    cdef const uint8_t *canonical(self, const uint8_t *text, int64_t length) except NULL
    cdef int64_t encode_bytes(self, const uint8_t *text, int64_t length) except -1
    cdef int64_t encode_object(self, object term) except -1
    cdef int check_live(self, int64_t term_id) except -1
