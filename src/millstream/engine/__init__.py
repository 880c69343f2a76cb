"""The engine in one process: streams, datasets and registered queries."""

from millstream.engine.engine import Engine
from millstream.engine.output.answers import Answer
from millstream.engine.queries.query import ContinuousQuery

__all__ = ["Answer", "ContinuousQuery", "Engine"]
