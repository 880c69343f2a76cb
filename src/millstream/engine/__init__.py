"""The engine in one process: streams, datasets and registered queries."""

from millstream.engine.answers import Answer
from millstream.engine.engine import Engine
from millstream.engine.query import ContinuousQuery

__all__ = ["Answer", "ContinuousQuery", "Engine"]
