"""Compiled loops over arrays. They know ids, times and bytes, and nothing of queries; callers validate, kernels loop."""
