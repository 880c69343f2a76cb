"""What a compacted topic holds, as state of Spark: for each key its last message, so that the next one is known from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle, TimerValues, ValueState
from pyspark.sql.types import BinaryType, Row, StructType

from millstream.connect.kafka.answers import AnswerMessages
from millstream.pipeline.runtime.connect import schema_of, with_schema
from millstream.pipeline.state.partitions import partitions_as
from millstream.pipeline.state.processor import QuietProcessor

SCHEMA = "key binary, value binary, at_ms long"
_VALUE = StructType().add("value", BinaryType())
_MESSAGE = Row("key", "value", "at_ms")


class CompactingProcessor(QuietProcessor):
    """Changes of the answers of a key to the message that its topic is to hold."""

    def __init__(self, variables: Sequence[str], key: Sequence[str]) -> None:
        self._variables = tuple(variables)
        self._key = tuple(key)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Spark's way in."""
        self._held: ValueState = handle.getValueState("held", _VALUE)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        """The answers of one key in one trigger."""
        messages = AnswerMessages(self._variables, "upsert", self._key, construct=False)
        found = [(int(row.at_ms), int(row.weight), tuple(row[name] for name in self._variables)) for row in rows]
        held = self._held.get()
        if held is not None:
            messages.hold([(messages.key_of(found[0][2]), bytes(held[0]))])
        # What happens in one millisecond leaves before it comes.
        found.sort(key=lambda change: (change[0], change[1] > 0))
        for record in messages.upserts(found):
            if record.value is None:
                self._held.clear()
            else:
                self._held.update((record.value,))
            yield _MESSAGE(record.key, record.value, record.at_ms)


def compacted(answers: DataFrame, variables: Sequence[str], key: Sequence[str]) -> DataFrame:
    """The messages of a compacted topic, from answers as they change."""
    schema = schema_of(SCHEMA)
    grouped = answers.groupBy(*(answers[name] for name in key))
    found = grouped.transformWithState(CompactingProcessor(variables, key), schema, "Append", "None")
    return partitions_as(with_schema(found, schema), answers)
