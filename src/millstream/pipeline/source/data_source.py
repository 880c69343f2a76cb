"""The Spark data source `rdf`: files of any RDF format, as a batch or as a stream of files that come by and by.

Which files, which pieces of them and in which order is decided in one process (`offsets`, `files`); tasks read the pieces
(`reading`, `output`). A stream takes new files in the order of their names, and reads each once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pyspark
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from millstream.errors import OptionError
from millstream.pipeline.runtime.gc_freeze import freeze_imports
from millstream.pipeline.source.files import Found, cuts_of, list_files
from millstream.pipeline.source.offsets import Offset, Slice, move_on
from millstream.pipeline.source.options import SourceOptions, read_options
from millstream.pipeline.source.splits import Split
from millstream.rdf import parse_time_option
from millstream.rdf.times import now_ms
from millstream.rdf.timing import TimeKind

if TYPE_CHECKING:
    import pyarrow as pa

ROW_SCHEMA = "s string, p string, o string, g string, at_ms long, element string"
PACKED_SCHEMA = "cell int, blob binary"
DATASET_SCHEMA = "kind int, cell int, blob binary"
# Small files share a task: each task costs two hundredths of a second of a core.
_SHARED_BYTES = 1 << 20
_TASKS = 16


def check_streams_of_files() -> None:
    """Raises OptionError if this Spark cannot read files as a stream."""
    if find_spec("pyspark.sql.streaming.datasource") is None:
        raise OptionError(
            f"files as a stream need Spark 4.2 or newer, and this is Spark {pyspark.__version__}, whose sources in Python "
            "cannot read on from an offset within limits: give a streaming DataFrame, or update Spark."
        )


class RdfSource(DataSource):
    """`spark.read.format("rdf")` and `spark.readStream.format("rdf")`."""

    # What relative paths are relative to: where Spark was started, unless registration says otherwise.
    folder = ""

    @classmethod
    def name(cls) -> str:
        """Its name in `format`."""
        return "rdf"

    def schema(self) -> str:
        """Rows of text, or blobs for cells."""
        options = self._checked()
        if options.dataset:
            return DATASET_SCHEMA
        return ROW_SCHEMA if options.pack is None else PACKED_SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        """Reads what is there now."""
        return RdfReader(self._checked())

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Reads what comes."""
        check_streams_of_files()
        from millstream.pipeline.source.stream_reader import RdfStreamReader

        return RdfStreamReader(self._checked())

    def _checked(self) -> SourceOptions:
        options = read_options(self.options)
        dead_letter = options.dead_letter and os.path.join(self.folder, options.dead_letter)
        paths = tuple(os.path.join(self.folder, path) for path in options.paths)
        return replace(options, paths=paths, dead_letter=dead_letter)


class SplitPartition(InputPartition):
    """Parts that one task reads one after another, each with the number of its first element where that gives times."""

    def __init__(self, parts: list[tuple[Split, int]]) -> None:
        super().__init__(parts)


class RdfReader(DataSourceReader):
    """All files as one batch."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options

    def partitions(self) -> list[InputPartition]:
        """What there is to read, as tasks."""
        options = self._options
        offset, _ = move_on(Offset(), files_in(options), lambda file: cuts_in(options, file))
        if options.end:
            offset = replace(offset, ended=options.run, sequence=offset.sequence + 1)
        return tasks_of(options, Offset(), with_extras(options, Offset(), offset))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows or blobs of one task."""
        return read_parts(self._options, partition)


def files_in(options: SourceOptions, *, awaited: bool = False) -> list[Found]:
    any_ending = options.changes or options.format is not None
    return list_files(options.paths, any_ending=any_ending, outside=options.dead_letter, awaited=awaited)


def cuts_in(options: SourceOptions, file: Found) -> list[int]:
    if options.changes:
        return [0, file.size]
    if options.dataset:
        # When something happened does not matter, and every line stands by itself.
        return cuts_of(file, format=options.format, time="arrival", element="line", split_bytes=options.split_bytes)
    return cuts_of(file, format=options.format, time=options.time, element=options.element, split_bytes=options.split_bytes)


def with_extras(options: SourceOptions, start: Offset, end: Offset) -> Offset:
    """The offset with what reading its batch needs beyond files: the time of arrival, or counts of elements."""
    option = None if options.time is None else parse_time_option(options.time)
    if option is None or not end.batch:
        return end
    if option.kind is TimeKind.ARRIVAL:
        return replace(end, arrival_ms=now_ms())
    if option.kind is not TimeKind.RATE or (options.pack is not None and not options.counted):
        return end
    from millstream.pipeline.source.reading import count_elements

    # Rows carry times, and a time at a rate depends on all elements before: they are counted first.
    counted = tuple(
        replace(each, counts=tuple(count_elements(_part(options, each, *piece)) for piece in each.pieces))
        for each in end.batch
    )
    return replace(end, batch=counted, elements=start.elements + sum(sum(each.counts) for each in counted))


def _part(options: SourceOptions, file: Slice, start: int, end: int) -> Split:
    return Split(
        path=file.path,
        format=options.format,
        start=start,
        end=end,
        source=options.source,
        time=options.time,
        element=options.element,
        base=options.base,
        changes=options.changes,
        limits=options.limits,
        # Whoever only counts does not ask when.
        arrival_ms=0,
    )


def tasks_of(options: SourceOptions, start: Offset, end: Offset) -> list[InputPartition]:
    parts: list[tuple[Split, int]] = []
    before = start.elements
    sequence = start.sequence
    for file in end.batch:
        for number, piece in enumerate(file.pieces):
            part = replace(_part(options, file, *piece), sequence=sequence, arrival_ms=end.arrival_ms)
            parts.append((part, before))
            sequence += 1
            before += file.counts[number] if file.counts else 0
    tasks = _shared(parts, options)
    if end.idle or end.ended:
        news = Split(
            source=options.source,
            sequence=sequence,
            time=options.time,
            ended=bool(end.ended),
            beat=not end.ended,
            open=options.open,
        )
        # Behind the last data: a task of its own could need a worker of its own, which takes a second to start.
        tasks = [*tasks[:-1], [*(tasks[-1] if tasks else []), (news, before)]]
    return [SplitPartition(task) for task in tasks]


def _shared(parts: list[tuple[Split, int]], options: SourceOptions) -> list[list[tuple[Split, int]]]:
    """Parts in order as tasks of about the same length: each is in the task in whose share its middle is."""
    total = max(1, sum(part.end - part.start for part, _ in parts))
    share = min(options.split_bytes, total // _TASKS) if options.tasks is None else total // options.tasks
    count = max(1, total // max(_SHARED_BYTES, share))
    tasks: dict[int, list[tuple[Split, int]]] = {}
    begin = 0
    for part, before in parts:
        length = part.end - part.start
        tasks.setdefault(min((2 * begin + length) * count // (2 * total), count - 1), []).append((part, before))
        begin += length
    return list(tasks.values())


def read_parts(options: SourceOptions, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    # Only here, in the tasks: Spark has several small processes that plan and never read.
    from millstream.pipeline.source.task_output import datasets_of, packed_of, rows_of

    freeze_imports()
    # Spark asks for one partition even where there is none.
    parts: list[tuple[Split, int]] = partition.value or []
    if options.dataset:
        yield from datasets_of([part for part, _ in parts], options.graph, options.pack or "", options.ahead)
        return
    if options.pack is not None:
        yield from packed_of(parts, options.pack, options.source, options.dead_letter)
        return
    for part, before in parts:
        yield from rows_of(part, before, options.dead_letter)
