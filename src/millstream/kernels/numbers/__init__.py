"""Exact numbers: decimals, doubles, their ids."""
