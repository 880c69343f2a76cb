"""N-Triples and N-Quads bytes to columns of ids.

Every line is validated, whether its statement is kept or not; a bad one is reported and skipped, and the next is read. What
is handed to `scan_lines` always ends with a line end, which no term can contain, so that no loop leaves it (see
`byte_classes`); an incomplete last line waits in `carry`. Input is read in place.
"""

from dataclasses import dataclass

import numpy as np
import pyoxigraph

cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from millstream.kernels.containers.arrays cimport array_of
from millstream.kernels.matching.intake cimport Intake
from millstream.kernels.scanning.byte_classes cimport reserve
from millstream.kernels.scanning.grammar cimport NO_MEMORY, TOO_LARGE, TRIPLE_TERM, Fault, skip_blanks
from millstream.kernels.scanning.reasons import REASONS
from millstream.kernels.scanning.statement_scanner cimport StatementScanner
from millstream.kernels.scanning.term_block cimport begin_block

cnp.import_array()

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL

cdef enum:
    SHORT = 512           # bytes
    SHOWN = 1024          # bytes of a malformed line that are told
    EXPLAINED = 1 << 20   # longer lines are not parsed again for a better reason: the other parser refuses long terms


@dataclass(slots=True)
class Scanned:
    """What one call of `feed` found; `g` is None in N-Triples. An error is (line, column, reason, text of the line).

    Each column of `triples` lies in one piece.
    """

    triples: np.ndarray
    g: np.ndarray | None
    index: np.ndarray
    line: np.ndarray
    errors: list

    @property
    def s(self) -> np.ndarray:
        return self.triples[:, 0]

    @property
    def p(self) -> np.ndarray:
        return self.triples[:, 1]

    @property
    def o(self) -> np.ndarray:
        return self.triples[:, 2]


cdef class Scanner(StatementScanner):
    """Reads one text, cut anywhere."""

    def __dealloc__(self):
        free(self.carry.data)

    def feed(self, const uint8_t[::1] data not None, bint final=False):
        """Reads the next bytes; `final` says that the text ends with them."""
        cdef const uint8_t *p = &data[0] if data.shape[0] else NULL
        cdef int64_t n = data.shape[0], first = 0, last = n
        if self.busy:
            raise RuntimeError("a scanner was fed while it was reading")
        self.busy = True
        try:
            errors = []
            self.rows = 0
            while last > 0 and p[last - 1] != c'\n' and (self.signed or p[last - 1] != c'\r'):
                last -= 1
            if self.carried and last > 0:
                while p[first] != c'\n' and (self.signed or p[first] != c'\r'):
                    first += 1
                first += 1
                self.keep(p, first)
                last_carried, self.carried = self.carried, 0
                self.read_lines(self.carry.data, self.carry.data + <int64_t>last_carried, errors)
            if last > first:
                self.read_lines(p + first, p + last, errors)
            self.keep(p + last, n - last)
            if final:
                if self.carried:
                    self.read_text(NULL, 0, errors)
                self.after_return = False
            return self.take_columns(errors)
        finally:
            self.busy = False

    cpdef Intake whole(self, text, str scope=""):
        """A whole small text at once, as the triples of one element, each once; errors are in `errors`.

        For scanners that read nothing but such texts: lines and statements are counted anew, graphs are not told. Labels of
        blank nodes are within the scope. Raises UnicodeEncodeError for a string with surrogates.
        """
        cdef Py_ssize_t size = 0
        cdef const char *p
        cdef bytes data
        if isinstance(text, str):
            p = PyUnicode_AsUTF8AndSize(text, &size)
        else:
            if not isinstance(text, bytes):
                raise TypeError(f"expected text, got {text!r}")
            data = text
            p = data
            size = len(data)
        return self.whole_bytes(<const uint8_t *>p, size, scope)

    cdef Intake whole_bytes(self, const uint8_t *p, int64_t size, str scope):
        """The same of its bytes."""
        cdef Intake made = Intake.__new__(Intake)
        cdef list errors
        if self.busy or self.carried:
            raise RuntimeError("a scanner was fed while it was reading")
        self.busy = True
        try:
            self.enter_scope(scope)
            self.errors = None
            # Most texts have no errors: the list of one serves the next.
            errors = self.spare_errors
            self.spare_errors = None
            if errors is None:
                errors = []
            self.rows = self.lines = self.statements = 0
            self.read_text(p, size, errors)
            if errors:
                self.errors = errors
            else:
                self.spare_errors = errors
            made.total = self.statements
            made.make_room(self.rows)
            if self.rows:
                memcpy(made.words, self.columns[0], self.rows * sizeof(int64_t))
                memcpy(made.words + self.rows, self.columns[1], self.rows * sizeof(int64_t))
                memcpy(made.words + 2 * self.rows, self.columns[2], self.rows * sizeof(int64_t))
                memcpy(made.words + 3 * self.rows, self.columns[4], self.rows * sizeof(int64_t))
                made.drop_repeats()
            return made
        finally:
            self.busy = False

    def abandon(self):
        """Forgets the incomplete line; gives how it begins. What is fed next goes on with its end."""
        head = (<const char *>self.carry.data)[:min(self.carried, SHOWN)]
        free(self.carry.data)
        self.carry.data = NULL
        self.carry.capacity = self.carried = 0
        return head

    cdef int keep(self, const uint8_t *p, int64_t n) except -1:
        """Appends to the incomplete line."""
        if n and not reserve(&self.carry, self.carried + n):
            raise MemoryError
        if n:
            memcpy(self.carry.data + self.carried, p, n)
        self.carried += n
        return 0

    cdef object take_columns(self, list errors):
        cdef cnp.npy_intp shape[2]
        cdef cnp.ndarray terms
        cdef int i
        shape[0], shape[1] = 3, self.rows
        terms = cnp.PyArray_EMPTY(2, shape, cnp.NPY_INT64, 0)
        for i in range(3 if self.rows else 0):
            memcpy(<int64_t *>cnp.PyArray_DATA(terms) + i * self.rows, self.columns[i], self.rows * sizeof(int64_t))
        graph = array_of(self.columns[3], self.rows) if self.graphs else None
        return Scanned(terms.T, graph, array_of(self.columns[4], self.rows), array_of(self.columns[5], self.rows), errors)

    cdef int read_text(self, const uint8_t *p, int64_t n, list errors) except -1:
        """Reads the rest of a text, which need not end with a line end."""
        if n and not self.carried and p[n - 1] == c'\n':
            self.read_lines(p, p + n, errors)
        else:
            self.keep(p, n)
            self.keep(b"\n", 1)
            n, self.carried = self.carried, 0
            self.read_lines(self.carry.data, self.carry.data + n, errors)
        self.after_return = False
        return 0

    cdef int read_lines(self, const uint8_t *p, const uint8_t *end, list errors) except -1:
        """Reads complete lines: the last byte before `end` ends one. All terms of its rows have ids then."""
        self.last_s = NULL
        self.text += 1
        self.text_begin = p
        # A short text is not worth a block: none of its terms is taken to be in it.
        self.text_end = end if end - p > SHORT else p
        begin_block(&self.block, self.rows)
        self.scan_lines(p, end, errors)
        if self.block.count and not self.end_block():
            raise MemoryError
        return 0

    cdef int scan_lines(self, const uint8_t *p, const uint8_t *end, list errors) except -1:
        cdef const uint8_t *start
        cdef const uint8_t *stop
        cdef Fault fault
        if self.after_return:     # the line feed of a carriage return that ended the bytes before
            self.after_return = False
            p += p[0] == c'\n'
        while p < end:
            if self.rows == self.room:
                self.grow()
            self.lines += 1
            start = p
            p = skip_blanks(p)
            if p[0] != c'\n' and p[0] != c'\r' and p[0] != c'#':
                stop = self.scan_statement(p, end, &fault)
                if stop == NULL:
                    self.last_s = NULL
                    if fault.reason == NO_MEMORY:
                        raise MemoryError
                    stop = p
                    while stop[0] != c'\n' and stop[0] != c'\r':
                        stop += 1
                    errors.append(self.explain(start, stop, &fault))
                p = stop
            if p[0] == c'#':
                self.comments += 1
                while p[0] != c'\n' and p[0] != c'\r':
                    p += 1
            if p[0] == c'\r':
                if p + 1 == end:
                    self.after_return = True
                elif p[1] == c'\n':
                    p += 1
            p += 1
        return 0

    cdef tuple explain(self, const uint8_t *start, const uint8_t *stop, Fault *fault):
        """An error with the words of pyoxigraph, or ours where it would take the line (RDF 1.2)."""
        column = len((<const char *>start)[:fault.at - start].decode("utf-8", "replace")) + 1
        text = (<const char *>start)[:min(stop - start, SHOWN)].decode("utf-8", "replace")
        reason = REASONS[fault.reason]
        if fault.reason == TOO_LARGE:
            reason = reason.format(self.longest_name, self.literal_bytes)
        # Nested triple terms can overflow its stack.
        elif fault.reason != TRIPLE_TERM and stop - start <= EXPLAINED:
            try:
                form = pyoxigraph.RdfFormat.N_QUADS if self.graphs else pyoxigraph.RdfFormat.N_TRIPLES
                for _ in pyoxigraph.parse((<const char *>start)[:stop - start], format=form):
                    pass
            except SyntaxError as error:
                column = error.offset or column
                reason = str(error.msg).partition(": ")[2] or reason
        return self.lines, column, reason, text
