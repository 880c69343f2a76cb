"""A job that is killed, again and again, answers as one that never was: nothing is lost, nothing comes twice.

Processes are killed with SIGKILL at moments that a seed draws: the whole job, driver and Java and workers at once, or one
Python worker. `make test-long` kills twenty times; without it, a few.
"""

from __future__ import annotations

import csv
import os
import random
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.feeding import written
from tests.pipeline.victims import (
    COUNTED,
    QUERY,
    SCRIPT,
    STREAM,
    Victim,
    batches,
    expected,
    wait_for,
    write_file,
    write_input,
)

KILLS = int(os.environ.get("MILLSTREAM_KILLS", "4"))
PROGRAM = str(Path(sys.executable).with_name("millstream"))


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("what", "query"),
    [
        pytest.param("the job", QUERY, id="the job"),
        pytest.param("a worker", QUERY, id="a worker"),
        pytest.param("the job", COUNTED, id="the job, in two stages"),
        pytest.param("a worker", COUNTED, id="a worker, in two stages"),
    ],
)
def test_a_job_that_is_killed_answers_as_if_it_never_was(spark: SparkSession, tmp_path: Path, what: str, query: str) -> None:
    kills = KILLS // 2
    # Between two kills some batches are done, and some are left at the end.
    write_input(tmp_path, 4 * kills + 4, seed=1)
    (tmp_path / "job.py").write_text(SCRIPT)
    chance = random.Random(what)
    done = stuck = 0
    victim = None
    while done < kills:
        if victim is None:
            began = batches(tmp_path / "checkpoint")
            # Tasks that may be tried again, and such that fail the job at once.
            master = chance.choice(["local[2]", "local[2,4]"])
            victim = Victim(sys.executable, tmp_path / "job.py", tmp_path, master, query, log=tmp_path / "job.log")
        before = batches(tmp_path / "checkpoint")
        alive = wait_for(lambda before=before: batches(tmp_path / "checkpoint") > before, victim)  # type: ignore[misc]
        time.sleep(chance.random())
        if victim.ended() is not None or not alive:
            assert what == "a worker", "the job ended before it was killed often enough"
            stuck = stuck + 1 if batches(tmp_path / "checkpoint") == began else 0
            assert stuck < 3, (tmp_path / "job.log").read_text()[-3000:]
            victim = None
        elif what == "the job":
            victim.kill()
            victim, done = None, done + 1
        else:
            done += victim.kill_a_worker(chance)
    if victim is None or victim.wait():
        last = Victim(sys.executable, tmp_path / "job.py", tmp_path, "local[2]", query, log=tmp_path / "job.log")
        assert last.wait() == 0, (tmp_path / "job.log").read_text()[-3000:]
    wanted = expected(tmp_path, query)
    assert len(wanted) > 100
    assert written(spark, tmp_path) == wanted


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_run_that_is_killed_writes_each_answer_once(tmp_path: Path) -> None:
    kills = max(1, KILLS // 4)
    write_input(tmp_path, 2, seed=2)
    (tmp_path / "q.rq").write_text(QUERY)
    command = [
        PROGRAM, "run", "--engine", "spark", tmp_path / "q.rq", "--stream", f"{STREAM}={tmp_path / 'in'}",
        "--dataset", tmp_path / "static.nt", "--time", "rate:100", "--checkpoint", tmp_path / "checkpoint",
        "--output", tmp_path / "out.csv",
    ]  # fmt: skip
    chance = random.Random(3)
    number = 2
    for _ in range(kills):
        victim = Victim(*command, "--follow", log=tmp_path / "run.log")
        before = batches(tmp_path / "checkpoint" / "0-q")
        # Files keep coming, so that it is in the middle of something whenever it is killed.
        for _ in range(3):
            wait_for(lambda before=before: batches(tmp_path / "checkpoint" / "0-q") > before, victim)  # type: ignore[misc]
            before = batches(tmp_path / "checkpoint" / "0-q")
            write_file(tmp_path / "in", number, chance)
            number += 1
        time.sleep(2 * chance.random())
        assert victim.ended() is None, (tmp_path / "run.log").read_text()[-3000:]
        victim.kill()
    last = Victim(*command, log=tmp_path / "run.log")
    assert last.wait() == 0, (tmp_path / "run.log").read_text()[-3000:]
    with (tmp_path / "out.csv").open() as file:
        found = Counter((int(r[0]), int(r[1]), tuple(r[2:])) for r in list(csv.reader(file))[1:])
    wanted = expected(tmp_path)
    assert len(wanted) > 20
    # CSV has IRIs without brackets.
    assert found == Counter({(at, w, tuple(str(t).strip("<>") for t in row)): n for (at, w, row), n in wanted.items()})
