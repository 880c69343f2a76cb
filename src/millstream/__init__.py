"""Continuous SPARQL queries over streams of knowledge graphs."""
