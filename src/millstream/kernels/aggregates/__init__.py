"""Groups and their accumulators."""
