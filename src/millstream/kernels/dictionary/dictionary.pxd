"""Terms to ids and back, for other kernels (layout in dictionary.pyx)."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc

from millstream.kernels.dictionary.store cimport Slot, Store
from millstream.kernels.dictionary.values cimport number_of
from millstream.kernels.scanning.grammar cimport Term

cdef enum:
    MADE = 1 << 13

cdef struct Made:
    # A number that was computed, and its id; that names another term, or none, once this one is forgotten.
    uint64_t low
    uint64_t high
    int64_t id
    uint32_t hash           # of the term
    int form                # scale and type


cdef inline uint64_t made_place(uint64_t low, uint64_t high, int form) noexcept nogil:
    low = (low ^ high * <uint64_t>0xD6E8FEB86659FD93 ^ <uint64_t>form) * <uint64_t>0x9E3779B97F4A7C15
    return low >> 51 & (MADE - 1)


cdef class Dictionary(Store):
    cdef Term term
    cdef uint8_t *line
    cdef int64_t line_room
    cdef Made *made         # recent ones; NULL without any

    cdef inline bint is_still(self, int64_t term_id, uint32_t hash) noexcept nogil:
        """Whether an id that was given out for a term with this hash names it still. If so, that is as good as `intern`."""
        cdef Slot *slot = self.slot_of(term_id)
        if slot == NULL or slot.hash != hash:
            return False
        return not self.is_forgettable(slot) or self.pend(<uint32_t>number_of(term_id), slot)

    cdef inline int64_t made_id(self, uint64_t low, uint64_t high, int form) noexcept nogil:
        """The id of a number that was computed not long ago and has one still, else -1. As good as `intern`."""
        cdef Made *made
        if self.made == NULL:
            return -1
        made = self.made + made_place(low, high, form)
        if made.low != low or made.high != high or made.form != form or not self.is_still(made.id, made.hash):
            return -1
        return made.id

    cdef inline void remember_made(self, uint64_t low, uint64_t high, int form, int64_t term_id) noexcept nogil:
        cdef Made *made
        if self.made == NULL:
            self.made = <Made *>calloc(MADE, sizeof(Made))
            if self.made == NULL:
                return
        made = self.made + made_place(low, high, form)
        made.low = low
        made.high = high
        made.form = form
        made.id = term_id
        made.hash = self.slot_of(term_id).hash

    cdef const uint8_t *canonical(self, const uint8_t *text, int64_t length) except NULL
    cdef int64_t encode_bytes(self, const uint8_t *text, int64_t length) except -1
    cdef int64_t encode_object(self, object term) except -1
    cdef object decode_all(self, const int64_t *ids, int64_t n)
