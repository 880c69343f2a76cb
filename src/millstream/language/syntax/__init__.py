"""Parse to syntax tree."""
