"""The Spark data source `millstream_kafka`: topics as a stream of blobs, a task for every partition that has news.

An offset says where each partition is, which are idle and whether the source has ended: so a batch that is replayed decides
as it did. A partition is a lane, with a number that it keeps.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from millstream.pipeline.job.same_job import check_offset, short_text
from millstream.pipeline.runtime.gc_freeze import freeze_imports

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "millstream_kafka"
CLIENT_SECRETS = "client_secrets"
"""The option with the client's own, by a name whose value Spark shows nowhere."""
MAX_OFFSETS = 4_000_000
_LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class TopicOptions:
    """What the source is told."""

    servers: str
    topics: tuple[str, ...]
    client: Mapping[str, str] = field(repr=False)
    messages: str = ""
    starting_offsets: Any = "earliest"
    max_offsets: int = MAX_OFFSETS
    idle_ms: int | None = None
    end: bool = False
    run: str = "once"
    open: bool = False
    pack: str = ""
    source: int = 0
    dead_letter: str | None = None

    @classmethod
    def of(cls, given: Mapping[str, str]) -> TopicOptions:
        """From the options of a reader."""
        found = json.loads(given["described"])
        return cls(
            found["servers"],
            tuple(found["topics"]),
            json.loads(given[CLIENT_SECRETS]),
            **{name: value for name, value in found.items() if name not in ("servers", "topics")},
        )


class KafkaDataSource(DataSource):
    """`format("millstream_kafka")`, made by `continuous` for topics."""

    @classmethod
    def name(cls) -> str:
        """Its name in `format`."""
        return NAME

    def schema(self) -> str:
        """Blobs for cells."""
        from millstream.pipeline.source.data_source import PACKED_SCHEMA

        return PACKED_SCHEMA

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Messages as they come."""
        return KafkaStreamReader(TopicOptions.of(self.options))


class Ranges(InputPartition):
    """What a task reads: ranges of partitions, and what else it tells of the source."""

    def __init__(self, ranges: list[tuple[str, int, int, int, int]], idle: list[int], ended: bool) -> None:
        super().__init__((ranges, idle, ended))


def shared(waiting: list[int], most: int) -> list[int]:
    """How many each may have of so many: all alike, as long as there is something left.

    >>> shared([5, 100, 100], 45)
    [5, 20, 20]
    """
    found = [0] * len(waiting)
    while most > 0 and (some := [i for i, count in enumerate(waiting) if found[i] < count]):
        each = max(1, most // len(some))
        for i in some:
            more = min(each, waiting[i] - found[i], most)
            found[i] += more
            most -= more
    return found


class KafkaStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """An offset: partitions as [topic, partition, next offset, lane, idle], those that are new with the offset of their
    first message, the run that has ended, the job.
    """

    def __init__(self, options: TopicOptions) -> None:
        self._options = options
        self._job = short_text(options.pack)
        self._all: dict[tuple[str, int], int] | None = None
        self._found: dict[tuple[str, int], int] = {}
        self._look_at = 0.0
        self._heard: dict[int, float] = {}
        self._bounded = False

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Where a new query begins."""
        return {"partitions": [], "new": [], "ended": "", "job": self._job, "begun": False}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Ours is among the options."""
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """From now on nothing is new."""
        self._bounded = True
        self._all = self._ends()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """The offset behind the next batch, or `start` itself if there is none."""
        options = self._options
        check_offset(start["job"], self._job)
        if options.end and self._all is None:
            self._all = self._ends()
        ends = self._all if self._all is not None else self._look()
        known = {(topic, partition): (offset, lane, idle) for topic, partition, offset, lane, idle in start["partitions"]}
        places = [[*place, offset, lane, idle] for place, (offset, lane, idle) in known.items()]
        new = []
        for topic, partition in sorted(set(ends) - set(known)):
            first = self._first_offset(topic, partition, start["begun"])
            new.append([topic, partition, first])
            places.append([topic, partition, first, len(places), False])
        waiting = [max(0, ends.get((place[0], place[1]), 0) - place[2]) for place in places]
        shares = shared(waiting, options.max_offsets)
        complete, moved = shares == waiting, []
        for (topic, partition, offset, lane, idle), share, count in zip(places, shares, waiting, strict=True):
            # One that waits for its share is not silent.
            moved.append([topic, partition, offset + share, lane, self._is_idle(lane, count > 0, idle)])
        has_more = [m[2] for m in moved] != [known.get((m[0], m[1]), (None, 0, False))[0] for m in moved]
        ended = "" if has_more else start["ended"]
        if options.end and complete and ended != options.run:
            ended = options.run
        if moved == start["partitions"] and ended == start["ended"]:
            return start
        begun = bool(moved) or start["begun"]
        return {"partitions": moved, "new": new, "ended": ended, "job": self._job, "begun": begun}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """A task for each partition that has news; what else there is to tell goes with the last."""
        if start == end:
            return []
        check_offset(end["job"], self._job)
        known = {(topic, partition): (offset, idle) for topic, partition, offset, _, idle in start["partitions"]}
        # Where a partition begins is part of the offset: the servers might say something else when a batch is replayed.
        new = {(topic, partition): offset for topic, partition, offset in end["new"]}
        ranges, idle = [], []
        for topic, partition, offset, lane, is_idle in end["partitions"]:
            if (topic, partition) in new:
                ranges.append((topic, partition, new[topic, partition], offset, lane))
                continue
            before, was_idle = known[topic, partition]
            if offset > before:
                ranges.append((topic, partition, before, offset, lane))
            if is_idle and not was_idle:
                idle.append(lane)
        ended = bool(end["ended"]) and end["ended"] != start["ended"]
        tasks = [Ranges([each], [], False) for each in ranges[:-1]]
        return [*tasks, Ranges(ranges[-1:], idle, ended)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The blobs of one task."""
        from millstream.pipeline.source.kafka_reading import blobs_of

        freeze_imports()
        ranges, idle, ended = partition.value or ([], [], False)
        return blobs_of(self._options, ranges, idle, ended)

    # What there is ----------------------------------------------------------------------------------------------------

    def _look(self) -> dict[tuple[str, int], int]:
        now = time.monotonic()
        if now >= self._look_at:
            self._found = self._ends()
            self._look_at = time.monotonic() + _LOOK_S
        return self._found

    def _ends(self) -> dict[tuple[str, int], int]:
        found: dict[tuple[str, int], int] = self._topics().ends()
        return found

    def _first_offset(self, topic: str, partition: int, begun: bool) -> int:
        given = "earliest" if begun else self._options.starting_offsets
        return int(self._topics().first_offset(topic, partition, given))

    def _topics(self) -> Any:
        from millstream.pipeline.source.kafka_reading import topics_of

        return topics_of(self._options)

    def _is_idle(self, lane: int, brought: bool, was_idle: bool) -> bool:
        idle_ms, now = self._options.idle_ms, time.monotonic()
        if brought:
            self._heard[lane] = now
            return False
        heard = self._heard.setdefault(lane, now)
        if idle_ms is None or self._bounded or self._options.end:
            return was_idle
        return was_idle or (now - heard) * 1000 >= idle_ms
