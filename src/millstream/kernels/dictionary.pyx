"""Terms to ids and back, forgetting what nobody needs.

A term that cannot be inlined (see `dictionary_values`) has a number, the place of its 32-byte slot in chunks that never move. Slots
point to cells with the bytes (`dictionary_cells`); an index leads from hashes to numbers (`dictionary_index`).

What is forgotten follows from validity. A slot has `keep_until`, a time, and `holds`, the count of holders without a
known end. `forget_before(t)` announces that nothing ending before t is needed; `settle()` ends a batch and lets that take
effect. In between, the mark stands still and whatever an `encode` returned is safe:

    forgettable  <=>  holds = 0, not pending, keep_until < mark
    pending: new in this batch, or met in it while forgettable; ends with settle()

so a caller encodes, touches or holds what it keeps, and settles; what it dropped is forgotten. Forgetting is spread: each new term
examines four slots clockwise, so that at most a third of the slots in use wait to be freed, and there is never a pause.

A number is used again with its generation increased, and the generation is part of the id: an id that outlived its
term names nothing, and using it is an error in every build. One thread at a time may use a dictionary.
"""

import os

import numpy as np
import pyarrow as pa

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from millstream.errors import DataError
from millstream.kernels.dictionary_cells cimport close_cells, hash_bytes, open_cells, return_cell, take_cell
from millstream.kernels.dictionary_index cimport (
    SEGMENT, VACANT, Entry, Segment, add_entry, close_index, open_index, remove_entry, segment_of,
)
from millstream.kernels.dictionary_values cimport (
    DATETIME, DECIMAL, INLINED_BYTES, INTEGER, TYPED, ZONE_NONE, compare_inlined, float_of, instant_of, is_number, is_value, kind_of,
    mantissa_of, number_of, read_inlined, scale_of, write_inlined, zone_of,
)
from millstream.kernels.scanner_grammar cimport NO_MEMORY, TOO_LONG, TRAILING, Fault, free_term, scan_term
from millstream.kernels.scanner_reasons import REASONS

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL

cdef enum:
    CHUNK_SHIFT = 12
    CHUNK = 1 << CHUNK_SHIFT
    EXAMINED = 4
    GENERATIONS = 0x07FFFFFF      # the bits of a stamp below the kind

cdef int64_t NEVER = (<int64_t>1 << 63)
cdef uint32_t PENDING = <uint32_t>0x80000000
cdef uint32_t MAX_HOLDS = 0x7FFFFFFF


class ForgottenError(LookupError):
    """An id was used after its term had been forgotten, or was never given out."""


cdef class Dictionary:
    """Terms in N-Triples syntax to ids and back."""

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
            slot = &self.chunks[number >> CHUNK_SHIFT][number & (CHUNK - 1)]
            if slot.bytes != NULL and slot.length > 1024:      # shorter ones lie in blocks
                return_cell(&self.cells, slot.bytes, slot.length)
        for chunk in range(self.chunk_count):
            free(self.chunks[chunk])
        free(self.chunks)
        free(self.pending)
        free(self.line)
        free_term(&self.term)
        close_index(&self.index)
        close_cells(&self.cells)

    # Slots and numbers.

    cdef Slot *slot_of(self, int64_t term_id) noexcept nogil:
        """The slot of an id that is not inlined, NULL if it is forgotten."""
        cdef int64_t number = number_of(term_id)
        cdef Slot *slot
        if number >= self.slot_count:
            return NULL
        slot = &self.chunks[number >> CHUNK_SHIFT][number & (CHUNK - 1)]
        return slot if slot.bytes != NULL and slot.stamp == <uint32_t>(term_id >> 32) else NULL

    cdef int64_t take_number(self) noexcept nogil:
        """A free number, its slot's stamp being the next generation; -1 without memory."""
        cdef int64_t number = self.free_number
        cdef Slot *chunk
        cdef Slot **chunks
        if number >= 0:
            self.free_number = self.chunks[number >> CHUNK_SHIFT][number & (CHUNK - 1)].keep_until
            return number
        number = self.slot_count
        if number >> CHUNK_SHIFT == self.chunk_count:
            if number + CHUNK >= 0xFFFFFFFFLL:
                return -1
            if self.chunk_count & (self.chunk_count - 1) == 0:      # room doubles at powers of two
                chunks = <Slot **>realloc(self.chunks, (2 * self.chunk_count + 1) * sizeof(Slot *))
                if chunks == NULL:
                    return -1
                self.chunks = chunks
            chunk = <Slot *>calloc(CHUNK, sizeof(Slot))
            if chunk == NULL:
                return -1
            self.chunks[self.chunk_count] = chunk
            self.chunk_count += 1
        self.slot_count += 1
        return number

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
            slot = &self.chunks[number >> CHUNK_SHIFT][number & (CHUNK - 1)]
            if slot.holds == 0 and slot.keep_until < self.low_mark and slot.bytes != NULL:
                self.forget(<uint32_t>number, slot)
                forgotten += 1
        return forgotten

    # Terms to ids. These take canonical bytes.

    cdef int64_t lookup(self, const uint8_t *term, int64_t length, uint32_t hash) noexcept nogil:
        """The number of a term, -1 if it has none."""
        cdef Segment *segment = segment_of(&self.index, hash)
        cdef uint32_t i = hash & (SEGMENT - 1)
        cdef Entry entry = segment.entries[i]
        cdef Slot *slot
        while entry.number != VACANT():
            if entry.hash == hash:
                slot = &self.chunks[entry.number >> CHUNK_SHIFT][entry.number & (CHUNK - 1)]
                if slot.length == length and memcmp(slot.bytes, term, length) == 0:
                    return entry.number
            i = (i + 1) & (SEGMENT - 1)
            entry = segment.entries[i]
        return -1

    cdef int64_t intern(self, const uint8_t *term, int64_t length, int kind) noexcept nogil:
        """The id of a canonical term, given a number if it has none; -1 without memory."""
        cdef int64_t number
        cdef uint32_t hash
        cdef Slot *slot
        if kind == TYPED:
            number = read_inlined(term, length)
            if number >= 0:
                return number
        hash = hash_bytes(term, length, self.seed)
        number = self.lookup(term, length, hash)
        if number < 0:
            return self.insert(term, length, kind, hash)
        slot = &self.chunks[number >> CHUNK_SHIFT][number & (CHUNK - 1)]
        if slot.holds == 0 and slot.keep_until < self.low_mark and not self.pend(<uint32_t>number, slot):
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
        slot = &self.chunks[number >> CHUNK_SHIFT][number & (CHUNK - 1)]
        slot.holds = 0
        if not add_entry(&self.index, hash, <uint32_t>number) or not self.pend(<uint32_t>number, slot):
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
        self.examine(EXAMINED)
        return <int64_t>slot.stamp << 32 | number

    # Any valid spelling to ids.

    cdef const uint8_t *canonical(self, const uint8_t *text, int64_t length) except NULL:
        """Validates a term; its canonical bytes are then in self.term."""
        cdef Fault fault
        cdef const uint8_t *end
        cdef uint8_t *line
        if length >= 0x7FFFFFFF:
            raise DataError(REASONS[TOO_LONG])
        if length + 1 > self.line_room:
            line = <uint8_t *>realloc(self.line, 2 * length + 64)
            if line == NULL:
                raise MemoryError
            self.line = line
            self.line_room = 2 * length + 64
        memcpy(self.line, text, length)
        self.line[length] = c'\n'
        end = scan_term(self.line, self.line + length + 1, &self.term, &fault)
        if end != NULL and end != self.line + length:
            fault.at = end
            fault.reason = TRAILING
            end = NULL
        if end == NULL:
            if fault.reason == NO_MEMORY:
                raise MemoryError
            spelled = (<char *>self.line)[:length].decode("utf-8", "replace")
            column = len((<char *>self.line)[:fault.at - self.line].decode("utf-8", "replace")) + 1
            raise DataError(f"{REASONS[fault.reason]}: {spelled!r}", column=column, text=spelled)
        return end

    cdef int64_t encode_bytes(self, const uint8_t *text, int64_t length) except -1:
        self.canonical(text, length)
        cdef int64_t term_id = self.intern(self.term.bytes, self.term.length, self.term.kind)
        if term_id < 0:
            raise MemoryError
        return term_id

    cdef int64_t encode_object(self, object term) except -1:
        cdef Py_ssize_t size = 0
        cdef const char *text
        if isinstance(term, bytes):
            return self.encode_bytes(<const uint8_t *>PyBytes_AS_STRING(term), PyBytes_GET_SIZE(term))
        if not isinstance(term, str):
            raise TypeError(f"a term is str or bytes in N-Triples syntax, got {type(term).__name__}")
        try:
            text = PyUnicode_AsUTF8AndSize(term, &size)
        except UnicodeEncodeError as error:
            raise DataError(f"a surrogate is no character: {term!r}", column=error.start + 1) from None
        return self.encode_bytes(<const uint8_t *>text, size)

    def encode_one(self, term):
        """The id of a term."""
        return self.encode_object(term)

    def encode(self, terms):
        """The ids of a sequence of terms."""
        ids = np.empty(len(terms), np.int64)
        cdef int64_t[::1] out = ids
        cdef int64_t i = 0
        for term in terms:
            if i == out.shape[0]:
                raise ValueError("the sequence of terms grew while it was read")
            out[i] = self.encode_object(term)
            i += 1
        return ids[:i]

    def encode_column(self, column):
        """The ids of an Arrow string array; null becomes -1."""
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if column.type != pa.large_string():
            column = column.cast(pa.large_string())
        cdef int64_t n = len(column), i
        ids = np.full(n, -1, np.int64)
        if n == column.null_count:
            return ids
        _, offsets_buffer, text_buffer = column.buffers()
        cdef const int64_t[::1] offsets = np.frombuffer(offsets_buffer, np.int64, n + 1, 8 * column.offset)
        cdef const uint8_t[::1] text = np.frombuffer(text_buffer if text_buffer is not None else b"\0", np.uint8)
        cdef const uint8_t[::1] valid = np.asarray(column.is_valid()).view(np.uint8)
        cdef const uint8_t *start = &text[0] if text.shape[0] else NULL
        cdef int64_t[::1] out = ids
        for i in range(n):
            if valid[i]:
                out[i] = self.encode_bytes(start + offsets[i], offsets[i + 1] - offsets[i])
        return ids

    def find(self, term):
        """The id of a term if it has one that is not about to be forgotten, else -1. Nothing is added."""
        cdef int64_t number
        cdef Slot *slot
        text = term.encode() if isinstance(term, str) else term
        self.canonical(<const uint8_t *>PyBytes_AS_STRING(text), len(text))
        if self.term.kind == TYPED:
            number = read_inlined(self.term.bytes, self.term.length)
            if number >= 0:
                return number
        number = self.lookup(self.term.bytes, self.term.length, hash_bytes(self.term.bytes, self.term.length, self.seed))
        if number < 0:
            return -1
        slot = &self.chunks[number >> CHUNK_SHIFT][number & (CHUNK - 1)]
        if slot.holds == 0 and slot.keep_until < self.low_mark:
            return -1
        return <int64_t>slot.stamp << 32 | number

    # Ids to terms.

    cdef int check_live(self, int64_t term_id) except -1:
        if not is_value(term_id) if kind_of(term_id) > TYPED else self.slot_of(term_id) == NULL:
            raise ForgottenError(f"id {term_id} names no term: it was forgotten, or never given out")
        return 0

    def decode_one(self, int64_t term_id):
        """The term of an id, in N-Triples syntax."""
        cdef uint8_t text[INLINED_BYTES]
        cdef Slot *slot
        if term_id < 0:
            raise ForgottenError(f"id {term_id} names no term: it stands for unbound")
        self.check_live(term_id)
        if kind_of(term_id) > TYPED:
            return (<char *>text)[:write_inlined(text, term_id)].decode("ascii")
        slot = self.slot_of(term_id)
        return (<char *>slot.bytes)[:slot.length].decode("utf-8")

    def decode(self, const int64_t[:] ids):
        """The terms of ids as an Arrow string array; -1 becomes null."""
        cdef int64_t n = ids.shape[0], i, total = 0, nulls = 0, length
        cdef uint8_t text[INLINED_BYTES]
        cdef Slot *slot
        offset_array = np.empty(n + 1, np.int32)
        cdef int32_t[::1] offsets = offset_array
        for i in range(n):
            offsets[i] = <int32_t>total
            if ids[i] < 0:
                nulls += 1
                continue
            if kind_of(ids[i]) > TYPED:
                if not is_value(ids[i]):
                    self.check_live(ids[i])
                total += write_inlined(text, ids[i])
            else:
                slot = self.slot_of(ids[i])
                if slot == NULL:
                    self.check_live(ids[i])
                total += slot.length
            if total > 0x7FFFFFFF:
                raise OverflowError("more than 2 GB of terms: decode fewer ids at once")
        offsets[n] = <int32_t>total
        data_array = np.empty(max(total, 1), np.uint8)
        bitmap_array = np.zeros((n + 7) // 8, np.uint8) if nulls else None
        cdef uint8_t[::1] data = data_array, bitmap
        if nulls:
            bitmap = bitmap_array
        for i in range(n):
            length = offsets[i + 1] - offsets[i]
            if ids[i] < 0:
                continue
            if nulls:
                bitmap[i >> 3] |= <uint8_t>(1 << (i & 7))
            if kind_of(ids[i]) > TYPED:
                write_inlined(text, ids[i])
                memcpy(&data[offsets[i]], text, length)
            else:
                memcpy(&data[offsets[i]], self.slot_of(ids[i]).bytes, length)
        buffers = [pa.py_buffer(a) if a is not None else None for a in (bitmap_array, offset_array, data_array)]
        return pa.StringArray.from_buffers(n, buffers[1], buffers[2], buffers[0], nulls)

    # How long terms are needed.

    def touch(self, const int64_t[:] ids, until):
        """Keeps the terms of ids at least until a time, one for all or one for each; inlined ids and -1 need no keeping."""
        cdef int64_t i, until_one = 0
        cdef const int64_t[:] until_each
        cdef bint each = isinstance(until, np.ndarray)
        cdef Slot *slot
        if each:
            until_each = until
            if until_each.shape[0] != ids.shape[0]:
                raise ValueError(f"{ids.shape[0]} ids, but {until_each.shape[0]} times")
        else:
            until_one = until
        for i in range(ids.shape[0]):
            if 0 <= kind_of(ids[i]) <= TYPED:
                slot = self.slot_of(ids[i])
                if slot == NULL:
                    self.check_live(ids[i])
                if each:
                    until_one = until_each[i]
                if until_one > slot.keep_until:
                    slot.keep_until = until_one

    def hold(self, const int64_t[:] ids):
        """Keeps the terms of ids until as many releases."""
        cdef int64_t i
        cdef Slot *slot
        for i in range(ids.shape[0]):
            if 0 <= kind_of(ids[i]) <= TYPED:
                slot = self.slot_of(ids[i])
                if slot == NULL:
                    self.check_live(ids[i])
                if slot.holds & MAX_HOLDS == MAX_HOLDS:
                    raise OverflowError(f"id {ids[i]} is held {MAX_HOLDS} times")
                slot.holds += 1

    def release(self, const int64_t[:] ids, int64_t at):
        """Ends a hold of each id; the terms are kept until `at` at least, and until the batch is settled."""
        cdef int64_t i
        cdef Slot *slot
        for i in range(ids.shape[0]):
            if 0 <= kind_of(ids[i]) <= TYPED:
                slot = self.slot_of(ids[i])
                if slot == NULL:
                    self.check_live(ids[i])
                if slot.holds & MAX_HOLDS == 0:
                    raise ValueError(f"id {ids[i]} is released more often than held")
                if slot.holds == 1 and not self.pend(<uint32_t>ids[i], slot):
                    raise MemoryError
                slot.holds -= 1
                if at > slot.keep_until:
                    slot.keep_until = at

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
            self.chunks[number >> CHUNK_SHIFT][number & (CHUNK - 1)].holds &= MAX_HOLDS
        self.pending_count = 0
        self.low_mark = self.next_mark
        self.epoch += 1

    def sweep(self, int64_t slots):
        """Examines slots now, for idle moments; returns how many terms were forgotten."""
        return self.examine(slots)

    # Values inside ids.

    def kind(self, const int64_t[:] ids):
        """The kind of each id (`dictionary_kinds.Kind`), 255 for -1."""
        return (np.asarray(ids) >> 59).astype(np.uint8)

    def numeric(self, const int64_t[:] ids):
        """Of inlined numbers the nearest float64 and the kind; NaN and 0 for all other ids."""
        cdef int64_t n = ids.shape[0], i
        value_array, kind_array = np.full(n, np.nan), np.zeros(n, np.uint8)
        cdef double[::1] values = value_array
        cdef uint8_t[::1] kinds = kind_array
        for i in range(n):
            if is_number(ids[i]):
                values[i] = float_of(ids[i])
                kinds[i] = <uint8_t>kind_of(ids[i])
        return value_array, kind_array

    def exact(self, const int64_t[:] ids):
        """Of inlined numbers mantissa and scale, the value being mantissa / 10**scale; scale 255 for all other ids."""
        cdef int64_t n = ids.shape[0], i
        mantissa_array, scale_array = np.zeros(n, np.int64), np.full(n, 255, np.uint8)
        cdef int64_t[::1] mantissas = mantissa_array
        cdef uint8_t[::1] scales = scale_array
        for i in range(n):
            if is_number(ids[i]):
                mantissas[i] = mantissa_of(ids[i])
                scales[i] = <uint8_t>scale_of(ids[i])
        return mantissa_array, scale_array

    def instant(self, const int64_t[:] ids):
        """Of inlined dateTimes the ms since 1970 and 1 without, 2 with a zone (then in UTC); 0 and 0 for all other ids."""
        cdef int64_t n = ids.shape[0], i
        instant_array, zoned_array = np.zeros(n, np.int64), np.zeros(n, np.uint8)
        cdef int64_t[::1] instants = instant_array
        cdef uint8_t[::1] zoned = zoned_array
        for i in range(n):
            if kind_of(ids[i]) == DATETIME:
                instants[i] = instant_of(ids[i])
                zoned[i] = 1 if zone_of(ids[i]) == ZONE_NONE else 2
        return instant_array, zoned_array

    def compare(self, const int64_t[:] left, const int64_t[:] right):
        """-1, 0 or 1 for each pair of inlined values, exactly; INCOMPARABLE where they have no order."""
        cdef int64_t n = left.shape[0], i
        if right.shape[0] != n:
            raise ValueError(f"{n} ids on the left, but {right.shape[0]} on the right")
        order_array = np.empty(n, np.int8)
        cdef int8_t[::1] order = order_array
        for i in range(n):
            order[i] = <int8_t>compare_inlined(left[i], right[i])
        return order_array

    # The whole.

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
            "reserved": self.cells.reserved + self.chunk_count * CHUNK * sizeof(Slot) + self.index.segments * sizeof(Segment),
            "segments": self.index.segments,
        }

    def dump(self):
        """Ids, terms, keep_until and holds of all that settling now would keep."""
        cdef int64_t number, n = 0
        cdef Slot *slot
        id_array, until_array = np.empty(self.live_count, np.int64), np.empty(self.live_count, np.int64)
        hold_array = np.empty(self.live_count, np.int64)
        cdef int64_t[::1] ids = id_array, untils = until_array, holds = hold_array
        for number in range(self.slot_count):
            slot = &self.chunks[number >> CHUNK_SHIFT][number & (CHUNK - 1)]
            if slot.bytes != NULL and (slot.holds & MAX_HOLDS or slot.keep_until >= self.next_mark):
                ids[n] = <int64_t>slot.stamp << 32 | number
                untils[n] = slot.keep_until
                holds[n] = slot.holds & MAX_HOLDS
                n += 1
        id_array = id_array[:n].copy()
        return id_array, self.decode(id_array), until_array[:n].copy(), hold_array[:n].copy()

    def load(self, const int64_t[:] ids, terms, const int64_t[:] keep_until, const int64_t[:] holds, int64_t mark):
        """Restores a dump, with the same ids, into a dictionary without terms."""
        cdef int64_t n = ids.shape[0], i, number, slots = 0
        cdef Slot *slot
        cdef uint8_t *cell
        if self.slot_count:
            raise ValueError("only a dictionary without terms can be loaded")
        if keep_until.shape[0] != n or holds.shape[0] != n or len(terms) != n:
            raise ValueError("a dump has as many ids as terms, times and holds")
        for i in range(n):
            if not 0 <= kind_of(ids[i]) <= TYPED or not 0 <= holds[i] <= MAX_HOLDS:
                raise ValueError(f"id {ids[i]} with {holds[i]} holds is not from a dump")
            slots = max(slots, number_of(ids[i]) + 1)
        for i in range(slots):
            if self.take_number() < 0:
                raise MemoryError
        for i in range(n):
            number = number_of(ids[i])
            slot = &self.chunks[number >> CHUNK_SHIFT][number & (CHUNK - 1)]
            text = terms[i].as_py()
            text = text.encode() if text is not None else b""
            self.canonical(<const uint8_t *>PyBytes_AS_STRING(text), len(text))
            hash = hash_bytes(self.term.bytes, self.term.length, self.seed)
            if slot.bytes != NULL or self.term.kind != kind_of(ids[i]) or self.lookup(self.term.bytes, self.term.length, hash) >= 0:
                raise ValueError(f"id {ids[i]} with term {text!r} is not from a dump")
            cell = take_cell(&self.cells, self.term.length)
            if cell == NULL or not add_entry(&self.index, hash, <uint32_t>number):
                raise MemoryError
            memcpy(cell, self.term.bytes, self.term.length)
            slot.bytes = cell
            slot.length = <uint32_t>self.term.length
            slot.stamp = <uint32_t>(ids[i] >> 32)
            slot.hash = hash
            slot.keep_until = keep_until[i]
            slot.holds = <uint32_t>holds[i]
            self.live_count += 1
            self.live_bytes += self.term.length
        for i in range(slots - 1, -1, -1):
            slot = &self.chunks[i >> CHUNK_SHIFT][i & (CHUNK - 1)]
            if slot.bytes == NULL:
                slot.keep_until = self.free_number
                self.free_number = i
        self.low_mark = self.next_mark = mark
