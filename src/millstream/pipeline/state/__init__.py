"""Stateful operators: cells, their clock, change log and retention."""
