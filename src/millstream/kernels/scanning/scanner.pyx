"""N-Triples and N-Quads bytes to columns of ids.

Every line is validated, whether its statement is kept or not; a bad one is reported and skipped, and the next is read. What
is handed to `scan_lines` always ends with a line end, which no term can contain, so that no loop leaves it (see
`byte_classes`); an incomplete last line waits in `carry`. Input is read in place.

Columns, one row a kept statement: s, p, o, g (-1: the default graph), index (the statement's place among all valid ones,
from 0), line (from 1) and sign, which only a `PatchScanner` sets. They lie in growing arrays here and are copied once,
when a call returns.

Repeats are cheap: an IRI equal to the last subject is not looked at again, and p is found in a small table of recent ones.
Each of these knows which came after it last, and the object it had last: if the text goes on with the same bytes, they
need not be read. Ids are remembered for one epoch of the dictionary. All other terms get theirs a block at a time (see
`term_block`).
"""

from dataclasses import dataclass

import numpy as np
import pyoxigraph

cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memcpy, memset

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.values cimport BLANK, IRI, TYPED, read_inlined
from millstream.kernels.matching.elements cimport Intake
from millstream.kernels.scanning.byte_classes cimport CLASS, LABEL, reserve
from millstream.kernels.scanning.grammar cimport (
    GRAPH, NO_DOT, NO_MEMORY, OBJECT, PREDICATE, SUBJECT, TOO_LARGE, TRAILING, TRIPLE_TERM, Fault, Term, fail, free_term,
    is_line_end, scan_blank, scan_iri, scan_term, skip_blanks,
)
from millstream.kernels.scanning.reasons import REASONS
from millstream.kernels.scanning.summary cimport Summary
from millstream.kernels.scanning.term_block cimport TERMS, TermBlock, begin_block, give_ids, id_of, wait_for_id

cnp.import_array()

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL

cdef enum:
    SHORT = 512           # bytes
    SHOWN = 1024          # bytes of a malformed line that are told
    EXPLAINED = 1 << 20   # longer lines are not parsed again for a better reason: the other parser refuses long terms
    LONGEST_NAME = 8 << 20  # an IRI or label: the other parser holds no longer ones, and formats must not differ


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


cdef class Scanner:
    """Reads one text, cut anywhere."""

    def __cinit__(self, Dictionary dictionary not None, *, bint graphs=False, Summary summary=None, str scope="",
                  int64_t literal_bytes=1 << 31):
        self.dictionary = dictionary
        self.graphs = graphs
        self.literal_bytes = literal_bytes
        self.longest_name = min(literal_bytes, LONGEST_NAME)
        self.summary = None if summary is not None and summary.everything else summary
        self.enter_scope(scope)
        self.recent = <Recent *>realloc(NULL, RECENT * sizeof(Recent))
        if self.recent == NULL:
            raise MemoryError
        memset(self.recent, 0, RECENT * sizeof(Recent))

    def __dealloc__(self):
        for i in range(COLUMNS):
            free(self.columns[i])
        free(self.recent)
        free(self.carry.data)
        free_term(&self.s)
        free_term(&self.p)
        free_term(&self.o)
        free_term(&self.g)

    def watch(self, Summary summary=None):
        """From now on another summary says what is kept; None keeps everything."""
        self.summary = None if summary is not None and summary.everything else summary
        # Predicates are remembered with their numbers in the summary.
        memset(self.recent, 0, RECENT * sizeof(Recent))
        self.last_p = NULL

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
                    self.keep(b"\n", 1)
                    last_carried, self.carried = self.carried, 0
                    self.read_lines(self.carry.data, self.carry.data + <int64_t>last_carried, errors)
                self.after_return = False
            return self.take_columns(errors)
        finally:
            self.busy = False

    cpdef Intake whole(self, text, str scope=""):
        """A whole small text at once, as the triples of one element, each once; errors are in `errors`.

        For scanners that read nothing but such texts: lines and statements are counted anew, graphs are not told. Labels of
        blank nodes are within the scope. Raises UnicodeEncodeError for a string with surrogates.
        """
        cdef Intake made = Intake.__new__(Intake)
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
        if self.busy or self.carried:
            raise RuntimeError("a scanner was fed while it was reading")
        self.busy = True
        try:
            self.enter_scope(scope)
            self.errors = None
            errors = []
            self.rows = self.lines = self.statements = 0
            if size and p[size - 1] == c'\n':
                self.read_lines(<const uint8_t *>p, <const uint8_t *>p + size, errors)
            else:
                self.keep(<const uint8_t *>p, size)
                self.keep(b"\n", 1)
                self.carried = 0
                self.read_lines(self.carry.data, self.carry.data + size + 1, errors)
            self.after_return = False
            if errors:
                self.errors = errors
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

    cdef int enter_scope(self, str scope) except -1:
        if scope is self.scope_text:
            return 0
        self.scope_bytes = scope.encode("ascii", "replace")
        self.scope = self.scope_bytes
        self.scope_length = len(self.scope_bytes)
        self.scope_text = scope
        for i in range(self.scope_length):
            if not CLASS[self.scope[i]] & LABEL or (i == 0 and self.scope[0] == c'-'):
                raise ValueError(
                    f"a scope is made of ASCII letters, digits, '_' and '-', not starting with '-', got {scope!r}"
                )
        return 0

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
        return Scanned(terms.T, self.column(3) if self.graphs else None, self.column(4), self.column(5), errors)

    cdef object column(self, int place):
        cdef cnp.npy_intp rows = self.rows
        cdef cnp.ndarray found = cnp.PyArray_EMPTY(1, &rows, cnp.NPY_INT64, 0)
        if rows:
            memcpy(cnp.PyArray_DATA(found), self.columns[place], rows * sizeof(int64_t))
        return found

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

    cdef const uint8_t *scan_statement(self, const uint8_t *p, const uint8_t *end, Fault *fault) noexcept nogil:
        """Reads a statement up to its comment or line end, and adds a row if it is kept."""
        cdef bint graph = False
        if self.last_s != NULL and end - p > self.last_s_length and memcmp(p, self.last_s, self.last_s_length) == 0:
            p += self.last_s_length
        else:
            p = self.scan_s(p, end, fault)
            if p == NULL:
                return NULL
        p = self.scan_p(skip_blanks(p), end, fault)
        if p == NULL:
            return NULL
        p = skip_blanks(p)
        p = self.scan_o(p, end, fault)
        if p == NULL:
            return NULL
        p = skip_blanks(p)
        if p[0] != c'.':
            graph = self.graphs and (p[0] == c'<' or p[0] == c'_')
            if not graph:
                return fail(fault, p, GRAPH if self.graphs and p[0] == c'"' else NO_DOT)
            p = scan_iri(p, end, &self.g, fault) if p[0] == c'<' else scan_blank(p, &self.g, fault)
            if p == NULL:
                return NULL
            if self.g.length > self.longest_name:
                return fail(fault, p, TOO_LARGE)
            p = skip_blanks(p)
            if p[0] != c'.':
                return fail(fault, p, NO_DOT)
        p = skip_blanks(p + 1)
        if (p[0] != c'\n' and p[0] != c'\r' and p[0] != c'#') or (self.signed and not is_line_end(p)):
            return fail(fault, p, TRAILING)
        return p if self.keep_statement(graph, p, fault) else NULL

    cdef bint keep_statement(self, bint graph, const uint8_t *p, Fault *fault) noexcept nogil:
        """Takes the statement whose terms were read, and adds a row if it is kept; False for a fault, which is at p."""
        if (self.o.length > self.longest_name or self.p.length > self.longest_name) and self.has_large_term():
            fail(fault, p, TOO_LARGE)
            return False
        if (self.summary is None or self.summary.matches(&self.s, self.p_number, &self.o)) and not self.add_row(graph):
            fail(fault, p, NO_MEMORY)
            return False
        self.statements += 1
        return True

    cdef bint has_large_term(self) noexcept nogil:
        cdef bint is_name = self.o.kind == IRI or self.o.kind == BLANK
        return self.p.length > self.longest_name or self.o.length > (self.longest_name if is_name else self.literal_bytes)

    cdef const uint8_t *scan_s(self, const uint8_t *p, const uint8_t *end, Fault *fault) noexcept nogil:
        cdef const uint8_t *start = p
        self.last_s = NULL
        self.s_id = -1
        if p[0] == c'_':
            p = scan_blank(p, &self.s, fault)     # a label has no end of its own, so it is not remembered
            return p if p == NULL or self.s.length <= self.longest_name else fail(fault, start, TOO_LARGE)
        if p[0] != c'<':
            return fail(fault, p, SUBJECT)
        p = scan_iri(p, end, &self.s, fault)
        if p != NULL and self.s.length > self.longest_name:
            return fail(fault, start, TOO_LARGE)
        if p != NULL:
            self.last_s = start
            self.last_s_length = p - start
        return p

    cdef const uint8_t *scan_p(self, const uint8_t *p, const uint8_t *end, Fault *fault) noexcept nogil:
        """Sets p, its number in the summary, and p_id, to -1 if it is not known in this epoch."""
        cdef Recent *found = self.last_p.next if self.last_p != NULL else NULL
        if found != NULL and end - p > found.length and memcmp(p, found.bytes, found.length) == 0:
            self.take_p(found, p)
            return p + found.length
        if p[0] != c'<':
            return fail(fault, p, PREDICATE)
        p = scan_iri(p, end, &self.p, fault)
        if p == NULL:
            return NULL
        if self.p.length > RECENT_BYTES:
            self.p_id = -1
            self.p_number = self.summary.number(self.p.bytes, self.p.length) if self.summary is not None else 0
            self.last_p = NULL
            return p
        found = self.recent_p()
        if self.last_p != NULL:
            self.last_p.next = found
        self.take_p(found, self.p.bytes)
        return p

    cdef void take_p(self, Recent *found, const uint8_t *p) noexcept nogil:
        """Sets p to one that is remembered, as written here."""
        self.p.kind = IRI
        self.p.bytes = p
        self.p.length = found.length
        self.last_p = found
        self.p_id = found.term_id if found.epoch == self.dictionary.epoch else -1
        self.p_number = found.number

    cdef const uint8_t *scan_o(self, const uint8_t *p, const uint8_t *end, Fault *fault) noexcept nogil:
        """Sets o, and o_id, to -1 if it is not known."""
        cdef const uint8_t *start = p
        cdef Recent *recent = self.last_p
        self.o_id = -1
        if p[0] != c'<':
            if p[0] != c'"' and p[0] != c'_':
                return fail(fault, p, OBJECT)
            return scan_term(p, end, &self.o, fault)
        if recent != NULL and recent.text == self.text and end - p > recent.o_length \
                and memcmp(p, recent.o, recent.o_length) == 0:
            self.o.kind = IRI
            self.o.bytes = p
            self.o.length = recent.o_length
            recent.o = p
            self.o_id = recent.o_id if recent.o_id >= 0 or recent.block == self.block.number else -1
            return p + recent.o_length
        p = scan_iri(p, end, &self.o, fault)
        if p != NULL and recent != NULL and self.o.bytes == start:
            recent.o = start
            recent.o_length = self.o.length
            recent.o_id = -1
            recent.text = self.text
        return p

    cdef Recent *recent_p(self) noexcept nogil:
        """Where p is remembered: its bytes have a place of their own, or take that of others."""
        cdef const uint8_t *bytes = self.p.bytes
        cdef int64_t length = self.p.length
        cdef uint64_t key = 0
        cdef Recent *recent
        memcpy(&key, bytes + (length - 9 if length > 9 else 0), 8 if length > 9 else 3)
        recent = &self.recent[((key + length) * 0x9E3779B97F4A7C15ULL >> 56) & (RECENT - 1)]
        if recent.length != length or memcmp(recent.bytes, bytes, length) != 0:
            memcpy(recent.bytes, bytes, length)
            recent.length = length
            recent.epoch = -1
            recent.number = self.summary.number(bytes, length) if self.summary is not None else 0
        return recent

    cdef int64_t remember_p(self) noexcept nogil:
        """The id of p, left where it is found again."""
        cdef int64_t term_id = self.dictionary.intern(self.p.bytes, self.p.length, IRI)
        if self.last_p != NULL and term_id >= 0:
            self.last_p.term_id = term_id
            self.last_p.epoch = self.dictionary.epoch
        return term_id

    cdef bint stays(self, const uint8_t *bytes) noexcept nogil:
        """Whether bytes of a term stay where they are until its block ends."""
        return self.text_begin <= bytes < self.text_end

    cdef int64_t encode(self, Term *term) noexcept nogil:
        """The id of a term, or a reference; blank nodes get the scope in front of their label. -1 without memory."""
        cdef int64_t term_id
        if term.kind == BLANK and self.scope_length:
            if not reserve(&term.text, self.scope_length + term.length):
                return -1
            memcpy(term.text.data, b"_:", 2)
            memcpy(term.text.data + 2, self.scope, self.scope_length)
            memcpy(term.text.data + 2 + self.scope_length, term.bytes + 2, term.length - 2)
            return self.dictionary.intern(term.text.data, self.scope_length + term.length, BLANK)
        if not self.stays(term.bytes):
            # Its canonical bytes are overwritten by the next term.
            return self.dictionary.intern(term.bytes, term.length, term.kind)
        if term.kind == TYPED:
            term_id = read_inlined(term.bytes, term.length)
            if term_id >= 0:
                return term_id
        return wait_for_id(&self.block, self.dictionary, term.bytes, term.length, term.kind)

    cdef bint end_block(self) noexcept nogil:
        """Puts ids in the place of references; False without memory."""
        cdef TermBlock *block = &self.block
        cdef int64_t row
        if not give_ids(block, self.dictionary):
            return False
        for row in range(block.first_row, self.rows):
            self.columns[0][row] = id_of(block, self.columns[0][row])
            self.columns[2][row] = id_of(block, self.columns[2][row])
            if self.graphs:
                self.columns[3][row] = id_of(block, self.columns[3][row])
        self.s_id = id_of(block, self.s_id)
        begin_block(block, self.rows)
        return True

    cdef bint add_row(self, bint graph) noexcept nogil:
        """False without memory. There is room for the row: scan_lines sees to that."""
        cdef int64_t row = self.rows, g_id = -1
        if self.s_id == -1:
            self.s_id = self.encode(&self.s)
        if self.p_id < 0:
            self.p_id = self.remember_p()
        if self.o_id == -1:
            self.o_id = self.encode(&self.o)
            if self.last_p != NULL and self.last_p.text == self.text and self.last_p.o == self.o.bytes:
                self.last_p.o_id = self.o_id
                self.last_p.block = self.block.number
        if graph:
            g_id = self.encode(&self.g)
        if self.s_id == -1 or self.p_id < 0 or self.o_id == -1 or (graph and g_id == -1):
            return False
        self.columns[0][row] = self.s_id
        self.columns[1][row] = self.p_id
        self.columns[2][row] = self.o_id
        self.columns[4][row] = self.statements
        self.columns[5][row] = self.lines
        self.columns[6][row] = self.sign
        if self.graphs:
            self.columns[3][row] = g_id
        self.rows += 1
        self.kept += 1
        return self.block.count < TERMS or self.end_block()

    cdef int grow(self, int64_t least=0) except -1:
        cdef int64_t room = max(self.room * 2 + 256, least)
        cdef int64_t *column
        for i in range(COLUMNS):
            column = <int64_t *>realloc(self.columns[i], room * sizeof(int64_t))
            if column == NULL:
                raise MemoryError
            self.columns[i] = column
        self.room = room
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
