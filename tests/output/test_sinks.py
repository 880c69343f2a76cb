"""Sinks: what is committed stays, what is not is written again once, whatever fails in between."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import millstream as ms

TEXT = """
PREFIX : <http://e/>
SELECT CHANGES ?x ?query WHERE { STREAM :s [RANGE 1s] { ?x :p ?o OPTIONAL { ?o :q ?query } } }"""
INTEGER = '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'
TERMS = st.sampled_from(["<http://e/x>", '"a\\tb, \\"c\\"\\n"@en', INTEGER, "_:b", None])
FORMATS = st.sampled_from(["csv", "tsv", "json", "ndjson"])
ROWS = st.lists(st.tuples(st.integers(0, 50), st.sampled_from([1, -1]), TERMS, TERMS), max_size=4)


def table(rows: list[tuple[Any, ...]], names: tuple[str, ...] = ("x", "query")) -> pa.Table:
    columns = [[row[place] for row in rows] for place in range(2 + len(names))]
    types = [pa.int64(), pa.int64(), *([pa.string()] * len(names))]
    return pa.table([pa.array(c, t) for c, t in zip(columns, types, strict=True)], names=["at_ms", "weight", *names])


class Ten(list[Any]):
    """A sink of ten lines: rows in a list, its length the position."""

    def open(self, position: bytes | None) -> None:
        del self[int(position or 0) :]

    def write(self, answers: pa.Table) -> None:
        self.extend(answers.to_pylist())

    def commit(self) -> bytes:
        return b"%d" % len(self)

    def close(self) -> None:
        pass


class Failing(Ten):
    """Fails once in the middle of what it writes, or when it commits."""

    fails_at = ""

    def write(self, answers: pa.Table) -> None:
        if self.fails_at == "write":
            self.append("a part")
            raise OSError("no room")
        super().write(answers)

    def commit(self) -> bytes:
        if self.fails_at == "commit":
            raise OSError("no room")
        return super().commit()


def pushed() -> tuple[ms.Engine, ms.ContinuousQuery]:
    engine = ms.Engine()
    query = engine.register(TEXT)
    engine.push("http://e/s", "<http://e/a> <http://e/p> <http://e/b> .", at_ms=0)
    return engine, query


# A user's own ----------------------------------------------------------------------------------------------------------


def test_a_sink_gets_what_was_emitted_since_the_last_take() -> None:
    engine, query = pushed()
    sink = Ten()
    assert isinstance(sink, ms.Sink)
    sink.open(None)
    assert query.to(sink) == b"1"
    assert query.to(sink) == b"1"
    engine.advance_to(1000)
    assert query.to(sink) == b"2"
    assert query.take() == []
    assert [(row["at_ms"], row["weight"], row["x"], row["query"]) for row in sink] == [
        (0, 1, "<http://e/a>", None),
        (1000, -1, "<http://e/a>", None),
    ]


@pytest.mark.parametrize("fails_at", ["write", "commit"])
@pytest.mark.parametrize("closed", [False, True])
def test_a_sink_that_fails_takes_nothing(fails_at: str, closed: bool) -> None:
    engine, query = pushed()
    sink = Failing()
    sink.open(None)
    position = query.to(sink)
    engine.advance_to(1000)
    if closed:
        query.close()
    sink.fails_at = fails_at
    with pytest.raises(OSError, match="no room"):
        query.to(sink)
    assert query.stats["pending"] == 1
    sink.fails_at = ""
    sink.open(position)
    query.to(sink)
    assert [row["at_ms"] for row in sink] == [0, 1000]
    assert query.stats["pending"] == 0


def test_a_sink_may_push_and_what_that_brings_waits() -> None:
    engine, query = pushed()

    class Pushing(Ten):
        def write(self, answers: pa.Table) -> None:
            super().write(answers)
            engine.push("http://e/s", f"<http://e/{len(self)}> <http://e/p> <http://e/b> .", at_ms=len(self))

    sink = Pushing()
    query.to(sink)
    query.to(sink)
    assert [row["x"] for row in sink] == ["<http://e/a>", "<http://e/1>"]
    assert [answer.bindings["x"].value for answer in query.take()] == ["http://e/2"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(["push", "to", "save", "crash"]), max_size=30))
def test_with_snapshots_each_answer_is_written_once(steps: list[str]) -> None:
    alone, sink = Ten(), Ten()
    engine, query = pushed()
    plain, plain_query = pushed()
    saved, pushes = (engine.snapshot(), b"0", 0), 0
    for step in [*steps, "to"]:
        if step == "push":
            engine.push("http://e/s", f"<http://e/{pushes}> <http://e/p> <http://e/b> .", at_ms=100 * pushes)
            pushes += 1
        elif step == "crash":
            data, position, pushes = saved
            engine = ms.Engine.restore(data)
            [query] = engine.queries
            sink.open(position)
        else:
            position = query.to(sink)
            if step == "save":
                saved = (engine.snapshot(), position, pushes)
    for number in range(pushes):
        plain.push("http://e/s", f"<http://e/{number}> <http://e/p> <http://e/b> .", at_ms=100 * number)
    plain_query.to(alone)
    assert sink == alone


# The formats -----------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(format=FORMATS, batches=st.lists(st.tuples(ROWS, st.booleans()), max_size=6))
def test_a_file_goes_on_from_any_commit_as_if_nothing_had_happened(
    tmp_path_factory: pytest.TempPathFactory, format: str, batches: list[tuple[list[Any], bool]]
) -> None:
    folder = tmp_path_factory.mktemp("sinks")
    whole, broken = (ms.file_sink(folder / name, ("x", "query"), format) for name in ("whole", "broken"))
    for sink in (whole, broken):
        sink.open(None)
    position = broken.commit()
    for rows, crashes in batches:
        whole.write(table(rows))
        if crashes:
            broken.write(table(rows))
            broken.close()
            broken = ms.file_sink(folder / "broken", ("x", "query"), format)
            broken.open(position)
        broken.write(table(rows))
        position = broken.commit()
    for sink in (whole, broken):
        sink.close()
        sink.close()
    assert (folder / "broken").read_bytes() == (folder / "whole").read_bytes()
    if format == "json":
        assert len(json.loads((folder / "whole").read_bytes())["results"]["bindings"]) == sum(len(r) for r, _ in batches)


def test_a_variable_may_be_called_query(tmp_path: Path) -> None:
    rows = [(5, 1, "<http://e/x>", None), (6, 1, "<http://e/x>", '"7"')]
    for format in ("csv", "ndjson", "table"):
        sink = ms.file_sink(tmp_path / format, ("x", "query"), format)
        sink.open(None)
        sink.write(table(rows))
        sink.close()
    lines = [json.loads(line) for line in (tmp_path / "ndjson").read_text().splitlines()]
    assert [list(line["bindings"]) for line in lines] == [["x"], ["x", "query"]]
    found = list(csv.reader(io.StringIO((tmp_path / "csv").read_text())))
    assert found == [["at_ms", "weight", "x", "query"], ["5", "1", "http://e/x", ""], ["6", "1", "http://e/x", "7"]]
    assert (tmp_path / "table").read_text().splitlines()[0].split() == ["at", "x", "query"]


def test_graphs_of_n_quads_keep_their_names_when_a_file_goes_on(tmp_path: Path) -> None:
    names = ("subject", "predicate", "object")
    sink = ms.file_sink(tmp_path / "a.nq", names)
    sink.open(None)
    for at_ms in (1, 2):
        sink.write(table([(at_ms, 1, "<x:s>", "<x:p>", "<x:o>"), (at_ms, -1, "<x:gone>", "<x:p>", "<x:o>")], names))
        position = sink.commit()
        sink.close()
        sink.open(position)
    sink.close()
    quads = [line.split() for line in (tmp_path / "a.nq").read_text().splitlines()]
    assert len({quad[3] for quad in quads if quad[0] == "<x:s>"}) == 2
    assert not any("gone" in part for quad in quads for part in quad)


def test_parquet_is_complete_once_closed_and_is_never_continued(tmp_path: Path) -> None:
    sink = ms.file_sink(tmp_path / "a.parquet", ("x", "query"))
    sink.open(None)
    rows = [(5, 1, "<http://e/x>", None)]
    sink.write(table(rows))
    position = sink.commit()
    sink.close()
    assert pq.read_table(tmp_path / "a.parquet").equals(table(rows))
    with pytest.raises(ms.OptionError, match=r"a\.parquet: Parquet files cannot be continued"):
        sink.open(position)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("a.xyz", (), "xyz"), r"format xyz: not known; it is one of table, csv"),
        (("a.nq", ("x",)), r"nquads is for answers of CONSTRUCT"),
    ],
)
def test_what_cannot_be_is_told_when_a_sink_is_made(arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(ms.OptionError, match=said):
        ms.file_sink(*arguments)


@pytest.mark.parametrize("position", [b"", b"garbage", b"-1", b"99"])
def test_a_position_of_something_else_is_refused(tmp_path: Path, position: bytes) -> None:
    (tmp_path / "a.csv").write_text("short")
    with pytest.raises(ms.OptionError, match=r"a\.csv: "):
        ms.file_sink(tmp_path / "a.csv", ("x",)).open(position)
    assert (tmp_path / "a.csv").read_text() == "short"
