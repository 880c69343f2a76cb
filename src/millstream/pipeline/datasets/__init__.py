"""Graphs of a job: loaded, sent to workers, evaluated before streams begin."""
