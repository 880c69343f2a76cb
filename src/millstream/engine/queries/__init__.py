"""Registered queries: their runs, what they share, streams they derive."""
