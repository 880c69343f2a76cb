"""The example of taxi routes on Spark, in the session that tests share: its answers, its README, its picture."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from typer.testing import CliRunner

from examples.taxis import __main__ as taxis
from examples.taxis import data
from millstream import Engine
from millstream.cli.main import app


def mapped(folder: Path, trips: int = data.TRIPS) -> None:
    rows = data.write(folder, trips)
    (folder / "trips").mkdir()
    command = [
        "map",
        str(rows),
        "--template",
        str(taxis.HERE / "trips.toml"),
        "--output",
        str(folder / "trips" / "trips.nq"),
    ]
    assert CliRunner().invoke(app, command).exit_code == 0


def test_the_picture_and_the_answers_shown_are_those_of_the_job(spark: SparkSession, tmp_path: Path) -> None:
    mapped(tmp_path)
    changes = taxis.run(spark, tmp_path)
    tops = taxis.every_step(changes)
    taxis.draw(tops).write(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text() == (taxis.HERE / "picture.svg").read_text()
    readme = (taxis.HERE / "README.md").read_text("utf-8")
    for at_ms in list(tops)[2::6]:
        shown = ", ".join(f"{route} ({trips})" for route, trips in tops[at_ms])
        assert f"{(at_ms - taxis.FIRST_MS) // 60_000:>3} min  {shown}\n" in readme


def test_the_job_answers_as_one_process_does(spark: SparkSession, tmp_path: Path) -> None:
    mapped(tmp_path, 300)
    engine = Engine()
    query = engine.register((taxis.HERE / "routes.rq").read_text("utf-8"))
    engine.read(taxis.TAXI + "trips", tmp_path / "trips")
    engine.finish()
    expected = []
    for answer in query.take():
        values = answer.python()
        names = [str(values[end]).removeprefix(taxis.TAXI) for end in ("from", "to")]
        expected.append((answer.at_ms, answer.weight, " to ".join(names), values["trips"]))
    assert taxis.run(spark, tmp_path) == sorted(expected)
