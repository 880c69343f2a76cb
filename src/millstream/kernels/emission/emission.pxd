"""What is emitted, in C: when what is reported."""

from libc.stdint cimport int64_t

from millstream.kernels.emission.answer_set cimport AnswerSet
from millstream.kernels.emission.pending cimport PendingRows, Receiver
from millstream.kernels.flow.deltas cimport Deltas


cdef class Reporter:
    """The end of one query."""

    cdef public object emit
    cdef public Receiver receiver   # who is handed rows instead, if that is all there is to do
    cdef public AnswerSet answers   # up to date from the first time that somebody asks

    cdef int take(self, Deltas deltas, int64_t upto) except -1
    cdef int give(self, Deltas rows) except -1


cdef class Closing(Reporter):
    """What is emitted when windows close."""

    cdef public PendingRows waiting
    cdef public int64_t closes_at  # the tick of the next instant; less than any tick before the first element
    cdef public int64_t most_waiting    # rows more than these are summed up
