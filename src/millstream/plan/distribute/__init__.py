"""Partitioning: plans cut into cells and stages."""
