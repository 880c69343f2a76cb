"""One statement at a time, in C."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.scanning.grammar cimport Fault, Term
from millstream.kernels.scanning.summary cimport Summary
from millstream.kernels.scanning.term_block cimport TermBlock

cdef enum:
    COLUMNS = 7
    RECENT = 256          # places for recent p
    RECENT_BYTES = 256    # longer p are not remembered

cdef struct Recent:
    uint8_t bytes[RECENT_BYTES]
    int64_t length
    int64_t term_id      # of the epoch, or -1
    int64_t epoch
    uint32_t number      # in the summary
    Recent *next         # the one after it, when it came last; NULL: none
    int64_t text         # the number of the text in which it last had an IRI as object
    const uint8_t *o     # that IRI as written there
    int64_t o_length
    int64_t o_id         # or -1, or a reference of a block; no epoch ends within a text
    int64_t block


cdef class StatementScanner:
    cdef readonly Dictionary dictionary
    cdef readonly bint graphs
    cdef readonly int64_t lines, statements, kept
    cdef readonly int64_t literal_bytes
    cdef Summary summary
    cdef object scope_bytes, scope_text
    cdef const uint8_t *scope
    cdef int64_t scope_length, longest_name
    cdef Term s, p, o, g
    cdef const uint8_t *last_s        # as written in the text being read, or NULL
    cdef int64_t last_s_length, s_id, p_id, o_id    # -1: not known; s_id and o_id may be references
    cdef int64_t text                 # the number of the text being read
    cdef const uint8_t *text_begin
    cdef const uint8_t *text_end
    cdef TermBlock block
    cdef uint32_t p_number            # in the summary
    cdef Recent *recent
    cdef Recent *last_p               # of the statement before, or NULL
    cdef int64_t *columns[COLUMNS]
    cdef int64_t rows, room
    cdef bint signed                  # each line says whether its statement comes or goes, and only a line feed ends one
    cdef int64_t sign

    cdef int enter_scope(self, str scope) except -1
    cdef const uint8_t *scan_statement(self, const uint8_t *p, const uint8_t *end, Fault *fault) noexcept nogil
    cdef bint keep_statement(self, bint graph, const uint8_t *p, Fault *fault) noexcept nogil
    cdef bint has_large_term(self) noexcept nogil
    cdef const uint8_t *scan_s(self, const uint8_t *p, const uint8_t *end, Fault *fault) noexcept nogil
    cdef const uint8_t *scan_p(self, const uint8_t *p, const uint8_t *end, Fault *fault) noexcept nogil
    cdef void take_p(self, Recent *found, const uint8_t *p) noexcept nogil
    cdef const uint8_t *scan_o(self, const uint8_t *p, const uint8_t *end, Fault *fault) noexcept nogil
    cdef Recent *recent_p(self) noexcept nogil
    cdef int64_t remember_p(self) noexcept nogil
    cdef bint stays(self, const uint8_t *bytes) noexcept nogil
    cdef int64_t encode(self, Term *term) noexcept nogil
    cdef bint end_block(self) noexcept nogil
    cdef bint add_row(self, bint graph) noexcept nogil
    cdef int grow(self, int64_t least=*) except -1
