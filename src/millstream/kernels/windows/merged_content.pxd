"""The set union of windows and graphs, in C."""

from libc.stdint cimport int32_t, int64_t

from millstream.kernels.containers.agenda cimport Agenda
from millstream.kernels.containers.keyed cimport Keyed
from millstream.kernels.windows.window cimport Entry


cdef class MergedContent:
    """Until when each part has each row."""

    cdef readonly int parts
    cdef Keyed rows
    cdef Agenda agenda

    cdef int64_t* ends(self, int32_t number) noexcept nogil
    cdef int64_t end(self, int32_t number, int64_t now) noexcept nogil
    cdef int32_t find(self, const int64_t* key, bint make) noexcept nogil
    cdef void extend(self, int32_t number, int part, int64_t until) noexcept nogil
    cdef void drop(self, int32_t number) noexcept nogil
    cdef void sweep(self, int64_t now) noexcept nogil
    cdef int take(self, int part, const Entry* given, Entry* changes) except -1
