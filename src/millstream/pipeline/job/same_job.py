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
from math import prod
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


def check_same(before: str, now: str, where: str = "") -> None:
    """Refuses to go on with another text than that of a checkpoint, and says what changed; `where` that is, if known."""
    if before != now:
        raise SnapshotError(where + _changed(before, now))


def check_offset(before: str | None, now: str | None) -> None:
    """The same for offsets, which may not say of which job they are."""
    if before is not None and now is not None:
        check_same(before, now)


def check_plan(before: str, *, text: str, cells: int, lateness_ms: int) -> None:
    """Refuses, of a plan that was kept with a checkpoint, what can be known to differ without Spark."""
    from millstream.pipeline.job.specification import LAYOUT, JobSpec, job_spec

    fields = json.loads(before)
    if fields.get("layout") != LAYOUT:
        check_same(before, json.dumps({**fields, "layout": LAYOUT}))
    kept = JobSpec.from_json(before)
    now = replace(kept, text=text, asked=cells, lateness_ms=lateness_ms)
    if (text, cells) != (kept.text, kept.asked):
        now = replace(now, cells=job_spec(text, kept.sources, cells=cells).cells)
    check_same(before, now.to_json())


def check_checkpoint(answers: DataFrame, checkpoint: str) -> None:
    """Raises SnapshotError if the job of `answers` cannot go on from a checkpoint, because another job wrote it.

    `answers` is what `continuous` gave. A folder that is not there yet is good for any job. Where all streams are DataFrames
    the state itself is read, which takes seconds.
    """
    from millstream.pipeline.job.answers import job_of

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
        check_same(before, now)


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


def _changed(before: str, now: str) -> str:
    """What changed between a checkpoint and the job that is to go on from it."""
    old, new = json.loads(before), json.loads(now)
    names = {
        "text": "the query",
        "output": "the output operator",
        "base": "the base of IRIs",
        "sources": "the sources",
        "cells": "the cells",
        "t0_ms": "t0_ms",
        "lateness_ms": "the lateness",
        "now_ms": "NOW()",
        "asked": "the number of cells",
        "datasets": "the datasets",
        "limits": "the limits",
        "layout": "the layout of millstream's state",
    }
    changed = [name for name in names if old.get(name) != new.get(name)]
    if "text" in changed or "asked" in changed:
        # The cells follow from these.
        changed = [name for name in changed if name != "cells"]
    differing = [names[name] for name in changed]
    detail = ""
    if old.get("cells") != new.get("cells"):
        counts = [prod(fields["cells"]["shares"]) for fields in (old, new)]
        detail = f" (it had {counts[0]} cells, now {counts[1]})" if counts[0] != counts[1] else ""
    return (
        f"the checkpoint was written by another job: {', '.join(differing) or 'something'} changed{detail}. "
        "Go on with the job as it was, or start the new one with a new checkpoint."
    )
