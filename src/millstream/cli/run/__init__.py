"""`millstream run`."""
