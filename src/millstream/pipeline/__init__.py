"""Spark: RDF files as a source of rows, and continuous queries over streams of them."""

from millstream.pipeline.session import register, session

__all__ = ["register", "session"]
