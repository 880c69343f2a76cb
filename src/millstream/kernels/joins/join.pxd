"""The interval join, for kernels that feed it and read its matches where they are."""

from libc.stdint cimport int32_t, int64_t

from millstream.kernels.joins.matcher cimport Matcher
from millstream.kernels.joins.store cimport Store


cdef class IntervalJoin:
    """Matches of a connected pattern, from changes of its views."""

    cdef Store store
    cdef Matcher matcher

    cdef compare_ids(self, int kind, int x, int y)
    cdef compare_values(self, int outcomes, int x, int y, int64_t offset)
    cdef show(self, visible)
    cdef void free_large(self, int32_t number) noexcept nogil
    cdef int check(self, int64_t n, const int64_t* view, const int64_t* a, const int64_t* b, const int64_t* now,
                   const int64_t* until) except -1
    cdef void run(self, int64_t n, const int64_t* view, const int64_t* a, const int64_t* b, const int64_t* now,
                  const int64_t* until, const int64_t* op, const int64_t* change) noexcept nogil
