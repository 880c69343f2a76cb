"""Readers of chunks, by format, element and time."""
