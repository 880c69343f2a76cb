"""What a planned job gives: answers as rows, and late triples as dead letters of the trigger in which they came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from millstream.errors import OptionError
from millstream.pipeline.job.specification import JobSpec
from millstream.pipeline.runtime.connect import schema_of, with_schema
from millstream.pipeline.runtime.step_names import named
from millstream.pipeline.source.dead_letters import DeadLetters, task_split
from millstream.pipeline.state.processor import ANSWERS, FLUSHED, LATE, from_bytes
from millstream.rdf import Rejected


@dataclass(frozen=True, slots=True)
class Job:
    """A planned query: what cells give, still packed, and all that was decided about it."""

    spec: JobSpec
    packed: DataFrame
    """Rows of kind, blob and counts."""
    dead_letters: tuple[str | None, ...] = ()
    """For each source the folder of what it sets aside."""

    def answers(self) -> DataFrame:
        """The answers as rows: at_ms, weight and one string column a variable. What is late is set aside on the way."""
        names = [v.value for v in self.spec.query.columns]
        columns = schema_of("at_ms long, weight long")
        for name in names:
            columns.add(name, "string")
        only = self.packed.where(f.col("kind").isin(ANSWERS, FLUSHED, LATE)).select("kind", "blob")
        labels = tuple(source.label for source in self.spec.sources)
        unpack = partial(_unpacked, tuple(names), labels, self.dead_letters)
        step = named("millstream_answers", unpack)
        answers = with_schema(only, schema_of("kind int, blob binary")).mapInArrow(step, columns)
        _jobs[answers] = self
        return answers


# Of which job a DataFrame is, as long as somebody has it.
_jobs: WeakKeyDictionary[DataFrame, Job] = WeakKeyDictionary()


def known_job(answers: DataFrame) -> Job | None:
    """The job whose answers a DataFrame has; None if it is not what a job gave."""
    return _jobs.get(answers)


def job_of(answers: DataFrame) -> Job:
    """The same, for those who need one."""
    job = known_job(answers)
    if job is None:
        raise OptionError("answers is the DataFrame that pipeline.continuous gave, before anything else is done to it.")
    return job


def late_reason(at_ms: int) -> str:
    """What a dead letter says of an element that came too late."""
    return f"late: its time is {at_ms} ms, which had passed"


def _unpacked(
    names: tuple[str, ...],
    labels: Sequence[str],
    folders: Sequence[str | None],
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    with ExitStack() as opened:
        late = _LateLetters(labels, folders, opened)
        for batch in batches:
            for kind, blob in zip(batch.column("kind").to_pylist(), batch.column("blob"), strict=True):
                table = from_bytes(blob.as_py())
                if kind == LATE:
                    late.take(table)
                else:
                    yield from table.select(["at_ms", "weight", *names]).to_batches()


class _LateLetters:
    """The late triples of one task, a file for each source that has any."""

    def __init__(self, labels: Sequence[str], folders: Sequence[str | None], opened: ExitStack) -> None:
        self._labels = labels
        self._folders = folders
        self._opened = opened
        self._letters: dict[int, DeadLetters] = {}

    def take(self, late: pa.Table) -> None:
        for row in late.to_pylist():
            source, label = row["source"], self._labels[row["source"]]
            if source not in self._letters:
                letters = DeadLetters(self._folders[source], task_split(f"{label} late", source))
                self._letters[source] = self._opened.enter_context(letters)
            self._letters[source](Rejected(label, None, None, late_reason(row["at_ms"]), row["text"]))
