"""Changes of graphs as callers pass many of them, gathered to be read together.

The texts of all lie in one, each with a line end behind it; for each item there is the last of its lines, counted from 1,
where its text ends, whether it inserts (1) or deletes (-1), its time and the place of its graph. What cannot be joined is
handed back: labels of blank nodes, which are nodes of their item, bytes, and carriage returns, which would be lines to one
and not to the other.
"""

import numpy as np

from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memchr, memcpy

from millstream.errors import OptionError
from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.engine.processing cimport Entrance
from millstream.kernels.scanning.byte_classes cimport Buffer, reserve

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL

cdef enum:
    TOGETHER = 1 << 14          # items
    LAST_LINE = 0
    TEXT_END = 1
    SIGN = 2
    AT_MS = 3
    PLACE = 4
    WORDS = 5


cdef class ChangeItems:
    """Items that wait to be read together: all with a time, or all without."""

    cdef Entrance entrance
    cdef object place_of
    cdef dict places
    cdef Buffer text
    cdef int64_t used
    cdef int64_t* items
    cdef int64_t lines
    cdef readonly int64_t size
    cdef readonly bint timed

    def __cinit__(self, Entrance entrance not None, place_of):
        """`place_of`: the place of a graph that is met for the first time."""
        self.entrance = entrance
        self.place_of = place_of
        self.places = {}
        self.items = <int64_t*>block_resize(NULL, 0, TOGETHER * WORDS * sizeof(int64_t))

    def __dealloc__(self):
        free(self.text.data)
        block_free(self.items, TOGETHER * WORDS * sizeof(int64_t))

    def gather(self, changes):
        """Takes items of an iterator: None after the last; before that, as soon as those here must be made, an item that is
        to be made after them by itself, as text, scope, time, place and sign, or () where these are enough."""
        cdef int64_t sign, place, time_ms
        cdef bint timed
        for op, triples, at_ms, graph in changes:
            sign = 1 if op == "insert" else -1 if op == "delete" else 0
            if not sign:
                raise OptionError(f'a change is an "insert" or a "delete", got {op!r}')
            timed = at_ms is not None
            time_ms = self.entrance.time_of(at_ms) if timed else 0
            known = self.places.get(graph) if graph is None or type(graph) is str else None
            if known is None:
                known = self.places[graph] = self.place_of(graph)
            place = known
            text, scope = self.entrance.text_of(triples)
            if scope or type(text) is not str or (self.size and timed != self.timed) or not self.add(text):
                return text, scope, time_ms if timed else None, place, sign
            self.timed = timed
            self.items[self.size * WORDS + LAST_LINE] = self.lines
            self.items[self.size * WORDS + TEXT_END] = self.used
            self.items[self.size * WORDS + SIGN] = sign
            self.items[self.size * WORDS + AT_MS] = time_ms
            self.items[self.size * WORDS + PLACE] = place
            self.size += 1
            if self.size == TOGETHER:
                return ()
        return None

    cdef bint add(self, str text) except -1:
        """Appends a text; False if it cannot be joined with others."""
        cdef Py_ssize_t size = 0
        cdef const char *bytes
        cdef const char *at
        cdef object spelled
        try:
            bytes = PyUnicode_AsUTF8AndSize(text, &size)
        except UnicodeEncodeError:
            # The scanner says what is wrong with it.
            spelled = text.encode("utf-8", "surrogatepass")
            bytes = spelled
            size = len(spelled)
        if memchr(bytes, c'\r', size) != NULL:
            return False
        if not reserve(&self.text, self.used + size + 1):
            raise MemoryError
        memcpy(self.text.data + self.used, bytes, size)
        self.used += size
        if size and bytes[size - 1] != c'\n':
            self.text.data[self.used] = c'\n'
            self.used += 1
            self.lines += 1
        at = <const char *>memchr(bytes, c'\n', size)
        while at != NULL:
            self.lines += 1
            at = <const char *>memchr(at + 1, c'\n', size - (at + 1 - bytes))
        return True

    def taken(self):
        """The text of all, and a column each of last lines, ends of texts, signs, times and places; none are left."""
        cdef uint8_t[::1] whole
        cdef int64_t[:, ::1] into
        cdef int64_t i
        cdef int word
        text = np.empty(self.used, np.uint8)
        columns = np.empty((WORDS, self.size), np.int64)
        if self.used:
            whole = text
            memcpy(&whole[0], self.text.data, self.used)
        into = columns
        for word in range(WORDS):
            for i in range(self.size):
                into[word, i] = self.items[i * WORDS + word]
        self.size = self.used = self.lines = 0
        return text, *columns
