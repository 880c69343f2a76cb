"""Terms by number, forgetting what nobody needs.

A term that cannot be inlined (see `values`) has a number, the place of its 32-byte slot in chunks that never move. Slots
point to cells with the bytes (`cells`); an index leads from hashes to numbers (`index`).

What is forgotten follows from validity. A slot has `keep_until`, a time, and `holds`, the count of holders without a
known end. `forget_before(t)` announces that nothing ending before t is needed; `settle()` ends a batch and lets that take
effect. In between, the mark stands still and whatever an `encode` returned is safe:

    forgettable  <=>  holds = 0, not pending, keep_until < mark
    pending: new in this batch, or met in it while forgettable; ends with settle()

so a caller encodes, touches or holds what it keeps, and settles; what it dropped is forgotten. Forgetting is spread: each
new term examines a few slots clockwise: four times slots / live terms, at most 32. What waits to be freed is thus about a
third of what is needed at most, or, where a peak left more than eight slots a live term, a 32nd of the slots. No call scans
the whole table. Before the first `forget_before` nothing is forgotten.

A number is used again with its generation increased, and the generation is part of the id: an id that outlived its
term names nothing, and using it is an error in every build. One thread at a time may use a dictionary.
"""

import os

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp, memcpy

from millstream.kernels.dictionary.cells cimport close_cells, open_cells, return_cell, take_cell
from millstream.kernels.dictionary.index cimport (
    SEGMENT, VACANT, Entry, Segment, add_entry, close_index, open_index, remove_entry, segment_of,
)
from millstream.kernels.dictionary.values cimport TYPED, is_value, kind_of, number_of, read_inlined

cdef enum:
    EXAMINED = 4
    MOST_EXAMINED = 32    # after a peak, with many slots free
    GENERATIONS = 0x07FFFFFF      # the bits of a stamp below the kind

cdef int64_t NEVER = (<int64_t>1 << 63)
cdef uint32_t PENDING = <uint32_t>0x80000000


class ForgottenError(LookupError):
    """An id was used after its term had been forgotten, or was never given out."""


cdef class Store:
    """Canonical terms and their numbers; `Dictionary` adds spellings and columns."""

    def __cinit__(self):
        open_cells(&self.cells)
        self.free_number = -1
        self.low_mark = self.next_mark = NEVER
        self.seed = int.from_bytes(os.urandom(8), "little")
        if not open_index(&self.index):
            raise MemoryError

    def __dealloc__(self):
        cdef int64_t number, chunk
        cdef Slot *slot
        for number in range(self.slot_count):
            slot = self.slot_at(number)
            if slot.bytes != NULL and slot.length > 1024:      # shorter ones lie in blocks
                return_cell(&self.cells, slot.bytes, slot.length)
        for chunk in range(self.chunk_count):
            if self.chunks[chunk] != self.blank:
                free(self.chunks[chunk])
        free(self.blank)
        free(self.chunks)
        free(self.pending)
        close_index(&self.index)
        close_cells(&self.cells)

    # Slots and numbers.

    cdef int64_t take_number(self) noexcept nogil:
        """A free number, its slot's stamp being the next generation; -1 without memory."""
        cdef int64_t number = self.free_number
        cdef Slot *chunk
        if number >= 0:
            self.free_number = self.slot_at(number).keep_until
            return number
        number = self.slot_count
        if number >> CHUNK_SHIFT == self.chunk_count:
            if number + CHUNK >= 0xFFFFFFFFLL:
                return -1
            chunk = <Slot *>calloc(CHUNK, sizeof(Slot))
            if chunk == NULL or not self.add_chunk(chunk):
                free(chunk)
                return -1
        self.slot_count += 1
        return number

    cdef bint add_chunk(self, Slot *chunk) noexcept nogil:
        """Room for more slots; False without memory."""
        cdef Slot **chunks
        if self.chunk_count & (self.chunk_count - 1) == 0:      # room doubles at powers of two
            chunks = <Slot **>realloc(self.chunks, (2 * self.chunk_count + 1) * sizeof(Slot *))
            if chunks == NULL:
                return False
            self.chunks = chunks
        self.chunks[self.chunk_count] = chunk
        self.chunk_count += 1
        return True

    cdef bint pend(self, uint32_t number, Slot *slot) noexcept nogil:
        """Keeps a slot until settle(); False without memory."""
        cdef uint32_t *pending
        cdef int64_t room
        if self.pending_count == self.pending_room:
            room = 2 * self.pending_room + 1024
            pending = <uint32_t *>realloc(self.pending, room * sizeof(uint32_t))
            if pending == NULL:
                return False
            self.pending = pending
            self.pending_room = room
        self.pending[self.pending_count] = number
        self.pending_count += 1
        slot.holds |= PENDING
        return True

    cdef void forget(self, uint32_t number, Slot *slot) noexcept nogil:
        remove_entry(&self.index, slot.hash, number)
        return_cell(&self.cells, slot.bytes, slot.length)
        self.live_bytes -= slot.length
        self.live_count -= 1
        slot.bytes = NULL
        slot.stamp = (slot.stamp + 1) & GENERATIONS
        slot.keep_until = self.free_number
        self.free_number = number

    cdef int64_t examine(self, int64_t slots) noexcept nogil:
        """Forgets what can be forgotten among the next slots clockwise; returns how many."""
        cdef int64_t forgotten = 0, number
        cdef Slot *slot
        for _ in range(slots if slots < self.slot_count else self.slot_count):
            number = self.hand
            self.hand = number + 1 if number + 1 < self.slot_count else 0
            slot = self.slot_at(number)
            if self.is_forgettable(slot) and slot.bytes != NULL:
                self.forget(<uint32_t>number, slot)
                forgotten += 1
        return forgotten

    cdef int check_live(self, int64_t term_id) except -1:
        if not is_value(term_id) if kind_of(term_id) > TYPED else self.slot_of(term_id) == NULL:
            raise ForgottenError(f"id {term_id} names no term: it was forgotten, or never given out")
        return 0

    def check(self, const int64_t[:] ids, bint unbound=False):
        """Raises ForgottenError unless all ids name terms; if told so, -1 may stand for nothing."""
        cdef int64_t i
        for i in range(ids.shape[0]):
            if ids[i] >= 0 or not (unbound and ids[i] == -1):
                self.check_live(ids[i])

    # Terms to ids. These take canonical bytes.

    cdef int64_t lookup(self, const uint8_t *term, int64_t length, uint32_t hash) noexcept nogil:
        """The number of a term, -1 if it has none."""
        cdef Segment *segment = segment_of(&self.index, hash)
        cdef uint32_t i = hash & (SEGMENT - 1)
        cdef Entry entry = segment.entries[i]
        cdef Slot *slot
        while entry.number != VACANT():
            if entry.hash == hash:
                slot = self.slot_at(entry.number)
                if slot.length == length and memcmp(slot.bytes, term, length) == 0:
                    return entry.number
            i = (i + 1) & (SEGMENT - 1)
            entry = segment.entries[i]
        return -1

    cdef int64_t intern(self, const uint8_t *term, int64_t length, int kind) noexcept nogil:
        """The id of a canonical term, given a number if it has none; -1 without memory."""
        cdef int64_t term_id
        if kind == TYPED:
            term_id = read_inlined(term, length)
            if term_id >= 0:
                return term_id
        return self.intern_hashed(term, length, kind, self.hash_of(term, length), -1)

    cdef int64_t intern_hashed(self, const uint8_t *term, int64_t length, int kind, uint32_t hash,
                               int64_t number) noexcept nogil:
        """The same of a term that is not inlined, whose hash is known, and the number that it may have, or -1."""
        cdef Slot *slot = self.slot_at(number) if number >= 0 else NULL
        if slot == NULL or slot.bytes == NULL or slot.length != length or memcmp(slot.bytes, term, length) != 0:
            number = self.lookup(term, length, hash)
        if number < 0:
            return self.insert(term, length, kind, hash)
        slot = self.slot_at(number)
        if self.is_forgettable(slot) and not self.pend(<uint32_t>number, slot):
            return -1
        return <int64_t>slot.stamp << 32 | number

    cdef int64_t insert(self, const uint8_t *term, int64_t length, int kind, uint32_t hash) noexcept nogil:
        cdef int64_t number
        cdef Slot *slot
        cdef uint8_t *cell = take_cell(&self.cells, length)
        if cell == NULL:
            return -1
        number = self.take_number()
        if number < 0:
            return_cell(&self.cells, cell, length)
            return -1
        slot = self.slot_at(number)
        slot.holds = 0
        if not self.pend(<uint32_t>number, slot) or not add_entry(&self.index, hash, <uint32_t>number):
            return_cell(&self.cells, cell, length)
            slot.keep_until = self.free_number
            self.free_number = number
            return -1
        memcpy(cell, term, length)
        slot.bytes = cell
        slot.length = <uint32_t>length
        slot.keep_until = NEVER
        slot.hash = hash
        slot.stamp = (slot.stamp & GENERATIONS) | <uint32_t>kind << 27
        self.live_count += 1
        self.live_bytes += length
        self.examine(min(EXAMINED * self.slot_count // self.live_count, MOST_EXAMINED))
        return <int64_t>slot.stamp << 32 | number

    # How long terms are needed.

    def touch(self, const int64_t[:] ids, until):
        """Keeps the terms of ids at least until a time, one for all or one for each; inlined ids and -1 need no keeping."""
        cdef int64_t i, until_one = 0
        cdef const int64_t[:] until_each
        cdef bint each = isinstance(until, np.ndarray)
        if each:
            until_each = until
            if until_each.shape[0] != ids.shape[0]:
                raise ValueError(f"{ids.shape[0]} ids, but {until_each.shape[0]} times")
        else:
            until_one = until
        for i in range(ids.shape[0]):
            self.touch_slot(ids[i], until_each[i] if each else until_one)

    def touch_one(self, int64_t id, int64_t until):
        """As `touch` with one id."""
        self.touch_slot(id, until)

    cdef int touch_slot(self, int64_t id, int64_t until) except -1:
        cdef Slot *slot
        if 0 <= kind_of(id) <= TYPED:
            slot = self.slot_of(id)
            if slot == NULL:
                self.check_live(id)
            if until > slot.keep_until:
                slot.keep_until = until
        return 0

    def hold(self, const int64_t[:] ids):
        """Keeps the terms of ids until as many releases."""
        if ids.shape[0]:
            self.hold_all(&ids[0], ids.shape[0], ids.strides[0] // <Py_ssize_t>sizeof(int64_t))

    cdef int hold_all(self, const int64_t *ids, int64_t n, int64_t step) except -1:
        # Columns of answers have the same id many times over.
        cdef int64_t i = 0, first
        while i < n:
            first = i
            while i < n and ids[i * step] == ids[first * step]:
                i += 1
            self.hold_times(ids[first * step], i - first)
        return 0

    cdef int hold_times(self, int64_t id, int64_t times) except -1:
        cdef Slot *slot
        if 0 <= kind_of(id) <= TYPED:
            slot = self.slot_of(id)
            if slot == NULL:
                self.check_live(id)
            if times > MAX_HOLDS - <int64_t>(slot.holds & MAX_HOLDS):
                raise OverflowError(f"id {id} is held {MAX_HOLDS} times")
            slot.holds += <uint32_t>times
        return 0

    def release(self, const int64_t[:] ids, int64_t at):
        """Ends a hold of each id; the terms are kept until `at` at least, and until the batch is settled."""
        if ids.shape[0]:
            self.release_all(&ids[0], ids.shape[0], ids.strides[0] // <Py_ssize_t>sizeof(int64_t), at)

    cdef int release_all(self, const int64_t *ids, int64_t n, int64_t step, int64_t at) except -1:
        cdef int64_t i = 0, first
        while i < n:
            first = i
            while i < n and ids[i * step] == ids[first * step]:
                i += 1
            self.release_times(ids[first * step], i - first, at)
        return 0

    cdef int release_times(self, int64_t id, int64_t times, int64_t at) except -1:
        cdef Slot *slot
        if 0 <= kind_of(id) <= TYPED:
            slot = self.slot_of(id)
            if slot == NULL:
                self.check_live(id)
            if <int64_t>(slot.holds & MAX_HOLDS) < times:
                raise ValueError(f"id {id} is released more often than held")
            if slot.holds == times and not self.pend(<uint32_t>id, slot):
                raise MemoryError
            slot.holds -= <uint32_t>times
            if at > slot.keep_until:
                slot.keep_until = at
        return 0

    def forget_before(self, int64_t mark):
        """What is needed until an earlier time only may be forgotten, from the next settle() on."""
        if mark > self.next_mark:
            self.next_mark = mark

    def settle(self):
        """Ends a batch: from now on what nobody keeps can be forgotten."""
        cdef int64_t i
        cdef uint32_t number
        for i in range(self.pending_count):
            number = self.pending[i]
            self.slot_at(number).holds &= MAX_HOLDS
        self.pending_count = 0
        self.low_mark = self.next_mark
        self.epoch += 1

    def sweep(self, int64_t slots):
        """Examines slots now, for idle moments; returns how many terms were forgotten."""
        return self.examine(slots)

    @property
    def mark(self):
        """What is needed until an earlier time only can be forgotten."""
        return self.low_mark

    def stats(self):
        """Terms with a number, slots, terms pending, bytes of terms, bytes reserved for them, segments of the index."""
        return {
            "live": self.live_count,
            "slots": self.slot_count,
            "pending": self.pending_count,
            "bytes": self.live_bytes,
            "reserved": (self.cells.reserved + self.chunk_count * CHUNK * sizeof(Slot)
                         + self.index.segments * sizeof(Segment)),
            "segments": self.index.segments,
        }
