"""Continuous SPARQL queries over streams of knowledge graphs.

>>> import millstream as ms
>>> engine = ms.Engine()
>>> query = engine.register("SELECT ?who WHERE { STREAM <http://e/s> [RANGE 10s] { ?who <http://e/at> <http://e/door> } }")
>>> engine.push("http://e/s", "<http://e/ann> <http://e/at> <http://e/door> .", at_ms=1000)
>>> [answer.bindings["who"].value for answer in query.take()]
['http://e/ann']
"""

import typing as _typing

from millstream.errors import (
    ChangeLimitError,
    ConnectError,
    DataError,
    JavaMissingError,
    LateElementError,
    MillstreamError,
    OptionError,
    PendingLimitError,
    QueryError,
    QuerySyntaxError,
    SnapshotError,
    StorageError,
    UnsupportedQueryError,
)
from millstream.lazy import exported as _exported
from millstream.limits import Limits

if _typing.TYPE_CHECKING:
    from millstream.connect.kafka import kafka
    from millstream.connect.mqtt import mqtt
    from millstream.connect.sse import sse
    from millstream.engine import Answer, ContinuousQuery, Engine
    from millstream.ingest import Chunk, Source, Want, files
    from millstream.output import Sink, file_sink
    from millstream.rdf import Rejected, StreamElement

__getattr__ = _exported(
    __name__,
    {
        "Answer": "millstream.engine",
        "Chunk": "millstream.ingest",
        "ContinuousQuery": "millstream.engine",
        "Engine": "millstream.engine",
        "Rejected": "millstream.rdf",
        "Sink": "millstream.output",
        "Source": "millstream.ingest",
        "StreamElement": "millstream.rdf",
        "Want": "millstream.ingest",
        "file_sink": "millstream.output",
        "files": "millstream.ingest",
        "kafka": "millstream.connect.kafka",
        "mqtt": "millstream.connect.mqtt",
        "sse": "millstream.connect.sse",
    },
)

__version__ = "0.1.0.dev0"

__all__ = [
    "Answer",
    "ChangeLimitError",
    "Chunk",
    "ConnectError",
    "ContinuousQuery",
    "DataError",
    "Engine",
    "JavaMissingError",
    "LateElementError",
    "Limits",
    "MillstreamError",
    "OptionError",
    "PendingLimitError",
    "QueryError",
    "QuerySyntaxError",
    "Rejected",
    "Sink",
    "SnapshotError",
    "Source",
    "StorageError",
    "StreamElement",
    "UnsupportedQueryError",
    "Want",
    "__version__",
    "file_sink",
    "files",
    "kafka",
    "mqtt",
    "sse",
]
