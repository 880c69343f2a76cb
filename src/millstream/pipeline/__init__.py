"""Spark: RDF files as a source of rows, and continuous queries over streams of them."""

from typing import TYPE_CHECKING

from millstream.lazy import exported as _exported

if TYPE_CHECKING:
    from millstream.pipeline.job.continuous import continuous
    from millstream.pipeline.job.inputs import files, kafka, messages
    from millstream.pipeline.job.same_job import check_checkpoint
    from millstream.pipeline.job.tables import merge_into
    from millstream.pipeline.job.topics import to_kafka
    from millstream.pipeline.runtime.session import register, session

__getattr__ = _exported(
    __name__,
    {
        "check_checkpoint": "millstream.pipeline.job.same_job",
        "continuous": "millstream.pipeline.job.continuous",
        "files": "millstream.pipeline.job.inputs",
        "kafka": "millstream.pipeline.job.inputs",
        "messages": "millstream.pipeline.job.inputs",
        "merge_into": "millstream.pipeline.job.tables",
        "register": "millstream.pipeline.runtime.session",
        "session": "millstream.pipeline.runtime.session",
        "to_kafka": "millstream.pipeline.job.topics",
    },
    extra="spark",
)

__all__ = ["check_checkpoint", "continuous", "files", "kafka", "merge_into", "messages", "register", "session", "to_kafka"]
