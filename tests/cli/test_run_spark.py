"""`millstream run` on Spark, as far as it can be told before Spark starts; the rest is in the tests of the pipeline."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import SEEN, millstream


@pytest.mark.parametrize(
    ("option", "value"), [("--stream", "http://e/a=a.nt"), ("--dataset", "a.nt"), ("--dataset", "http://e/g=a.nt")]
)
def test_a_source_that_is_given_twice_is_refused(tmp_path: Path, option: str, value: str) -> None:
    (tmp_path / "q.rq").write_text(SEEN)
    (tmp_path / "a.nt").write_text("<http://e/x> <http://e/p> <http://e/y> .\n")
    given = ("--stream", "http://e/a=a.nt") if option != "--stream" else ()
    found = millstream("run", "q.rq", *given, option, value, option, value, "--time", "rate:1", cwd=tmp_path, code=2)
    assert "is given twice" in found.stderr


def test_changes_without_a_time_are_refused_with_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "q.rq").write_text(SEEN)
    (tmp_path / "a.nq").touch()
    (tmp_path / "c.rdfp").touch()
    given = ("--stream", "http://e/a=a.nq", "--changes", "c.rdfp")
    found = millstream("run", "q.rq", "--engine", "spark", *given, cwd=tmp_path, code=2)
    assert "on Spark changes need a time" in found.stderr
    assert "--changes-time rate:N or arrival" in found.stderr


def test_a_query_that_reads_what_another_constructs_is_refused(tmp_path: Path) -> None:
    made = "REGISTER ISTREAM <http://e/made> AS CONSTRUCT { ?x <http://e/q> ?y } { STREAM <http://e/a> [NOW] { ?x ?p ?y } }"
    (tmp_path / "made.rq").write_text(made)
    (tmp_path / "read.rq").write_text("SELECT * { STREAM <http://e/made> [NOW] { ?x ?p ?y } }")
    (tmp_path / "a.nt").write_text("<http://e/x> <http://e/p> <http://e/y> .\n")
    given = ("--stream", "http://e/a=a.nt", "--time", "rate:1", "--engine", "spark")
    found = millstream("run", "made.rq", "read.rq", *given, cwd=tmp_path, code=2)
    assert "read reads <http://e/made>, which made constructs" in found.stderr
