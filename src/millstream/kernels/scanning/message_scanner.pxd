"""What scanners of messages have in common, in C."""

from libc.stdint cimport int64_t, uint8_t

from millstream.kernels.scanning.scanner cimport Scanner


cdef class MessageScanner(Scanner):
    cdef int scan_text(self, const uint8_t *p, int64_t n, list errors) except -1
