"""Spark: RDF files as a source of rows, and continuous queries over streams of them."""

from typing import TYPE_CHECKING

from millstream.lazy import exported as _exported

if TYPE_CHECKING:
    from millstream.pipeline.continuous import continuous, files
    from millstream.pipeline.session import register, session

__getattr__ = _exported(
    __name__,
    {
        "continuous": "millstream.pipeline.continuous",
        "files": "millstream.pipeline.continuous",
        "register": "millstream.pipeline.session",
        "session": "millstream.pipeline.session",
    },
)

__all__ = ["continuous", "files", "register", "session"]
