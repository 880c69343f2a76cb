"""Event time as it comes in: which times are late, which implausible, and what need not wait for its turn.

The watermark is the largest time seen, less the lateness: what comes with a time before it is late.
"""

from libc.stdint cimport int64_t

cdef int64_t FOREVER = <int64_t>1 << 62


cdef class EventOrder:
    """The times that are taken now."""

    def __cinit__(self, int64_t lateness_ms, max_jump_ms=None):
        self.lateness_ms = lateness_ms
        self.max_jump_ms = max_jump_ms
        self.low_ms, self.high_ms = -FOREVER, FOREVER
        self.held = []

    @property
    def largest_ms(self):
        """The largest time seen."""
        return self.largest if self.has_seen else None

    def takes(self, at_ms):
        """Whether what comes with a time, however far away, is neither late nor implausible."""
        return self.low_ms <= at_ms <= self.high_ms

    def takes_all(self, const int64_t[:] at_ms):
        """Whether there are times, and all that comes with them, one after the other, is taken and in order."""
        cdef int64_t jump_ms = FOREVER if self.max_jump_ms is None else self.max_jump_ms
        cdef Py_ssize_t i
        if at_ms.shape[0] == 0 or not self.low_ms <= at_ms[0] <= self.high_ms:
            return False
        for i in range(1, at_ms.shape[0]):
            if not 0 <= at_ms[i] - at_ms[i - 1] <= jump_ms:
                return False
        return True

    cpdef int see(self, int64_t at_ms) except -1:
        """A time that is taken has come."""
        if not self.has_seen or at_ms > self.largest:
            self.has_seen = True
            self.largest = at_ms
            self.reach(at_ms - self.lateness_ms, at_ms)
        return 0

    def begin(self, int64_t at_ms):
        """Time is there, though nothing has come with one: what is earlier is late, and the first may be anywhere ahead."""
        self.low_ms = max(self.low_ms, at_ms)

    cdef int reach(self, int64_t low_ms, int64_t last_ms) except -1:
        cdef int64_t high_ms
        if low_ms > self.low_ms:
            self.low_ms = low_ms
        if self.max_jump_ms is not None:
            high_ms = last_ms + <int64_t>self.max_jump_ms
            self.high_ms = high_ms if self.high_ms == FOREVER else max(self.high_ms, high_ms)
        return 0

    def reached(self, int64_t low_ms, int64_t last_ms):
        """What is before one time is late, and another is the last that is known."""
        self.reach(low_ms, last_ms)

    cpdef bint passes(self, int64_t at_ms) except -1:
        """Whether what comes with a time is taken and has not to wait for anything; then it has come."""
        if self.held or self.lateness_ms or not self.low_ms <= at_ms <= self.high_ms:
            return False
        self.see(at_ms)
        return True

    @property
    def passes_through(self):
        """Whether what comes next need not wait for anything."""
        return not self.lateness_ms and not self.held
