"""Jobs in processes of their own that can be killed, as a whole or in part, and small inputs for them."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from millstream import Engine
from tests.pipeline.simulation import Row

STREAM = "http://e/s"
QUERY = """
PREFIX : <http://e/>
SELECT CHANGES * { STREAM :s [RANGE 200ms] { ?a :p ?b . ?b :q ?c } ?c :r ?d }
"""
COUNTED = """
PREFIX : <http://e/>
SELECT CHANGES ?k (COUNT(*) AS ?n) { STREAM :s [RANGE 200ms] { ?a :p ?b . ?b :q ?c } ?c :r ?d } GROUP BY (STR(?d) AS ?k)
"""
"""A query that takes two stages."""
SCRIPT = """
import sys
from millstream import pipeline

folder, master, query = sys.argv[1:]
fast = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
pipeline.session(master, **fast)
elements = pipeline.files(f"{folder}/in", time="rate:100", maxFilesPerTrigger=1)
answers = pipeline.continuous(query, {"http://e/s": elements}, {None: f"{folder}/static.nt"}, cells=2, once=True)
writer = answers.writeStream.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True)
writer.start(f"{folder}/answers").awaitTermination()
"""
MOST_SECONDS = 150


def write_input(folder: Path, files: int, seed: int) -> None:
    """Files of twenty triples each, and a dataset."""
    chance = random.Random(seed)
    (folder / "in").mkdir(parents=True)
    for number in range(files):
        write_file(folder / "in", number, chance)
    (folder / "static.nt").write_text("".join(f"<http://e/n{i}> <http://e/r> <http://e/m{i % 3}> .\n" for i in range(6)))


def write_file(folder: Path, number: int, chance: random.Random) -> None:
    lines = [
        f"<http://e/n{chance.randrange(8)}> <http://e/{chance.choice('pq')}> <http://e/n{chance.randrange(8)}> .\n"
        for _ in range(20)
    ]
    beside = folder / f".{number:04d}.nt"
    beside.write_text("".join(lines))
    beside.rename(folder / f"{number:04d}.nt")


def expected(folder: Path, text: str = QUERY) -> Counter[Row]:
    engine = Engine()
    engine.load(str(folder / "static.nt"))
    query = engine.register(text)
    engine.read(STREAM, str(folder / "in"), time="rate:100")
    engine.finish()
    rows = query.take_table().to_pylist()
    return Counter((r["at_ms"], r["weight"], tuple(r[v] for v in query.variables)) for r in rows)


class Victim:
    """A job in a process group of its own."""

    def __init__(self, *command: str | Path, log: Path, env: dict[str, str] | None = None) -> None:
        with log.open("ab") as sink:
            self._process = subprocess.Popen(
                [str(part) for part in command],
                stdout=sink,
                stderr=sink,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                cwd=log.parent,
                env=env,
            )

    def ended(self) -> int | None:
        return self._process.poll()

    def kill(self) -> None:
        """All of it, at once."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def kill_a_worker(self, chance: random.Random) -> bool:
        """One of the Python processes that do the work; whether there was any."""
        workers = [pid for pid, parent in self._below().items() if b"pyspark.daemon" in _command(parent)]
        return _kill_one(workers, chance)

    def kill_an_executor(self, chance: random.Random) -> bool:
        """One of the Java processes of a cluster, with what it started; whether there was any."""
        executors = [pid for pid in self._below() if b"CoarseGrainedExecutorBackend" in _command(pid)]
        return _kill_one(executors, chance)

    def _below(self) -> dict[int, int]:
        """The processes that the job started, and those that these did, with their parents."""
        parents = {int(path.name): _parent(path) for path in Path("/proc").iterdir() if path.name.isdigit()}
        below = {self._process.pid}
        while more := {pid for pid, parent in parents.items() if parent in below} - below:
            below |= more
        return {pid: parents[pid] for pid in below if pid in parents}

    def wait(self) -> int:
        return self._process.wait(MOST_SECONDS)


def _kill_one(processes: list[int], chance: random.Random) -> bool:
    if not processes:
        return False
    os.kill(chance.choice(sorted(processes)), signal.SIGKILL)
    return True


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return 0


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def wait_for(condition: Callable[[], bool], victim: Victim) -> bool:
    """Until something is so; whether it came to that before the job ended."""
    deadline = time.monotonic() + MOST_SECONDS
    while time.monotonic() < deadline:
        if condition():
            return True
        if victim.ended() is not None:
            return False
        time.sleep(0.05)
    raise AssertionError("the job does not move on")


def batches(folder: Path) -> int:
    """How many batches a checkpoint knows to be done."""
    found = [int(path.name) for path in folder.glob("commits/*") if path.name.isdigit()]
    return max(found, default=-1) + 1
