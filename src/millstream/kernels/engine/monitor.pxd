"""The lock of an engine, for kernels that take it."""

from libc.stdint cimport int64_t


cdef class Monitor:
    """A reentrant lock."""

    cdef long owner                     # the thread that is in
    cdef int64_t depth                  # how often it entered; 0 while nobody is in
    cdef int64_t waiting                # threads at the gate
    cdef bint is_closed                 # the one that is in opens the gate when it leaves
    cdef object gate
    cdef object refusal

    cdef int enter(self) except -1
    cdef int wait(self, long thread) except -1
    cdef int leave(self) except -1
