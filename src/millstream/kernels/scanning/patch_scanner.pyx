"""RDF Patch bytes to columns of ids: lines `A s p o [g] .` and `D s p o [g] .` whose terms are those of N-Quads.

All other lines are handed back as they are, each with its number and how many statements came before it: who knows prefixes,
transactions and other spellings goes on with them. Only line feeds end lines here.
"""

cimport numpy as cnp
from libc.stdint cimport uint8_t

from millstream.kernels.containers.arrays cimport array_of
from millstream.kernels.scanning.grammar cimport NO_MEMORY, Fault, is_line_end, skip_blanks
from millstream.kernels.scanning.message_scanner cimport MessageScanner

cnp.import_array()


cdef class PatchScanner(MessageScanner):
    """Reads one patch, cut anywhere, or messages that are patches."""

    def __cinit__(self, *args, **kwargs):
        self.signed = True

    @property
    def signs(self):
        """For each row of the last call 1 if it is added, -1 if it is deleted."""
        return array_of(self.columns[6], self.rows)

    cdef int scan_lines(self, const uint8_t *p, const uint8_t *end, list errors) except -1:
        cdef const uint8_t *start
        cdef const uint8_t *stop
        cdef Fault fault
        while p < end:
            if self.rows == self.room:
                self.grow()
            self.lines += 1
            start = p
            p = skip_blanks(p)
            stop = p
            if p[0] != c'#' and not is_line_end(p):
                stop = NULL
                if (p[0] == c'A' or p[0] == c'D') and (p[1] == c' ' or p[1] == c'\t'):
                    self.sign = 1 if p[0] == c'A' else -1
                    stop = self.scan_statement(skip_blanks(p + 1), end, &fault)
                    if stop == NULL:
                        self.last_s = NULL
                        if fault.reason == NO_MEMORY:
                            raise MemoryError
                if stop == NULL:
                    stop = p
                    while stop[0] != c'\n':
                        stop += 1
                    errors.append((self.lines, self.statements, (<const char *>start)[:stop - start]))
            while stop[0] != c'\n':
                stop += 1
            p = stop + 1
        return 0
