"""Messages whose texts are lines of statements to columns of ids: many at a time, each a document by itself.

Lines are counted in each message from 1, and labels of blank nodes mean nodes of that message only: so which messages come
together changes nothing.
"""

import numpy as np

cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_Check, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint8_t

from millstream.kernels.scanning.byte_classes cimport has_label
from millstream.kernels.scanning.scanner cimport Scanner

cnp.import_array()


cdef class MessageTexts:
    """Texts in one buffer, as Arrow has a binary column: a sequence of bytes, and of None where there is none."""

    cdef const uint8_t[::1] data
    cdef const int64_t[::1] offsets
    cdef const uint8_t[::1] valid

    def __init__(self, const uint8_t[::1] data not None, const int64_t[::1] offsets not None,
                 const uint8_t[::1] valid not None):
        """`offsets` of texts in `data`, one more than there are; `valid`: 1 for each that is there."""
        cdef int64_t i
        if offsets.shape[0] != valid.shape[0] + 1 or offsets[0] < 0 or offsets[valid.shape[0]] > data.shape[0]:
            raise ValueError("offsets of texts do not fit their buffer")
        for i in range(valid.shape[0]):
            if offsets[i + 1] < offsets[i]:
                raise ValueError("offsets of texts go back")
        self.data, self.offsets, self.valid = data, offsets, valid

    def __len__(self):
        return self.valid.shape[0]

    def __getitem__(self, int64_t place):
        if not 0 <= place < self.valid.shape[0]:
            raise IndexError(place)
        if not self.valid[place]:
            return None
        return bytes(self.data[self.offsets[place] : self.offsets[place + 1]])


cdef class MessageScanner(Scanner):
    """Reads messages; it can read as many batches of them as there are."""

    def messages(self, values not None, scope_of not None, bint whole):
        """The statements of messages: MessageTexts, or a list in which each is bytes, or None if it has no text.

        Gives them; for each message how many statements it has, those left out included; and errors, each as the scanner has
        it, behind the place of its message. `whole`: a message with an error has no statements.
        `scope_of` is asked for the scope of a message's blank nodes by its place.
        """
        cdef MessageTexts texts = values if isinstance(values, MessageTexts) else None
        cdef list some = None if texts is not None else list(values)
        cdef cnp.npy_intp count = len(values) if texts is not None else len(some)
        cdef cnp.ndarray sizes = cnp.PyArray_ZEROS(1, &count, cnp.NPY_INT64, 0)
        cdef int64_t *size = <int64_t *>cnp.PyArray_DATA(sizes)
        cdef int64_t i, n, rows, statements
        cdef const uint8_t *p
        if self.busy or self.carried:
            raise RuntimeError("a scanner was fed while it was reading")
        self.busy = True
        try:
            errors = []
            found = []
            self.rows = 0
            for i in range(count):
                if texts is not None:
                    n = texts.offsets[i + 1] - texts.offsets[i] if texts.valid[i] else 0
                    if not n:
                        continue
                    p = &texts.data[texts.offsets[i]]
                else:
                    value = some[i]
                    if value is None:
                        continue
                    if not PyBytes_Check(value):
                        raise TypeError(f"a message is bytes, got {type(value).__name__}")
                    p = <const uint8_t *>PyBytes_AS_STRING(value)
                    n = PyBytes_GET_SIZE(value)
                if n >= 3 and p[0] == 0xEF and p[1] == 0xBB and p[2] == 0xBF:
                    p += 3
                    n -= 3
                if not n:
                    continue
                if has_label(p, n):
                    self.enter_scope(scope_of(i))
                rows, statements = self.rows, self.statements
                self.lines = 0
                self.read_text(p, n, errors)
                if errors:
                    found += [(i, *error) for error in errors]
                    errors.clear()
                    if whole:
                        self.rows, self.statements = rows, statements
                size[i] = self.statements - statements
            return self.take_columns([]), sizes, found
        finally:
            self.busy = False
