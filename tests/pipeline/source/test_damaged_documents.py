"""Damaged documents, read by everybody who reads: the same is kept, and the same is set aside at the same places.

The embedded engine by its fast ways and by its readers, the command line with and without a checkpoint and while following,
and the tasks of the source `rdf`: they must not differ in what they make of a document, however it is damaged.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from millstream import Engine, Limits, Rejected
from millstream.cli.run import embedded
from millstream.cli.run.arguments import StreamSource
from millstream.cli.run.context import Run, Stopped
from millstream.cli.run.options import RunOptions, RunQuery
from millstream.language import parse_query
from millstream.pipeline.source.files import Found as FoundFile
from millstream.pipeline.source.files import cuts_of
from millstream.pipeline.source.reading import count_elements
from millstream.pipeline.source.splits import Split
from millstream.pipeline.source.task_output import rows_of

STREAM = "http://e/stream"
QUERY = f"SELECT ?s ?p ?o WHERE {{ STREAM <{STREAM}> [RANGE 1ms] {{ ?s ?p ?o }} }}"
LIMITS = Limits(statement_bytes=300, literal_bytes=200)
PROV = "<http://www.w3.org/ns/prov#generatedAtTime>"
INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"

GOOD = [f'<http://e/s{n}> <http://e/p{n % 3}> "{n}" .' for n in range(6)]
BAD = [
    "bad .",
    '<http://e/a> <http://e/p> "left open .',
    "<http://e/a> <http://e/p> <<( <http://e/a> <http://e/p> 5 )>> .",
    "<http://e/a> <http://e/p> <<( <http://e/a> <http://e/p> <http://e/o> )>> .",
    '<http://e/a> <http://e/p> "a"@en--ltr .',
    f'<http://e/a> <http://e/p> "{"x" * 400}" .',
    f'<http://e/a> <http://e/p> "{"x" * 230}" .',
    f"<http://e/a> <http://e/p> <http://e/{'x' * 230}> .",
]
ONLY_TURTLE = [
    "<http://e/a> <http://e/p> <http://e/o> {| <http://e/q> 5 |} .",
    "<http://e/a> <http://e/p> <http://e/o> ~ <http://e/r> .",
    "<< <http://e/a> <http://e/p> <http://e/o> >> <http://e/q> 5 .",
]
TIMES = [2**59, -(2**59), 2**59 + 1, 2**63 - 1, 2**63, -(2**63)]
Row = tuple[int, str, str, str]
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Document:
    """A text, its format and where its times come from."""

    text: bytes
    format: str
    time: str | None = None


@dataclass(frozen=True)
class Found:
    """Triples with their times, and the lines of what was set aside."""

    kept: list[Row]
    lines: list[int | None]

    @classmethod
    def of(cls, kept: list[Row], lines: list[int | None]) -> Found:
        return cls(sorted(kept), sorted(lines, key=lambda line: -1 if line is None else line))


def lines_of(parts: list[str], bom: bool, format: str) -> Document:
    return Document(BOM * bom + ("\n".join(parts) + "\n").encode(), format, "rate:1000")


def graphs_of(times: list[int], bom: bool, format: str) -> Document:
    """Each graph with a time of its own; those that can be counted rise."""
    text = ""
    for number, at_ms in enumerate(times):
        graph, said = f"<http://g/{number}>", f'"{number if abs(at_ms) < 100 else at_ms}"^^{INTEGER}'
        triple = GOOD[number % len(GOOD)][:-1]
        text += f"{graph} {{ {triple} }}\n" if format == "trig" else f"{triple}{graph} .\n"
        text += f"{graph} {PROV} {said} .\n"
    return Document(BOM * bom + text.encode(), format)


DOCUMENTS = st.one_of(
    st.builds(lines_of, st.lists(st.sampled_from(GOOD + BAD), max_size=6), st.booleans(), st.sampled_from(["nt"])),
    st.builds(
        lines_of, st.lists(st.sampled_from(GOOD + BAD + ONLY_TURTLE), max_size=6), st.booleans(), st.sampled_from(["ttl"])
    ),
    st.builds(
        graphs_of, st.lists(st.sampled_from([0, 0, *TIMES]), max_size=5), st.booleans(), st.sampled_from(["nq", "trig"])
    ),
)


# Whoever reads -----------------------------------------------------------------------------------------------------------


def by_engine(document: Document, path: Path, *, lateness_ms: int = 0, from_bytes: bool = False) -> Found:
    engine = Engine(limits=LIMITS, lateness_ms=lateness_ms)
    query = engine.register(QUERY)
    source: object = document.text if from_bytes else path
    engine.read(STREAM, source, format=document.format, time=document.time)
    engine.finish()
    rows = query.take_table().to_pylist()
    rejected = engine.rejected()
    assert engine.stats["rejected"] == len(rejected)
    return Found.of([(r["at_ms"], r["s"], r["p"], r["o"]) for r in rows], [r.line for r in rejected])


class KeptRun(Run):
    """A run that keeps what it gives."""

    def emit(self, answers: Mapping[int, pa.Table]) -> None:
        self.rows = [*getattr(self, "rows", []), *(row for table in answers.values() for row in table.to_pylist())]

    def set_aside(self, rejected: Rejected) -> None:
        self.rejected = [*getattr(self, "rejected", []), rejected]


def by_command(document: Document, path: Path, *, checkpoint: bool = False, follow: bool = False, folder: Path) -> Found:
    options = RunOptions(
        queries=(RunQuery("q", QUERY, parse_query(QUERY)),),
        streams=(StreamSource(STREAM, str(path.parent if follow else path)),),
        time=document.time,
        output=str(folder / "answers.csv"),
        limits=LIMITS,
        follow=follow,
        idle_ms=1,
        checkpoint=folder / "checkpoint" if checkpoint else None,
    )
    run = KeptRun(options)
    if follow:
        threading.Thread(target=_stop_when_quiet, args=(run,), daemon=True).start()
    try:
        embedded.run(run)
    except Stopped:
        pass
    finally:
        run.close()
    rejected = getattr(run, "rejected", [])
    assert run.counts.set_aside == len(rejected)
    return Found.of([(r["at_ms"], r["s"], r["p"], r["o"]) for r in run.rows], [r.line for r in rejected])


def _stop_when_quiet(run: Run) -> None:
    before: object = None
    while (now := (run.counts.elements, run.counts.set_aside)) != before or not run.sinks:
        before = now
        time.sleep(0.5)
    run.stop.set()


def by_task(document: Document, path: Path, *, folder: Path, split_bytes: int = 1 << 20) -> Found:
    """As Spark's tasks, one after the other, each with its part."""
    file = FoundFile(str(path), path.stat().st_size)
    cuts = cuts_of(file, format=None, time=document.time, element=None, split_bytes=split_bytes)
    kept: list[Row] = []
    before = 0
    for number, (start, end) in enumerate(pairwise(cuts)):
        part = Split(path=str(path), start=start, end=end, sequence=number, time=document.time, limits=LIMITS)
        for batch in rows_of(part, before, str(folder / "letters")):
            kept += [(r["at_ms"], r["s"], r["p"], r["o"]) for r in batch.to_pylist()]
        before += count_elements(part)
    return Found.of(kept, [letter["line"] for letter in letters_in(folder / "letters")])


def letters_in(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()]


def written(document: Document, folder: Path) -> Path:
    path = folder / f"document.{document.format}"
    path.write_bytes(document.text)
    return path


# What they make of it ----------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DOCUMENTS, st.integers(40, 400))
def test_all_who_read_keep_the_same_and_set_the_same_aside(
    tmp_path_factory: pytest.TempPathFactory, document: Document, split_bytes: int
) -> None:
    folder = tmp_path_factory.mktemp("document")
    path = written(document, folder)
    expected = by_engine(document, path)
    assert by_engine(document, path, from_bytes=True) == expected
    assert by_engine(document, path, lateness_ms=1) == expected
    others = [folder / name for name in ("run", "saved", "task", "tasks")]
    for other in others:
        other.mkdir()
    assert by_command(document, path, folder=others[0]) == expected
    assert by_command(document, path, folder=others[1], checkpoint=True) == expected
    assert by_task(document, path, folder=others[2]) == expected
    assert by_task(document, path, folder=others[3], split_bytes=split_bytes) == expected


FIXED = [
    lines_of([*GOOD, *BAD, GOOD[0]], True, "nt"),
    lines_of([GOOD[0], *BAD, *ONLY_TURTLE, GOOD[1]], True, "ttl"),
    graphs_of([0, *TIMES, 0], True, "nq"),
    graphs_of([0, *TIMES, 0], False, "trig"),
]


@pytest.mark.parametrize("document", FIXED, ids=lambda document: document.format)
def test_a_damaged_document_costs_its_damaged_statements(document: Document, tmp_path: Path) -> None:
    found = by_engine(document, written(document, tmp_path))
    whole = document.text.decode("utf-8-sig").splitlines()
    if document.time is not None:
        good = [line for line in whole if line in GOOD]
        assert [f"{s} {p} {o} ." for _, s, p, o in found.kept] == good
        assert found.lines == [number for number, line in enumerate(whole, 1) if line not in GOOD]
    else:
        assert [at_ms for at_ms, *_ in found.kept] == [0, len(TIMES) + 1]
        assert len(found.lines) == 2 * len(TIMES)


@pytest.mark.parametrize("document", FIXED, ids=lambda document: document.format)
def test_who_follows_a_folder_is_not_stopped_by_a_damaged_document(document: Document, tmp_path: Path) -> None:
    folder, watched = tmp_path / "run", tmp_path / "watched"
    folder.mkdir()
    watched.mkdir()
    path = written(document, watched)
    assert by_command(document, path, folder=folder, follow=True) == by_engine(document, path)


def test_the_source_of_spark_reads_damaged_documents_as_the_engine_does(spark: SparkSession, tmp_path: Path) -> None:
    for number, document in enumerate(FIXED):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = written(document, folder)
        options = {"deadLetter": str(folder / "letters"), "statement_bytes": "300", "literal_bytes": "200"}
        if document.time is not None:
            options["time"] = document.time
        rows = spark.read.format("rdf").options(**options).load(str(path)).collect()
        kept = [(row["at_ms"], row["s"], row["p"], row["o"]) for row in rows]
        found = Found.of(kept, [letter["line"] for letter in letters_in(folder / "letters")])
        assert found == by_engine(document, path)


def test_rows_of_a_table_are_set_aside_as_statements_are(tmp_path: Path) -> None:
    cells = [line[:-2].split(" ", 2) for line in (*GOOD[:2], *BAD[3:], GOOD[2])]
    times = [*range(len(cells) - 1), 2**59]
    table = pa.table({name: [cell[i] for cell in cells] for i, name in enumerate("spo")} | {"at_ms": times})
    for lateness_ms in (0, 1):
        engine = Engine(limits=LIMITS, lateness_ms=lateness_ms)
        query = engine.register(QUERY)
        engine.push_table(STREAM, table)
        engine.finish()
        assert [row["s"] for row in query.take_table().to_pylist()] == ["<http://e/s0>", "<http://e/s1>"]
        assert [rejected.line for rejected in engine.rejected()] == list(range(3, len(cells) + 1))


@pytest.mark.parametrize("format", ["nt", "ttl"])
def test_a_dataset_loses_only_its_damaged_statements(format: str, tmp_path: Path) -> None:
    document = lines_of([*GOOD[:3], *BAD, *GOOD[3:]], True, format)
    for source in (document.text, written(document, tmp_path)):
        engine = Engine(limits=LIMITS)
        assert engine.load(source, format=format) == len(GOOD)
        assert [rejected.line for rejected in engine.rejected()] == list(range(4, 4 + len(BAD)))


def test_a_rate_that_leads_beyond_all_times_sets_elements_aside(tmp_path: Path) -> None:
    document = Document(("\n".join(GOOD) + "\n").encode(), "nt", "rate:0.000000000000003")
    path = written(document, tmp_path)
    found = by_engine(document, path)
    assert [at_ms for at_ms, *_ in found.kept] == [0, 333333333333333333]
    assert found.lines == [None] * 4
    assert by_command(document, path, folder=tmp_path) == found
