"""Rows of a table whose cells are N-Triples terms to columns of ids.

Cells are compared where Arrow has them: one that repeats the s of the row before, or the p or o that came last where it
stands, is not read again. Nor is a literal that ends as the one before with its p did, from the closing quote on, and has
nothing but plain characters before. Any other cell is copied, a line feed behind it, and scanned alone: so it is a term by
the scanner's own rules if that ends where the cell does. A term that is written as it is kept lies in the table as well, and
waits there for its id.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memcpy, memset

from millstream.kernels.dictionary.values cimport IRI
from millstream.kernels.scanning.byte_classes cimport Buffer, reserve, skip_text
from millstream.kernels.scanning.grammar cimport NO_MEMORY, Fault
from millstream.kernels.scanning.scanner cimport Scanner
from millstream.kernels.scanning.statement_scanner cimport RECENT, Recent
from millstream.kernels.scanning.term_block cimport begin_block

cdef enum:
    ROOM = 1 << 16              # rows that there is room for from the start


cdef struct Cells:
    # A column of texts as Arrow has them, and one of them.
    const int32_t *narrow     # where cells end, from the beginning of the first on; one of the two
    const int64_t *wide
    const uint8_t *bytes
    int64_t size
    int64_t end               # of the cell before
    const uint8_t *at
    int64_t length


cdef struct Tail:
    # How the last literal with some p ended, from its closing quote on; written as it is kept.
    int64_t text              # in which it was
    const uint8_t *bytes
    int64_t length
    int kind


cdef inline bint next_cell(Cells *cells, int64_t row) noexcept nogil:
    """Finds the cell of a row, rows being asked for in order; whether it is there and begins as a term does."""
    cdef int64_t first = cells.end
    cdef int64_t last = cells.wide[row + 1] if cells.wide != NULL else cells.narrow[row + 1]
    cells.end = last
    if first < 0 or last <= first or last > cells.size:
        return False
    cells.at = cells.bytes + first
    cells.length = last - first
    return cells.at[0] == c'<' or cells.at[0] == c'"' or cells.at[0] == c'_'


cdef inline bint is_cell(const Cells *cell, const uint8_t *bytes, int64_t length) noexcept nogil:
    return cell.length == length and memcmp(cell.at, bytes, length) == 0


cdef inline bint ends_alike(const Cells *cell, const Tail *tail) noexcept nogil:
    """Whether a cell is plain characters in quotes that end so."""
    cdef const uint8_t *close = cell.at + cell.length - tail.length
    return (cell.length > tail.length and memcmp(close, tail.bytes, tail.length) == 0
            and skip_text(cell.at + 1, cell.at + cell.length) == close)


cdef class TableScanner(Scanner):
    """Reads tables of s, p and o."""

    cdef Buffer copies[3]       # of the cells of s, p and o that were read last
    cdef Cells cells_of[3]      # of the table that is being read
    cdef Tail tails[RECENT]     # by the place at which p is remembered

    def __dealloc__(self):
        cdef int c
        for c in range(3):
            free(self.copies[c].data)

    cdef const uint8_t *copy(self, int c, const Cells *cell) noexcept nogil:
        """The cell and a line feed; NULL without memory."""
        cdef Buffer *buffer = &self.copies[c]
        if not reserve(buffer, cell.length + 1):
            return NULL
        memcpy(buffer.data, cell.at, cell.length)
        buffer.data[cell.length] = c'\n'
        return buffer.data

    cdef bint stays(self, const uint8_t *bytes) noexcept nogil:
        cdef int c
        for c in range(3):
            if self.cells_of[c].bytes <= bytes < self.cells_of[c].bytes + self.cells_of[c].size:
                return True
        return False

    cdef bint read_s(self, const Cells *cell, Fault *fault) noexcept nogil:
        cdef const uint8_t *p = self.copy(0, cell)
        if p == NULL:
            fault.reason = NO_MEMORY
            return False
        if self.scan_s(p, p + cell.length + 1, fault) != p + cell.length:
            return False
        if self.s.bytes == p:
            self.s.bytes = cell.at
        return True

    cdef bint read_p(self, const Cells *cell, Fault *fault) noexcept nogil:
        cdef Recent *expected = self.last_p.next if self.last_p != NULL else NULL
        cdef const uint8_t *p
        if expected != NULL and is_cell(cell, expected.bytes, expected.length):
            self.take_p(expected, cell.at)
            return True
        p = self.copy(1, cell)
        if p == NULL:
            fault.reason = NO_MEMORY
            return False
        return self.scan_p(p, p + cell.length + 1, fault) == p + cell.length

    cdef bint read_o(self, const Cells *cell, Fault *fault) noexcept nogil:
        """An IRI is remembered as it lies in the table, of a literal how it ends."""
        cdef Recent *recent = self.last_p if cell.at[0] == c'<' else NULL
        cdef Tail *tail = &self.tails[self.last_p - self.recent] if self.last_p != NULL and cell.at[0] == c'"' else NULL
        cdef const uint8_t *p
        if recent != NULL and recent.text == self.text and is_cell(cell, recent.o, recent.o_length):
            self.o.kind = IRI
            self.o.bytes = recent.o
            self.o.length = recent.o_length
            self.o_id = recent.o_id if recent.o_id >= 0 or recent.block == self.block.number else -1
            return True
        if tail != NULL and tail.text == self.text and ends_alike(cell, tail):
            self.o.kind = tail.kind
            self.o.bytes = cell.at
            self.o.length = cell.length
            self.o_id = -1
            return True
        p = self.copy(2, cell)
        if p == NULL:
            fault.reason = NO_MEMORY
            return False
        if recent != NULL:
            recent.text = -1
        if self.scan_o(p, p + cell.length + 1, fault) != p + cell.length:
            return False
        if self.o.bytes == p:
            self.o.bytes = cell.at
            if recent != NULL:
                recent.o = cell.at
            elif tail != NULL:
                self.remember_tail(cell, tail)
        return True

    cdef void remember_tail(self, const Cells *cell, Tail *tail) noexcept nogil:
        """Neither a datatype nor a language has quotes in it."""
        cdef int64_t length = 1
        while cell.at[cell.length - length] != c'"':
            length += 1
        tail.text = self.text
        tail.bytes = cell.at + cell.length - length
        tail.length = length
        tail.kind = self.o.kind

    def cells(self, columns not None, int64_t rows):
        """Rows of a table, each a statement: of s, p and o where cells end, a number more than there are rows, and their
        bytes. None if any of them is malformed.
        """
        cdef Cells *cells = self.cells_of
        cdef const int32_t[::1] narrow
        cdef const int64_t[::1] wide
        cdef const uint8_t[::1] data
        cdef int64_t row, s_length = 0
        cdef const uint8_t *s = NULL
        cdef Fault fault
        cdef int c
        if self.busy or self.carried or self.graphs:
            raise RuntimeError("a scanner was fed while it was reading")
        if len(columns) != 3 or rows < 0:
            raise ValueError(f"expected the cells of s, p and o, got {len(columns)} columns of {rows} rows")
        for c in range(3):
            ends, data = columns[c]
            memset(&cells[c], 0, sizeof(Cells))
            if ends.dtype == np.int32:
                narrow = ends
                cells[c].narrow = &narrow[0] if len(ends) else NULL
            else:
                wide = ends
                cells[c].wide = &wide[0] if len(ends) else NULL
            if len(ends) != rows + 1:
                raise ValueError(f"{rows} rows have {rows + 1} ends, got {len(ends)}")
            cells[c].end = ends[0]
            cells[c].bytes = &data[0] if data.shape[0] else NULL
            cells[c].size = data.shape[0]
        self.busy = True
        try:
            self.rows = 0
            self.text += 1
            begin_block(&self.block, 0)
            if self.room < min(rows, <int64_t>ROOM):
                self.grow(min(rows, <int64_t>ROOM))
            fault.reason = 0
            for row in range(rows):
                if self.rows == self.room:
                    self.grow()
                self.lines += 1
                if not (next_cell(&cells[0], row) and next_cell(&cells[1], row) and next_cell(&cells[2], row)):
                    return None
                if s == NULL or not is_cell(&cells[0], s, s_length):
                    if not self.read_s(&cells[0], &fault):
                        break
                    s = cells[0].at
                    s_length = cells[0].length
                if not (self.read_p(&cells[1], &fault) and self.read_o(&cells[2], &fault)
                        and self.keep_statement(False, NULL, &fault)):
                    break
            else:
                if not self.end_block():
                    raise MemoryError
                return self.take_columns([])
            if fault.reason == NO_MEMORY:
                raise MemoryError
            return None
        finally:
            # What was copied is no text that goes on.
            self.last_s = NULL
            self.text += 1
            memset(cells, 0, sizeof(self.cells_of))
            self.busy = False
