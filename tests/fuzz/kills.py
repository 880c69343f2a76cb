"""`python -m tests.fuzz.kills --seconds 600 [--seed 7]`: kills runs at random until the time is over; nothing may be lost.

Each round picks what is killed (with SIGKILL: a run in one process, a whole Spark job, one of its Python workers, one
executor of a cluster) and how the job is built (one stage, two stages, or following files that keep coming), starts it
again until it is done, and compares what it wrote with what the engine answers undisturbed.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark

from tests.pipeline import victims
from tests.pipeline.simulation import Row
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

WHAT = ("a run in one process", "the job", "a worker", "an executor")
HOW = ("one stage", "two stages", "following")
PROGRAM = str(Path(sys.executable).with_name("millstream"))
CLUSTER = "local-cluster[2,1,1024]"
# A worker that dies may fail its job, which then goes on when it is started again; more often than that is no accident.
MOST_STARTS = 12


@dataclass
class Round:
    """One run that is killed some times."""

    folder: Path
    what: str
    how: str
    chance: random.Random
    kills: int = 0
    starts: int = 0
    victim: Victim | None = None

    def __post_init__(self) -> None:
        self.query = (
            COUNTED if self.how == "two stages" or (self.how == "following" and self.chance.random() < 0.5) else QUERY
        )
        self.embedded = self.what == WHAT[0]
        self.log = self.folder / "run.log"
        self.files = 300 if self.embedded else self.chance.randrange(6, 12)
        write_input(self.folder, self.files, self.chance.randrange(1 << 30))
        (self.folder / "q.rq").write_text(self.query)
        (self.folder / "job.py").write_text(SCRIPT)

    # Starting ---------------------------------------------------------------------------------------------------------

    def start(self, *, last: bool = False) -> Victim:
        self.starts += 1
        assert self.starts <= MOST_STARTS, f"it does not end\n{self.tail()}"
        master = CLUSTER if self.what == "an executor" else self.chance.choice(["local[2]", "local[2,4]"])
        if not self.embedded and self.how != "following":
            self.victim = Victim(sys.executable, self.folder / "job.py", self.folder, master, self.query, log=self.log)
            return self.victim
        command: list[str | Path] = [
            PROGRAM, "run", self.folder / "q.rq", "--engine", "embedded" if self.embedded else "spark", "--master", master,
            "--cells", "2", "--stream", f"{STREAM}={self.folder / 'in'}", "--dataset", self.folder / "static.nt",
            "--time", "rate:100", "--checkpoint", self.folder / "checkpoint", "--checkpoint-every", "0.02s",
            "--output", self.folder / "out.csv",
        ]  # fmt: skip
        follow = ["--follow"] if self.how == "following" and not last else []
        self.victim = Victim(*command, *follow, log=self.log)
        return self.victim

    def stop(self) -> None:
        """Leaves nothing running."""
        if self.victim is not None and self.victim.ended() is None:
            self.victim.kill()

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-3000:]

    def done(self) -> int:
        """How far it is: batches that are done, or checkpoints that were made."""
        if self.embedded:
            kept = self.folder / "checkpoint" / "embedded.checkpoint"
            return kept.stat().st_mtime_ns if kept.exists() else 0
        return batches(self.folder / "checkpoint" / ("0-q" if self.how == "following" else "."))

    # Killing ----------------------------------------------------------------------------------------------------------

    def play(self) -> None:
        victim: Victim | None = None
        for _ in range(self.chance.randrange(1, 4)):
            victim = victim if victim is not None and victim.ended() is None else self.start()
            before = self.done()
            if self.how == "following":
                for _ in range(self.chance.randrange(1, 4)):
                    write_file(self.folder / "in", self.files, self.chance)
                    self.files += 1
            if self.chance.random() < 0.8:
                # Else while it starts.
                wait_for(lambda before=before: self.done() > before, victim)  # type: ignore[misc]
            time.sleep(self.chance.random() * (0.5 if self.embedded else 1.5))
            if victim.ended() is None:
                victim = self.kill(victim)
        if self.how == "following" and victim is not None and victim.ended() is None:
            victim.kill()
            self.kills += 1
            victim = None
        while victim is None or victim.wait():
            victim = self.start(last=True)

    def kill(self, victim: Victim) -> Victim | None:
        match self.what:
            case "a worker":
                self.kills += victim.kill_a_worker(self.chance)
            case "an executor":
                self.kills += victim.kill_an_executor(self.chance)
            case _:
                victim.kill()
                self.kills += 1
                return None
        return victim

    # Comparing --------------------------------------------------------------------------------------------------------

    def answers(self) -> Counter[Row]:
        if self.embedded or self.how == "following":
            with (self.folder / "out.csv").open(newline="") as file:
                return Counter((int(r[0]), int(r[1]), tuple(r[2:])) for r in list(csv.reader(file))[1:])
        return Counter((r["at_ms"], r["weight"], _plain(list(r.values())[2:])) for r in _sink(self.folder / "answers"))

    def check(self) -> int:
        """Raises if anything is lost or there twice; gives how many answers there are."""
        wanted = Counter(
            {(at, weight, _plain(row)): n for (at, weight, row), n in expected(self.folder, self.query).items()}
        )
        found = self.answers()
        assert found == wanted, f"{(wanted - found).total()} lost, {(found - wanted).total()} too many\n{self.tail()}"
        if self.embedded:
            self._compare_bytes()
        return wanted.total()

    def _compare_bytes(self) -> None:
        """In one process also the order is the same."""
        whole = self.folder / "undisturbed"
        whole.mkdir()
        for name in ("in", "static.nt", "q.rq"):
            (whole / name).symlink_to(self.folder / name)
        again = Round.__new__(Round)
        again.folder, again.what, again.how, again.chance, again.starts = whole, self.what, self.how, self.chance, 0
        again.query, again.embedded, again.log = self.query, True, whole / "run.log"
        assert again.start(last=True).wait() == 0, again.tail()
        assert (whole / "out.csv").read_bytes() == (self.folder / "out.csv").read_bytes()


def _plain(row: object) -> tuple[str, ...]:
    """Terms as CSV has them."""
    assert isinstance(row, tuple | list)
    return tuple("" if term is None else str(term).strip("<>").partition('"^^')[0].strip('"') for term in row)


def _sink(folder: Path) -> list[dict[str, object]]:
    """The rows of a Parquet sink: of the files that its log names, since a batch that was cut off leaves others."""
    names = set()
    for log in (folder / "_spark_metadata").glob("*"):
        if log.name.split(".")[0].isdigit():
            names.update(json.loads(line)["path"] for line in log.read_text().splitlines()[1:])
    tables = [pq.read_table(unquote(urlparse(name).path)) for name in sorted(names)]
    return pa.concat_tables(tables).to_pylist() if tables else []


def main(arguments: list[str] | None = None, say: Callable[[str], None] = lambda line: print(line, flush=True)) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.kills", description="Kills runs; nothing may be lost.")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, help="only the round of this seed")
    parser.add_argument("--what", choices=WHAT, help="all of them by default")
    parser.add_argument("--how", choices=HOW, help="all of them by default")
    chosen = parser.parse_args(arguments)
    # A machine that does much else is slow, and that is not what is looked for.
    victims.MOST_SECONDS = 600
    seed = time.time_ns() if chosen.seed is None else chosen.seed
    begun = time.monotonic()
    kills = runs = 0
    while time.monotonic() < begun + chosen.seconds:
        chance = random.Random(seed)
        what, how = chosen.what or chance.choice(WHAT), chosen.how or chance.choice(HOW)
        folder = Path(tempfile.mkdtemp(prefix="millstream-kills-"))
        work = Path(pyspark.__path__[0]) / "work"
        before = set(work.glob("*"))
        round = Round(folder, what, how, chance)
        try:
            round.play()
            answers = round.check()
        except (AssertionError, TimeoutError) as error:
            say(f"{what}, {how}: failed with --seed {seed}, see {folder}: {error}")
            return 1
        finally:
            round.stop()
        shutil.rmtree(folder)
        for left in set(work.glob("*")) - before:
            shutil.rmtree(left, ignore_errors=True)
        kills, runs = kills + round.kills, runs + 1
        passed = time.monotonic() - begun
        say(f"{passed:5.0f} s: {what}, {how}: {round.kills} kills, {answers} answers, nothing lost ({kills} kills so far)")
        if chosen.seed is not None:
            break
        seed += 1
    say(f"{kills} kills, {runs} runs, nothing lost")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
