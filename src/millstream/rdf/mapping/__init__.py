"""Rows of CSV and JSON lines as stream elements."""
