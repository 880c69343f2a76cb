"""Spark: RDF files as a source of rows, and continuous queries over streams of them."""

from typing import TYPE_CHECKING

from millstream.lazy import exported as _exported

if TYPE_CHECKING:
    from millstream.pipeline.continuous import continuous, files
    from millstream.pipeline.same_job import check_checkpoint
    from millstream.pipeline.session import register, session
    from millstream.pipeline.tables import merge_into

__getattr__ = _exported(
    __name__,
    {
        "check_checkpoint": "millstream.pipeline.same_job",
        "continuous": "millstream.pipeline.continuous",
        "files": "millstream.pipeline.continuous",
        "merge_into": "millstream.pipeline.tables",
        "register": "millstream.pipeline.session",
        "session": "millstream.pipeline.session",
    },
)

__all__ = ["check_checkpoint", "continuous", "files", "merge_into", "register", "session"]
