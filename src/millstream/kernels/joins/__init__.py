"""The interval join, a delta query kept incrementally."""
