"""Whether a checkpoint belongs to the job that is to go on from it, asked in the driver before anything is started.

Cells ask it too, of the text in their state. But an offset of the source `rdf` carries the job's text in short, so the
process that plans batches knows before any task runs; and whoever has the folder of a checkpoint can ask it beforehand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from millstream.errors import SnapshotError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SHORT = 24


@lru_cache(maxsize=16)
def short_text(text: str) -> str:
    """A job's text in which long values are digests: enough to tell what changed, and little for a log of offsets."""
    fields = json.loads(text)
    grid = fields.pop("cells")
    short = {name: _short(value) for name, value in fields.items()}
    return json.dumps({**short, "cells": {"shares": grid["shares"], "digest": _short(json.dumps(grid, sort_keys=True))}})


def _short(value: Any) -> Any:
    text = json.dumps(value, sort_keys=True)
    return value if len(text) <= _SHORT else hashlib.blake2b(text.encode(), digest_size=9).hexdigest()


def check_offset(before: str | None, now: str | None) -> None:
    """Refuses to go on from an offset of another job; either may not say of which it is."""
    if before is not None and now is not None and before != now:
        from millstream.pipeline.state.change_log import changed_message

        raise SnapshotError(changed_message(before, now))


def check_plan(before: str, *, text: str, cells: int, lateness_ms: int) -> None:
    """Refuses, of a plan that was kept with a checkpoint, what can be known to differ without Spark."""
    from millstream.pipeline.job.specification import LAYOUT, JobSpec, job_spec
    from millstream.pipeline.state.change_log import changed_message

    fields = json.loads(before)
    if fields.get("layout") != LAYOUT:
        raise SnapshotError(changed_message(before, json.dumps({**fields, "layout": LAYOUT})))
    kept = JobSpec.from_json(before)
    now = replace(kept, text=text, asked=cells, lateness_ms=lateness_ms)
    if (text, cells) != (kept.text, kept.asked):
        now = replace(now, cells=job_spec(text, kept.sources, cells=cells).cells)
    if now.to_json() != before:
        raise SnapshotError(changed_message(before, now.to_json()))


def check_checkpoint(answers: DataFrame, checkpoint: str) -> None:
    """Raises SnapshotError if the job of `answers` cannot go on from a checkpoint, because another job wrote it.

    `answers` is what `continuous` gave. A folder that is not there yet is good for any job. Where all streams are DataFrames
    the state itself is read, which takes seconds.
    """
    from millstream.pipeline.job.answers import job_of
    from millstream.pipeline.state.change_log import changed_message

    job = job_of(answers)
    folder = Path(checkpoint.removeprefix("file:"))
    if job.spec.cells.stateless or ("://" not in checkpoint and not (folder / "commits").exists()):
        return
    now = job.spec.to_json()
    kept = list(_jobs_of_offsets(folder))
    if kept:
        check_offset(kept[-1], short_text(now))
        return
    for before in _jobs_of_state(answers, checkpoint):
        if before != now:
            raise SnapshotError(changed_message(before, now))


def _jobs_of_offsets(folder: Path) -> Iterator[str]:
    """The jobs that the last offsets of a checkpoint on this machine name: Spark keeps a line of JSON for each source."""
    numbers = [int(path.name) for path in (folder / "offsets").glob("*") if path.name.isdigit()]
    if not numbers:
        return
    for line in (folder / "offsets" / str(max(numbers))).read_text().splitlines()[2:]:
        offset = json.loads(line) if line.startswith("{") else None
        if isinstance(offset, Mapping) and offset.get("job"):
            yield offset["job"]


def _jobs_of_state(answers: DataFrame, checkpoint: str) -> Iterator[str]:
    """The jobs that the ledgers of cells name."""
    from millstream.pipeline.state.processor import LEDGER, STATE

    reader = answers.sparkSession.read.format("statestore").option("stateVarName", STATE)
    pieces = reader.load(checkpoint)
    is_ledger = (pieces["user_map_key.version"] == LEDGER[0]) & (pieces["user_map_key.number"] == LEDGER[1])
    for row in pieces.where(is_ledger).select("user_map_value.data").collect():
        yield json.loads(bytes(row[0]))["spread"]
