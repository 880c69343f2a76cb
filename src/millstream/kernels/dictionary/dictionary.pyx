"""Terms in any valid spelling to ids, and ids to text, one by one or as columns; whole dictionaries to columns and back.

`values` says what an id is, `store` which terms have one and for how long, `grammar` what a
term is and which of its spellings is the canonical one that is stored.
"""

import numpy as np

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy

from millstream.errors import DataError
from millstream.kernels.containers.hash_index cimport prefetch
from millstream.kernels.dictionary.cells cimport CELL_STEP, hash_bytes, take_cell
from millstream.kernels.dictionary.index cimport add_entry
from millstream.kernels.dictionary.store cimport CHUNK, CHUNK_SHIFT, MAX_HOLDS, Slot
from millstream.kernels.dictionary.store import ForgottenError
from millstream.kernels.dictionary.values cimport (
    INLINED_BYTES, TYPED, is_value, kind_of, number_of, read_inlined, write_inlined,
)
from millstream.kernels.scanning.grammar cimport NO_MEMORY, TOO_LONG, TRAILING, Fault, free_term, scan_term
from millstream.kernels.scanning.reasons import REASONS

cdef enum:
    AHEAD = 16    # ids looked ahead while decoding
    COPIED = CELL_STEP
    MOST_COPIED = 256     # longer ones are worth a call; cells are that long at least

# Fixed, unlike the seed of the index: what is spread by content must go the same way in every process.
cdef uint64_t CONTENT_SEED = 0x6D696C6C73747265

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL


cdef inline void copy_cell(uint8_t *to, const uint8_t *bytes, int64_t length) noexcept nogil:
    """Copies a term of a few bytes, and what is behind it up to the next multiple of COPIED: cells have that room."""
    cdef int64_t at = 0
    while at < length:
        memcpy(to + at, bytes + at, COPIED)
        at += COPIED


cdef class Dictionary(Store):
    """Terms in N-Triples syntax to ids and back."""

    def __dealloc__(self):
        free(self.line)
        free(self.made)
        free_term(&self.term)

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
        import pyarrow as pa  # 26 MB, which who has no tables does without.

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
        slot = self.slot_at(number)
        if self.is_forgettable(slot):
            return -1
        return <int64_t>slot.stamp << 32 | number

    # Ids to terms.

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

    def texts(self, const int64_t[:] ids):
        """The terms of ids as a list; -1 becomes None."""
        cdef int64_t i
        return [None if ids[i] < 0 else self.decode_one(ids[i]) for i in range(ids.shape[0])]

    def decode(self, const int64_t[:] ids):
        """The terms of ids as an Arrow string array; -1 becomes null."""
        cdef const int64_t[::1] plain = np.ascontiguousarray(ids)
        return self.decode_all(&plain[0] if plain.shape[0] else NULL, plain.shape[0])

    cdef object decode_all(self, const int64_t *ids, int64_t n):
        """First how long all of them are, then their bytes. Columns of answers have the same id many times over."""
        import pyarrow as pa

        cdef int64_t i, last = -1, total = 0, nulls = 0, length = 0
        cdef uint8_t text[INLINED_BYTES + COPIED]
        cdef const uint8_t *bytes = NULL
        cdef Slot *slot
        offset_array = np.empty(n + 1, np.int32)
        cdef int32_t[::1] offsets = offset_array
        for i in range(n):
            # Terms lie anywhere in memory: what comes soon is fetched meanwhile.
            if i + AHEAD < n:
                self.ask_for(ids[i + AHEAD])
            offsets[i] = <int32_t>total
            if ids[i] < 0:
                nulls += 1
                continue
            if ids[i] != last:
                last = ids[i]
                if kind_of(last) > TYPED:
                    if not is_value(last):
                        self.check_live(last)
                    length = write_inlined(text, last)
                else:
                    slot = self.slot_of(last)
                    if slot == NULL:
                        self.check_live(last)
                    length = slot.length
            total += length
            if total > 0x7FFFFFFF:
                raise OverflowError("more than 2 GB of terms: decode fewer ids at once")
        offsets[n] = <int32_t>total
        # With room for what is copied beyond the last term.
        data_array = np.empty(total + COPIED, np.uint8)
        bitmap_array = np.zeros((n + 7) // 8, np.uint8) if nulls else None
        cdef uint8_t[::1] data = data_array, bitmap
        if nulls:
            bitmap = bitmap_array
        last = -1
        for i in range(n):
            if i + AHEAD < n and ids[i + AHEAD] != ids[i + AHEAD - 1] and 0 <= kind_of(ids[i + AHEAD]) <= TYPED:
                prefetch(self.slot_at(number_of(ids[i + AHEAD])).bytes)
            if ids[i] < 0:
                continue
            if nulls:
                bitmap[i >> 3] |= <uint8_t>(1 << (i & 7))
            if ids[i] != last:
                last = ids[i]
                if kind_of(last) > TYPED:
                    length = write_inlined(text, last)
                    bytes = text
                else:
                    slot = self.slot_at(number_of(last))
                    length = slot.length
                    bytes = slot.bytes
            if length > MOST_COPIED:
                memcpy(&data[offsets[i]], bytes, length)
            else:
                copy_cell(&data[offsets[i]], bytes, length)
        buffers = [pa.py_buffer(a) if a is not None else None for a in (bitmap_array, offset_array, data_array[:total])]
        return pa.StringArray.from_buffers(n, buffers[1], buffers[2], buffers[0], nulls)

    def hashes(self, const int64_t[:] ids):
        """A hash of each term's content, the same in every process; 0 for -1."""
        cdef int64_t n = ids.shape[0], i
        cdef Slot *slot
        hash_array = np.zeros(n, np.uint32)
        cdef uint32_t[::1] out = hash_array
        for i in range(n):
            if ids[i] < 0:
                continue
            if kind_of(ids[i]) > TYPED:
                out[i] = hash_bytes(<const uint8_t *>&ids[i], sizeof(int64_t), CONTENT_SEED)
            else:
                slot = self.slot_of(ids[i])
                if slot == NULL:
                    self.check_live(ids[i])
                out[i] = hash_bytes(slot.bytes, slot.length, CONTENT_SEED)
        return hash_array

    # The whole.

    def dump(self):
        """Ids, terms, keep_until and holds of all that settling now would keep."""
        cdef int64_t number, n = 0
        cdef Slot *slot
        id_array, until_array = np.empty(self.live_count, np.int64), np.empty(self.live_count, np.int64)
        hold_array = np.empty(self.live_count, np.int64)
        cdef int64_t[::1] ids = id_array, untils = until_array, holds = hold_array
        for number in range(self.slot_count):
            slot = self.slot_at(number)
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
        cdef Slot *chunk
        cdef uint8_t *cell
        if self.slot_count:
            raise ValueError("only a dictionary without terms can be loaded")
        if keep_until.shape[0] != n or holds.shape[0] != n or len(terms) != n:
            raise ValueError("a dump has as many ids as terms, times and holds")
        for i in range(n):
            if not 0 <= kind_of(ids[i]) <= TYPED or not 0 <= holds[i] <= MAX_HOLDS:
                raise ValueError(f"id {ids[i]} with {holds[i]} holds is not from a dump")
            if number_of(ids[i]) < slots:
                raise ValueError(f"id {ids[i]} is not in order")
            slots = number_of(ids[i]) + 1
        # However far apart numbers are, memory follows their count: chunks that none is in are one, and never used again.
        used_array = np.zeros((slots >> CHUNK_SHIFT) + 1, np.uint8)
        cdef uint8_t[::1] used = used_array
        for i in range(n):
            used[number_of(ids[i]) >> CHUNK_SHIFT] = 1
        self.blank = <Slot *>calloc(CHUNK, sizeof(Slot))
        while self.chunk_count << CHUNK_SHIFT < slots:
            chunk = <Slot *>calloc(CHUNK, sizeof(Slot)) if used[self.chunk_count] else self.blank
            if chunk == NULL or not self.add_chunk(chunk):
                if chunk != self.blank:
                    free(chunk)
                raise MemoryError
        self.slot_count = slots
        for i in range(n):
            number = number_of(ids[i])
            slot = self.slot_at(number)
            text = terms[i].as_py()
            text = text.encode() if text is not None else b""
            self.canonical(<const uint8_t *>PyBytes_AS_STRING(text), len(text))
            hash = hash_bytes(self.term.bytes, self.term.length, self.seed)
            known = slot.bytes != NULL or self.lookup(self.term.bytes, self.term.length, hash) >= 0
            if known or self.term.kind != kind_of(ids[i]):
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
            if not used[i >> CHUNK_SHIFT]:
                continue
            slot = self.slot_at(i)
            if slot.bytes == NULL:
                slot.keep_until = self.free_number
                self.free_number = i
        self.low_mark = self.next_mark = mark
