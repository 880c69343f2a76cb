"""Leaves of a dataflow: conjunctions, named graphs, rows from elsewhere."""
