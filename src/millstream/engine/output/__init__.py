"""Relation-to-stream (R2S): what is emitted, when, and how it is read."""
