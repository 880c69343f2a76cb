"""Operators one after the other: what the leaves hold goes through all of them, each after its inputs."""

from libc.stdint cimport int64_t

from millstream.kernels.deltas cimport Deltas, Operator


cdef class Flow:
    """Buffers that are written anew at every step, and the operators that write them, in order."""

    cdef list outs
    cdef list operators
    cdef object bound

    def __init__(self, outs, operators, bound):
        """`bound.check` is told of more rows than `bound.most`."""
        self.outs = list(outs)
        self.operators = list(operators)
        self.bound = bound
        for out in self.outs:
            if not isinstance(out, Deltas):
                raise TypeError(f"expected Deltas, got {out!r}")
        for operator in self.operators:
            if not isinstance(operator, Operator):
                raise TypeError(f"expected an Operator, got {operator!r}")

    def clear(self):
        """Empties all buffers."""
        for out in self.outs:
            (<Deltas>out).clear()

    def run(self):
        """Applies the operators that have rows among their inputs."""
        cdef Operator operator
        cdef int64_t most = self.bound.most
        for step in self.operators:
            operator = <Operator>step
            for given in operator.inputs:
                if (<Deltas>given).rows.size:
                    operator.apply()
                    if operator.out.rows.size > most:
                        self.bound.check(operator.out.rows.size)
                    break
