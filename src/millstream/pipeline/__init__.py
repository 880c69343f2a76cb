"""Spark: RDF files as a source of rows, and continuous queries over streams of them."""

from millstream.pipeline.continuous import continuous, files
from millstream.pipeline.session import register, session

__all__ = ["continuous", "files", "register", "session"]
