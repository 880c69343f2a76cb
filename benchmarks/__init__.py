"""Measurements beside peers and prototypes, in one run, so that only ratios count: `millstream bench`."""
