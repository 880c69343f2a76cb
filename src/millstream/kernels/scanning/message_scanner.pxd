"""What scanners of messages have in common, in C."""

from millstream.kernels.scanning.scanner cimport Scanner


cdef class MessageScanner(Scanner):
    """Reads messages."""
