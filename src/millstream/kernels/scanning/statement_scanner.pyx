"""One statement at a time, from bytes to a row of ids: what scanners of texts, messages and tables extend.

Columns, one row a kept statement: s, p, o, g (-1: the default graph), index (the statement's place among all valid ones,
from 0), line (from 1) and sign, which only a `PatchScanner` sets. They lie in growing arrays here and are copied once,
when a call returns.

Repeats are cheap: an IRI equal to the last subject is not looked at again, and p is found in a small table of recent ones.
Each of these knows which came after it last, and the object it had last: if the text goes on with the same bytes, they
need not be read. Ids are remembered for one epoch of the dictionary. All other terms get theirs a block at a time (see
`term_block`).
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memcpy, memset

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.values cimport BLANK, IRI, TYPED, read_inlined
from millstream.kernels.scanning.byte_classes cimport CLASS, LABEL, reserve
from millstream.kernels.scanning.grammar cimport (
    GRAPH, NO_DOT, NO_MEMORY, OBJECT, PREDICATE, SUBJECT, TOO_LARGE, TRAILING, Fault, Term, fail, free_term, is_line_end,
    scan_blank, scan_iri, scan_term, skip_blanks,
)
from millstream.kernels.scanning.summary cimport Summary
from millstream.kernels.scanning.term_block cimport TERMS, TermBlock, begin_block, give_ids, id_of, wait_for_id

cdef enum:
    LONGEST_NAME = 8 << 20  # an IRI or label: the other parser holds no longer ones, and formats must not differ


cdef class StatementScanner:
    """Statements to rows; who extends it says where they stand."""

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
