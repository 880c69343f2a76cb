"""Operators that take a delta and give a delta."""
