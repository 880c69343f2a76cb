"""Checkpoints that earlier versions left: a job goes on as if never stopped, or is refused if their layout is another."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from millstream import Engine
from millstream.pipeline.job.specification import LAYOUT
from millstream.pipeline.runtime.failures import complaint_of
from tests.pipeline.kept_checkpoints.make import HERE, JOBS, STREAM, go_on, restore
from tests.pipeline.simulation import Row

ARCHIVES = sorted(HERE.glob("*.tar.xz"))


def answers_of_one_engine(name: str, folder: Path) -> Counter[Row]:
    engine = Engine()
    engine.load(str(folder / "static.nt"))
    query = engine.register(JOBS[name])
    engine.read(STREAM, str(folder / "input"), time="rate:1")
    rows = query.take_table().to_pylist()
    return counted([[row["at_ms"], row["weight"], *(row[v] for v in query.variables)] for row in rows])


def counted(rows: list[list[Any]]) -> Counter[Row]:
    return Counter((row[0], row[1], tuple(row[2:])) for row in rows)


def test_this_layout_is_kept() -> None:
    assert {f"{name}-layout-{LAYOUT}.tar.xz" for name in JOBS} <= {path.name for path in ARCHIVES}


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def test_a_kept_job_goes_on_as_if_never_stopped(spark: SparkSession, tmp_path: Path, archive: Path) -> None:
    name, about = restore(archive, tmp_path)
    if about["layout"] != LAYOUT:
        with pytest.raises(StreamingQueryException) as caught:
            go_on(spark, name, tmp_path)
        assert "the layout of millstream's state changed" in str(complaint_of(caught.value))
        return
    before, after = counted(about["answers"]), counted(go_on(spark, name, tmp_path))
    # Some of what was there when it was stopped has left since: nobody who began anew would know of that.
    assert {row for _, weight, row in after if weight < 0} & {row for _, weight, row in before if weight > 0}
    assert before + after == answers_of_one_engine(name, tmp_path)
