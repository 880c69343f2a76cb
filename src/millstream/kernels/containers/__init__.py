"""Data structures: blocks, hash indexes, trees, queues."""
