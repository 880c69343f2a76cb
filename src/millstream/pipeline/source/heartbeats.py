"""Heartbeats, for idle timeouts of DataFrames that stream: a source of Spark's own tells cells the clock's time.

What a cell does follows from its blobs alone, so it must not look at a clock: it is told. With each beat it notes which
DataFrames have brought something since the one before; one that has brought nothing for as long as the timeout is idle, and
holds the others back no more, until it brings something again.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from millstream.rdf.times import now_ms

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "millstream_beats"
_BEATS = 2
"""How many beats there are in a timeout."""


class BeatSource(DataSource):
    """`format("millstream_beats")`, with the options idle (milliseconds), sources and pack."""

    @classmethod
    def name(cls) -> str:
        """Its name in `format`."""
        return NAME

    def schema(self) -> str:
        """Blobs for cells."""
        from millstream.pipeline.source.data_source import PACKED_SCHEMA

        return PACKED_SCHEMA

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Beats as time goes on."""
        sources = [int(number) for number in self.options["sources"].split(",")]
        return BeatReader(int(self.options["idle"]), sources, self.options["pack"])


class Beat(InputPartition):
    """One beat: the time of the clock, and whether it is the first of a run."""

    def __init__(self, now_ms: int, first: bool) -> None:
        super().__init__((now_ms, first))


class BeatReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """An offset is the time of its beat and the run in which that was."""

    def __init__(self, idle_ms: int, sources: Sequence[int], pack: str) -> None:
        self._idle_ms = idle_ms
        self._sources = sources
        self._pack = pack
        self._run = uuid.uuid4().hex
        self._bounded = False

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """The time at the start, which needs no beat."""
        return {"now_ms": now_ms(), "run": self._run}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """One beat at a time is all there is."""
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Nobody waits, so nobody is idle."""
        self._bounded = True

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """A beat if it is time for one; the first of a run at once, since nobody knows how long nothing ran."""
        now = self.initialOffset()
        if self._bounded or (start["run"] == self._run and now["now_ms"] - start["now_ms"] < self._idle_ms // _BEATS):
            return start
        return now

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The beat of a batch."""
        return [] if start == end else [Beat(end["now_ms"], start["run"] != end["run"])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """A blob for every cell and source."""
        from millstream.pipeline.exchange.packing import packer_for
        from millstream.pipeline.source.task_output import packed_batch

        if partition.value is None:
            return
        at_ms, first = partition.value
        for source in self._sources:
            yield packed_batch(packer_for(self._pack, source).beat(at_ms, None if first else self._idle_ms))
