"""Rows that wait until they are taken, in C."""

from libc.stdint cimport int64_t

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.flow.change_rows cimport ChangeRows
from millstream.kernels.flow.deltas cimport Deltas


cdef class PendingRows(Deltas):
    """Rows that wait for somebody, in order."""

    cdef int64_t held           # the terms of so many rows are held
    cdef ChangeRows group       # while rows are summed up

    cpdef int add(self, Deltas rows) except -1
    cdef int release(self, Dictionary dictionary, int64_t count) except -1


cdef class Pending:
    """Counts what queries keep until it is taken."""

    cdef public int64_t limit
    cdef readonly int64_t waiting
    cdef int64_t brought        # by the call at hand
    cdef int64_t largest        # that any call has brought
    cdef bint refuses

    cpdef int keep(self, int64_t count) except -1
    cpdef bint may_overflow(self) noexcept
    cpdef bint may_exceed(self, int64_t more) noexcept


cdef class Receiver:
    """Who is handed what one query emits."""

    cdef readonly PendingRows untaken
    cdef Pending pending
    cdef public int64_t emitted
    cdef public bint is_plain   # nobody is called back, and nothing is checked: rows are kept

    cdef int receive(self, Deltas rows) except -1
