"""Leaves of the dataflow: joins, filters, products, the time merge."""
