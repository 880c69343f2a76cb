"""The monitor of an engine: a reentrant lock that only threads pay for which meet.

Its fields are read and written under the interpreter's lock, which is given up at the gate and nowhere else. Whoever finds
nobody in or waiting is in. Whoever finds somebody waits at the gate, which the first of them closes for the one that is in.
"""

from _thread import allocate_lock

import cython

from cpython.pythread cimport PyThread_get_thread_ident


@cython.final
cdef class Monitor:
    """One thread at a time is in, as often as it likes."""

    def __cinit__(self):
        self.gate = allocate_lock()

    def refuse(self, refusal):
        """From now on nobody gets in: each is told what `refusal` makes, an exception. Who is in leaves as ever."""
        self.refusal = refusal

    cdef int enter(self) except -1:
        cdef long thread = PyThread_get_thread_ident()
        if self.refusal is not None:
            raise self.refusal()
        if self.depth == 0 and self.waiting == 0:
            self.owner = thread
            self.depth = 1
        elif self.depth and self.owner == thread:
            self.depth += 1
        else:
            self.wait(thread)
        return 0

    cdef int wait(self, long thread) except -1:
        if self.depth and not self.is_closed:
            self.gate.acquire()
            self.is_closed = True
        self.waiting += 1
        try:
            self.gate.acquire()
        finally:
            self.waiting -= 1
        self.is_closed = True
        self.owner = thread
        self.depth = 1
        if self.refusal is not None:
            self.leave()
            raise self.refusal()
        return 0

    cdef int leave(self) except -1:
        if self.depth == 0 or self.owner != PyThread_get_thread_ident():
            raise RuntimeError("only the thread that is in can leave")
        self.depth -= 1
        if self.depth == 0 and self.is_closed:
            self.is_closed = False
            self.gate.release()
        return 0

    def acquire(self):
        """Waits until no other thread is in, and enters."""
        self.enter()

    def release(self):
        """Leaves."""
        self.leave()

    def __enter__(self):
        self.enter()

    def __exit__(self, *_):
        self.leave()
