"""Operators over multisets: joins, negation, equality."""
