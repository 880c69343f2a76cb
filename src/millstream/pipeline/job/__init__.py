"""Continuous queries as streaming jobs."""
