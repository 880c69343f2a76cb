"""Window operators in C: from elements of a stream to entries, which are changes of what windows and graphs show."""

from libc.stdint cimport int32_t, int64_t

from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.matching.elements cimport Elements
from millstream.kernels.matching.patterns cimport Patterns

cdef enum:
    EXPIRY = 0
    ELEMENT = 1
    GRID = 2


cdef inline int64_t tick_of(int64_t at_ms, int phase) noexcept nogil:
    """Times beyond the last that can be told never come."""
    return <int64_t>1 << 62 if at_ms >= <int64_t>1 << 60 else 4 * at_ms + phase


cdef struct Moment:
    int64_t after               # milliseconds later
    int64_t grid                # on from there to the first instant of a grid of such a length; 0: without one
    int64_t then                # and so much later
    bint never


cdef struct Entry:
    int64_t now                 # the tick at which the row enters (op 1) or leaves (-1)
    int64_t order               # within that tick: an element has 2k + 1, what leaves just before it 2k
    int64_t until
    int64_t s
    int64_t p
    int64_t o
    int32_t pattern
    int32_t op
    int32_t source              # which input of the query it comes from


cdef struct Entries:
    Entry* data
    int64_t first               # those before are gone
    int64_t size
    int64_t capacity


cdef inline Entry* entries_add(Entries* entries) noexcept nogil:
    """A new entry at the end, to be written."""
    cdef int64_t capacity
    if entries.size == entries.capacity:
        capacity = max(16, 2 * entries.capacity)
        entries.data = <Entry*>block_resize(entries.data, entries.capacity * sizeof(Entry), capacity * sizeof(Entry))
        entries.capacity = capacity
    entries.size += 1
    return entries.data + entries.size - 1


cdef inline void entries_put(Entries* entries, int64_t now, int64_t order, int64_t until, const int64_t* row, int op,
                             int source) noexcept nogil:
    """A new entry; the row is pattern, s, p, o."""
    cdef Entry* entry = entries_add(entries)
    entry.now = now
    entry.order = order
    entry.until = until
    entry.pattern = <int32_t>row[0]
    entry.s = row[1]
    entry.p = row[2]
    entry.o = row[3]
    entry.op = <int32_t>op
    entry.source = <int32_t>source


cdef inline void entries_close(Entries* entries) noexcept nogil:
    block_free(entries.data, entries.capacity * sizeof(Entry))
    entries.data = NULL
    entries.capacity = 0


cdef class WindowOperator:
    """One window of one query."""

    cdef readonly bint acts             # its content may change without an element, other than by ends that are known
    cdef readonly bint sees_all         # it must be shown every element, matched or not
    cdef public int source              # its place among the inputs of its query
    cdef int64_t due                    # the next tick at which something enters or leaves by itself; FOREVER without one
    cdef readonly Patterns patterns
    cdef readonly Dictionary dictionary

    cdef int arrive(self, Elements batch, Entries* out) except -1
    cdef int pass_time(self, int64_t before, Entries* out) except -1
    cdef int touch(self, const int64_t* row, int64_t until) except -1
    cdef int hold(self, const int64_t* row) except -1
    cdef int release(self, const int64_t* row, int64_t at_tick) except -1


cdef class TimedWindow(WindowOperator):
    """The end is known on arrival."""

    cdef Moment begins
    cdef Moment ends
    cdef readonly int64_t t0_ms
    cdef int64_t latest_end
    cdef Entries waiting                # of a window with a grid, for the instants at which they are first seen
    cdef int64_t known_ms               # the last time asked for, and its ticks
    cdef int64_t known_start
    cdef int64_t known_end

    cdef void span(self, int64_t at_ms) noexcept nogil
    cdef void look_ahead(self) noexcept nogil
