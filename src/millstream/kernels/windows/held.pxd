"""Window operators that hold what they show, in C."""

from libc.stdint cimport int64_t

from millstream.kernels.containers.keyed cimport Keyed
from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.matching.elements cimport Elements
from millstream.kernels.matching.patterns cimport Patterns
from millstream.kernels.windows.window cimport Entries, WindowOperator


cdef class CountingWindow(WindowOperator):
    """What it shows ends when so many triples or elements have followed."""

    cdef int64_t count
    cdef readonly bint of_triples
    cdef Keyed latest                   # of each row the place of its last entry in the queue
    cdef int64_t* queue                 # number, pattern, s, p, o, whether a later one stands for it
    cdef int64_t first
    cdef int64_t last
    cdef int64_t capacity
    cdef int64_t offset                 # places count from here: they stay the same when the queue moves
    cdef int64_t followed

    cdef int enter(self, int64_t number, const int64_t* row, int64_t at_tick) except -1
    cdef void append(self, int64_t number, const int64_t* row) noexcept nogil
    cdef void compact(self) noexcept nogil


cdef class TogetherWindow(WindowOperator):
    """What it shows leaves together."""

    cdef Keyed rows

    cdef int enter(self, const int64_t* row) except -1
    cdef int64_t show(self, Elements batch, int64_t element, int64_t i, Entries* out) except -1
    cdef int leave(self, int64_t at_tick, int64_t order, Entries* out) except -1


cdef class LastElementWindow(TogetherWindow):
    """Emptied before the next element."""


cdef class SilentWindow(TogetherWindow):
    """Emptied when nothing has come for a while."""

    cdef int64_t gap_ms
    cdef int64_t end
    cdef bint has_triples
    cdef int64_t latest_end

    cdef int64_t end_after(self, int64_t at_ms) noexcept nogil
    cdef void look_ahead(self) noexcept nogil
