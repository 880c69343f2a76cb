"""Canonical N-Triples text back to terms, for other kernels."""

cpdef object term_of(str text)
