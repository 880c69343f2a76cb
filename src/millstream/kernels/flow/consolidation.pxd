"""Deltas put together, for kernels (layout in consolidation.pyx)."""

from millstream.kernels.flow.deltas cimport Deltas


cdef Deltas consolidated_rows(Deltas given)
cdef Deltas merged_rows(Deltas left, Deltas right)
