"""Algebra to plan: each operator of section 18 as nodes."""
