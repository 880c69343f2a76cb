"""`millstream demo`."""
