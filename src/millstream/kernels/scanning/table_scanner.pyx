"""Rows of a table whose cells are N-Triples terms to columns of ids.

Cells are read where Arrow has them. Lines are made of them, some at a time, and scanned: so a cell is a term by the scanner's own
rules.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from millstream.kernels.scanning.byte_classes cimport reserve
from millstream.kernels.scanning.scanner cimport Scanner

cdef enum:
    CELLS_BYTES = 1 << 16   # of lines that are made of cells at a time: few enough to stay in the cache


cdef struct Cells:
    # A column of texts as Arrow has them, and one of them.
    const int32_t *narrow     # where cells end, from the beginning of the first on; one of the two
    const int64_t *wide
    const uint8_t *bytes
    int64_t size
    const uint8_t *at
    int64_t length


cdef inline bint next_cell(Cells *cells, int64_t row) noexcept nogil:
    """Finds the cell of a row; whether it is there and begins as a term does."""
    cdef int64_t first = cells.wide[row] if cells.wide != NULL else cells.narrow[row]
    cdef int64_t last = cells.wide[row + 1] if cells.wide != NULL else cells.narrow[row + 1]
    if first < 0 or last <= first or last > cells.size:
        return False
    cells.at = cells.bytes + first
    cells.length = last - first
    return cells.at[0] == c'<' or cells.at[0] == c'"' or cells.at[0] == c'_'


cdef class TableScanner(Scanner):
    """Reads tables of s, p and o."""

    def cells(self, columns not None, int64_t rows):
        """Rows of a table, each a statement: of s, p and o where cells end, a number more than there are rows, and their
        bytes.

        None if any of them is malformed. Read are lines of three cells and a dot, in which each cell begins as a term does:
        so it is one, as long as there are no more lines than rows and nothing in a line is a comment.
        """
        cdef Cells cells[3]
        cdef const int32_t[::1] narrow
        cdef const int64_t[::1] wide
        cdef const uint8_t[::1] data
        cdef int64_t row, used = 0, length, comments = self.comments, lines = self.lines, statements = self.statements
        cdef uint8_t *out
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
            cells[c].bytes = &data[0] if data.shape[0] else NULL
            cells[c].size = data.shape[0]
        self.busy = True
        try:
            errors = []
            self.rows = 0
            for row in range(rows):
                length = 6
                for c in range(3):
                    if not next_cell(&cells[c], row):
                        return None
                    length += cells[c].length
                if used and used + length > CELLS_BYTES:
                    self.read_lines(self.carry.data, self.carry.data + used, errors)
                    used = 0
                if not reserve(&self.carry, max(used + length, <int64_t>CELLS_BYTES)):
                    raise MemoryError
                out = self.carry.data + used
                for c in range(3):
                    memcpy(out, cells[c].at, cells[c].length)
                    out += cells[c].length
                    out[0] = c' '
                    out += 1
                out[0] = c'.'
                out[1] = c'\n'
                used = out + 2 - self.carry.data
            if used:
                self.read_lines(self.carry.data, self.carry.data + used, errors)
            if self.comments > comments or self.lines - lines != rows or self.statements - statements != rows:
                return None
            return self.take_columns(errors)
        finally:
            self.busy = False
