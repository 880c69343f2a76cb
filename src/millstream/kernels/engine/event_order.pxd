"""The order of event time, in C."""

from libc.stdint cimport int64_t


cdef class EventOrder:
    """Which times are taken."""

    cdef readonly int64_t lateness_ms
    cdef readonly object max_jump_ms
    cdef readonly int64_t low_ms        # the earliest time that is not late
    cdef readonly int64_t high_ms       # the latest that is plausible
    cdef bint has_seen
    cdef int64_t largest
    cdef public list held               # what waits for its time, a heap

    cpdef int see(self, int64_t at_ms) except -1
    cdef int reach(self, int64_t low_ms, int64_t last_ms) except -1
    cpdef bint passes(self, int64_t at_ms) except -1
