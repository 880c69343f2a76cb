"""What scanners of texts have in common, in C."""

from libc.stdint cimport int64_t, uint8_t

from millstream.kernels.matching.intake cimport Intake
from millstream.kernels.scanning.byte_classes cimport Buffer
from millstream.kernels.scanning.grammar cimport Fault
from millstream.kernels.scanning.statement_scanner cimport StatementScanner


cdef class Scanner(StatementScanner):
    cdef readonly int64_t carried, comments
    cdef readonly list errors
    cdef list spare_errors
    cdef Buffer carry
    cdef bint after_return, busy

    cpdef Intake whole(self, text, str scope=*)
    cdef Intake whole_bytes(self, const uint8_t *p, int64_t size, str scope)
    cdef int keep(self, const uint8_t *p, int64_t n) except -1
    cdef object take_columns(self, list errors)
    cdef int read_text(self, const uint8_t *p, int64_t n, list errors) except -1
    cdef int read_lines(self, const uint8_t *p, const uint8_t *end, list errors) except -1
    cdef int scan_lines(self, const uint8_t *p, const uint8_t *end, list errors) except -1
    cdef tuple explain(self, const uint8_t *start, const uint8_t *stop, Fault *fault)
