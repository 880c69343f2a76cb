"""Files as they come: the stream reader of the source `rdf`, which needs Spark 4.2 or newer.

Which files are new is decided here, in one process; a restart asks for the same parts again, by the same offsets.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from millstream.pipeline.job.same_job import check_offset, short_text
from millstream.pipeline.source.data_source import cuts_in, files_in, read_parts, tasks_of, with_extras
from millstream.pipeline.source.files import Found
from millstream.pipeline.source.offsets import Offset, move_on
from millstream.pipeline.source.options import SourceOptions

# Spark asks for news every few milliseconds; a folder is looked at ten times a second, less often if that takes long.
_LOOK_S = 0.1
_LOOK_SHARE = 10


class RdfStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Files as they come."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        # Elements that are matched alone leave nothing behind that another query could not go on from.
        self._job = None if options.pack is None or options.counted else short_text(options.pack)
        # The files there are to be, if no more are waited for.
        self._all: list[Found] | None = None
        self._bounded = False
        self._quiet_since = time.monotonic()
        self._listing: list[Found] = []
        self._look_at = 0.0
        # The listing and the offset in which nothing new was found last: no need to compare them again.
        self._nothing_new: tuple[list[Found], int] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Before the first file."""
        return Offset().to_json()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """What a trigger reads at most; both limits hold, though only one can be told."""
        if self._options.max_files is not None:
            return ReadMaxFiles(self._options.max_files)
        return ReadMaxBytes(self._options.max_bytes)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """From now on nothing is new."""
        self._bounded = True
        self._all = self._list()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """The offset behind the next batch, or `start` itself if there is none."""
        options = self._options
        offset = Offset.from_json(start)
        check_offset(offset.job, self._job)
        limited = not isinstance(limit, ReadAllAvailable)
        files, bytes = (options.max_files, options.max_bytes) if limited else (None, None)
        found = self._look()
        if self._nothing_new is not None and self._nothing_new[0] is found and self._nothing_new[1] == offset.sequence:
            moved, complete = replace(offset, batch=(), arrival_ms=None), True
        else:
            moved, complete = move_on(offset, found, lambda file: cuts_in(options, file), max_files=files, max_bytes=bytes)
        if moved.batch:
            moved = replace(moved, ended="")
        # Each run ends once, also where an earlier one had come to the same end.
        ends = options.end and complete and moved.ended != options.run
        if ends:
            moved = replace(moved, ended=options.run, sequence=moved.sequence + 1)
        if moved.batch:
            self._quiet_since = time.monotonic()
            return self._kept(with_extras(options, offset, moved))
        if ends:
            return self._kept(moved)
        self._nothing_new = (found, offset.sequence)
        if self._is_idle(offset):
            return self._kept(replace(moved, idle=True, ended="", sequence=offset.sequence + 1))
        return start

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The tasks of a batch."""
        if start == end:
            return []
        first, last = Offset.from_json(start), Offset.from_json(end)
        check_offset(last.job, self._job)
        return tasks_of(self._options, first, last)

    def _kept(self, offset: Offset) -> dict[str, Any]:
        return replace(offset, job=self._job).to_json()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows or blobs of one task."""
        return read_parts(self._options, partition)

    def _is_idle(self, offset: Offset) -> bool:
        idle_ms = self._options.idle_ms
        if idle_ms is None or self._bounded or offset.idle:
            return False
        return (time.monotonic() - self._quiet_since) * 1000 >= idle_ms

    def _look(self) -> list[Found]:
        if self._options.end and self._all is None:
            self._all = self._list()
        if self._all is not None:
            return self._all
        now = time.monotonic()
        if now >= self._look_at:
            self._listing = self._list()
            done = time.monotonic()
            self._look_at = done + max(_LOOK_S, _LOOK_SHARE * (done - now))
        return self._listing

    def _list(self) -> list[Found]:
        return files_in(self._options, awaited=not self._options.end)
