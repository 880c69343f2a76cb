"""Everything that is kept or sent as bytes, damaged: refused with an error of ours, or of use."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from millstream import Engine, MillstreamError
from millstream.pipeline.datasets.loading import load_datasets
from millstream.pipeline.datasets.static import StaticData
from millstream.pipeline.job.specification import JobSpec, StreamedSource, job_spec
from millstream.pipeline.state.change_log import ChangeLog, bucket_log, cell_log
from tests.fuzz import garbage
from tests.pipeline.simulation import DictStore, Element, Job

STREAM = "http://e/s"
QUERIES = (
    "SELECT * { STREAM <http://e/s> [RANGE 10] { ?a <http://e/p> ?b . ?b <http://e/q> ?c } ?c <http://e/r> ?d }",
    "SELECT (COUNT(*) AS ?n) { STREAM <http://e/s> [RANGE 10] { ?a <http://e/p> ?b . ?b <http://e/q> ?c } }",
    "SELECT * { STREAM <http://e/s> [ALL] { ?a <http://e/p> ?b } } ORDER BY ?b LIMIT 2",
    "SELECT ?a (SUM(?b) AS ?n) { STREAM <http://e/s> [RANGE 6 STEP 2] { ?a ?p ?b } } GROUP BY ?a",
)


def snapshot(chance: Random) -> None:
    """A snapshot with bytes changed is refused, or is one."""
    whole = _snapshot(chance.randrange(len(QUERIES)))
    try:
        engine = Engine.restore(garbage.damaged(chance, whole))
        engine.push(STREAM, "<http://e/a> <http://e/p> <http://e/b> .", at_ms=engine.clock_ms + 1)
        engine.finish()
    except MillstreamError as error:
        str(error)


@cache
def _snapshot(number: int) -> bytes:
    engine = Engine(lateness_ms=2)
    engine.register(QUERIES[number], "changes")
    engine.insert(_lines(Random(number), 5), at_ms=0)
    for at_ms in range(1, 9):
        engine.push(STREAM, _lines(Random(at_ms), 3), at_ms=at_ms)
    return engine.snapshot()


def _lines(chance: Random, count: int) -> str:
    names = [f"<http://e/{letter}>" for letter in "abcd"]
    return "\n".join(
        f"{chance.choice(names)} <http://e/{chance.choice('pqr')}> {chance.choice(names)} ." for _ in range(count)
    )


# Spark's cells ----------------------------------------------------------------------------------------------------------


class _Kept:
    """A cell, or the second stage, after a few triggers: what is in its store, and the blobs of the next."""

    def __init__(self, log: ChangeLog[Any], store: DictStore, blobs: list[bytes]) -> None:
        self.log = log
        self.store = store
        self.blobs = blobs


@cache
def _kept(number: int, cells: int) -> tuple[_Kept, ...]:
    plan = job_spec(QUERIES[number], [StreamedSource(STREAM)], cells=cells, output="changes", lateness_ms=2)
    static = load_datasets({None: _lines(Random(7), 6).encode()}, plan, lambda rejected: None, format="nt").static
    job = _Recording(plan, static)
    for at_ms in range(5):
        job.trigger([[Element(tuple(_lines(Random(at_ms), 3).splitlines()), at_ms)]])
    return job.last()


class _Recording(Job):
    """Remembers the blobs of the last trigger."""

    def __init__(self, plan: JobSpec, static: StaticData) -> None:
        super().__init__(plan, static, 0, calm=True)
        self._last: dict[int, tuple[ChangeLog[Any], DictStore, list[bytes]]] = {}

    def _take(self, cell: int, log: ChangeLog[Any], blobs: list[bytes]) -> list[list[bytes]]:
        before = DictStore(dict(self._stores[cell].committed))
        self._last[cell] = log, before, blobs
        return super()._take(cell, log, blobs)

    def last(self) -> tuple[_Kept, ...]:
        return tuple(_Kept(*self._last[cell]) for cell in sorted(self._last))


def blobs(chance: Random) -> None:
    """Damaged blobs, slices and ledgers: a cell takes them, or refuses them as what they are."""
    kept = chance.choice(_kept(chance.randrange(len(QUERIES)), chance.choice([1, 2])))
    store, given = DictStore(dict(kept.store.committed)), list(kept.blobs)
    if chance.random() < 0.5:
        place = chance.randrange(len(given))
        given[place] = garbage.damaged(chance, given[place])
    else:
        key = chance.choice(list(store.committed))
        data = store.committed[key]
        if isinstance(data, str):
            store.committed[key] = garbage.damaged(chance, data.encode()).decode("utf-8", "replace")
        else:
            store.committed[key] = garbage.damaged(chance, data)
    _refused(lambda: kept.log.take(store, None, given))


def static(chance: Random) -> None:
    """Damaged datasets of a job."""
    plan = _plan(chance.choice([1, 2]))
    whole = load_datasets({None: _lines(Random(7), 6).encode()}, plan, lambda rejected: None, format="nt").static.to_bytes()

    def use() -> None:
        data = StaticData.from_bytes(garbage.damaged(chance, whole))
        log = cell_log(plan, 0, data) if plan.stages is None or chance.random() < 0.5 else bucket_log(plan)
        log._make()

    _refused(use)


@cache
def _plan(cells: int) -> JobSpec:
    return job_spec(QUERIES[0], [StreamedSource(STREAM)], cells=cells, output="changes")


def _refused(use: Callable[[], Any]) -> None:
    try:
        use()
    except MillstreamError as error:
        garbage.check_told(error)


# The command line's checkpoint ------------------------------------------------------------------------------------------


def checkpoint(chance: Random) -> None:
    """A run over a damaged checkpoint goes on, or ends with a message."""
    from typer.testing import CliRunner

    from millstream.cli.main import app

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _prepare(folder)
        arguments = ["run", "--engine", "embedded", str(folder / "q.rq"), "--stream", f"{STREAM}={folder / 's.nq'}"]
        arguments += ["--checkpoint", str(folder / "kept"), "--output", str(folder / "out.csv")]
        runner = CliRunner()
        assert runner.invoke(app, arguments).exit_code == 0
        file = folder / "kept" / "embedded.checkpoint"
        whole = file.read_bytes()
        head = whole.index(b"\n")
        if chance.random() < 0.7:
            file.write_bytes(garbage.damaged(chance, whole[:head]) + whole[head:])
        else:
            file.write_bytes(garbage.damaged(chance, whole))
        if chance.random() < 0.3:
            (folder / "out.csv").write_bytes(garbage.damaged(chance, (folder / "out.csv").read_bytes()))
        (folder / "s.nq").write_bytes((folder / "s.nq").read_bytes() + _element(9))
        result = runner.invoke(app, arguments)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code in (0, 1, 2)


def _prepare(folder: Path) -> None:
    (folder / "q.rq").write_text("SELECT CHANGES * { STREAM <http://e/s> [RANGE 100ms] { ?a <http://e/p> ?b } }")
    (folder / "s.nq").write_bytes(b"".join(_element(at_ms) for at_ms in range(4)))


def _element(at_ms: int) -> bytes:
    return (
        f"<http://e/a{at_ms}> <http://e/p> <http://e/b> <http://g/{at_ms}> .\n"
        f"<http://g/{at_ms}> <http://www.w3.org/ns/prov#generatedAtTime> "
        f'"{at_ms}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    ).encode()
