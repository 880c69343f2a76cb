"""Rows that are emitted: selected, waiting, decoded."""
