"""Datasets of a job: read by the driver or by Spark, whole or in parts, they are the same triples with the same faults."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from millstream import Engine, pipeline
from millstream.errors import DataError, MillstreamError
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.pipeline.datasets import loading
from millstream.pipeline.datasets.datasets import FAULT, packed_by_task
from millstream.pipeline.datasets.loading import Loaded, load_datasets
from millstream.pipeline.job.continuous import plan_job
from millstream.pipeline.job.specification import JobSpec, StreamedSource, job_spec
from millstream.pipeline.runtime.failures import complaint_of
from millstream.pipeline.source.splits import Split
from millstream.rdf import Rejected
from tests.pipeline.feeding import run, written

S = StreamedSource("http://e/s")
STREAM = "STREAM <http://e/s> [RANGE 5s] { ?a <http://e/at> ?b }"
VIEWS = f"SELECT * {{ {STREAM} ?b <http://e/p> ?c GRAPH <http://e/g> {{ ?c <http://e/q> ?d }} }}"
AHEAD = f"SELECT * {{ {STREAM} OPTIONAL {{ ?b <http://e/p> ?c . ?c <http://e/q> ?d }} GRAPH ?g {{ ?b ?p ?e }} }}"


def planned(query: str, *, changing: bool = False) -> JobSpec:
    return job_spec(query, [S, StreamedSource(None, changes=True)] if changing else [S], cells=2)


def triples(loaded: Loaded) -> Counter[tuple[str | None, str, str, str]]:
    dictionary = Dictionary()
    found: Counter[tuple[str | None, str, str, str]] = Counter()
    for graph, ids in loaded.static.triples(dictionary):
        columns = [dictionary.decode(ids[:, i].copy()).to_pylist() for i in range(3)]
        found.update((graph, str(s), str(p), str(o)) for s, p, o in zip(*columns, strict=True))
    return found


def write_all_formats(folder: Path) -> None:
    """Files of every way of reading, with blank nodes, repeats, other graphs and things that are wrong."""
    folder.mkdir()
    lines = [f"<http://e/n{i}> <http://e/{'pqx'[i % 3]}> <http://e/n{i + 1}> .\n" for i in range(60)]
    (folder / "a.nt").write_text("".join(lines[:30]) + "no statement\n" + "".join(lines[20:]) + "_:b <http://e/p> _:b .\n")
    with gzip.open(folder / "b.nt.gz", "wt") as file:
        file.write("".join(lines) + "<http://e/z> <http://e/p> <no iri> .\n_:b <http://e/p> <http://e/z> .\n")
    (folder / "c.nq").write_text("".join(f"{line[:-2]}<http://e/{'gh'[i % 2]}> .\n" for i, line in enumerate(lines)))
    (folder / "d.ttl").write_text("@prefix e: <http://e/> . e:n1 e:p e:n2, [ e:q 1 ] .\ne:n2 e:p . \n e:n3 e:q 01 .\n")
    (folder / "e.trig").write_text("@prefix e: <http://e/> . e:g { e:n1 e:q e:n4 } e:n4 e:p e:n1 .\n")
    (folder / "f.jsonl").write_text('{"@id": "http://e/n5", "http://e/p": {"@id": "http://e/n6"}}\n')
    pyarrow.csv.write_csv(pa.table({"s": ["<http://e/n7>"], "p": ["<http://e/q>"], "o": ['"seven"']}), folder / "g.csv")
    (folder / "h.unknown").write_text("what is this")
    (folder / "_hidden.nt").write_text(lines[0])


@pytest.fixture
def always_by_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "LARGE_BYTES", 0)
    monkeypatch.setattr(loading, "SPLIT_BYTES", 500)


def in_the_engine(folder: Path) -> tuple[Counter[tuple[str | None, str, str, str]], list[Rejected]]:
    engine = Engine()
    for graph in (None, "http://e/g"):
        engine.load(str(folder), graph=graph)
    query = engine.register("SELECT * { ?s ?p ?o }")
    named = engine.register("SELECT * { GRAPH ?g { ?s ?p ?o } }")
    found = Counter((None, str(b["s"]), str(b["p"]), str(b["o"])) for b in query.solutions())
    found.update((b["g"].value, str(b["s"]), str(b["p"]), str(b["o"])) for b in named.solutions())
    return found, list(engine.rejected())


def without_labels(found: Counter[tuple[str | None, str, str, str]]) -> Counter[tuple[str | None, str, str, str]]:
    return Counter((g, *("_:" if t.startswith("_:") else t for t in terms)) for g, *terms in found)  # type: ignore[misc]


@pytest.mark.usefixtures("always_by_spark")
@pytest.mark.parametrize("query", [VIEWS, AHEAD])
def test_spark_reads_what_the_driver_reads(spark: SparkSession, tmp_path: Path, query: str) -> None:
    write_all_formats(tmp_path / "data")
    datasets = {None: tmp_path / "data", "http://e/g": str(tmp_path / "data")}
    by_driver: list[Rejected] = []
    by_spark: list[Rejected] = []
    here = load_datasets(datasets, planned(query), by_driver.append)
    there = load_datasets(datasets, planned(query), by_spark.append, spark=spark)
    assert triples(here) == triples(there)
    assert here.digest == there.digest
    assert sorted(map(str, by_driver)) == sorted(map(str, by_spark))
    assert Counter(r.reason for r in by_driver) == Counter(r.reason for r in in_the_engine(tmp_path / "data")[1])
    assert {(Path(r.source).name, r.line) for r in by_spark} >= {("a.nt", 31), ("b.nt.gz", 61), ("h.unknown", None)}
    if query is VIEWS:
        wanted = {(None, "<http://e/p>"), ("http://e/g", "<http://e/q>")}
        kept = Counter({quad: 1 for quad in in_the_engine(tmp_path / "data")[0] if (quad[0], quad[2]) in wanted})
        assert without_labels(Counter(set(triples(there)))) == without_labels(kept)


def test_what_may_change_is_read_whole_where_everything_counts(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text("<http://e/a> <http://e/unread> <http://e/b> .\n")
    everything = planned("SELECT ISTREAM * { GRAPH ?g { ?a <http://e/p> ?b } }", changing=True)
    assert sum(triples(load_datasets({None: tmp_path / "a.nt"}, everything, print)).values()) == 1
    assert not triples(load_datasets({None: tmp_path / "a.nt"}, planned(VIEWS), print))


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "a.nt"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("<http://e/a> <http://e/p> <http://e/b> .\n",), daemon=True)
    writer.start()
    assert sum(triples(load_datasets({None: pipe}, planned(VIEWS), print)).values()) == 1
    writer.join()


def test_a_digest_tells_datasets_apart_and_not_how_they_are_cut(tmp_path: Path) -> None:
    one, other = "<http://e/a> <http://e/p> <http://e/b> .\n", "<http://e/b> <http://e/p> <http://e/a> .\n"

    def digest(texts: list[str], graph: str | None = None) -> str:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for number, text in enumerate(texts):
            (folder / f"{number}.nt").write_text(text)
        return load_datasets({graph: folder}, planned(AHEAD), print).digest

    first = digest([one + other])
    assert first == digest([other, one])
    unread = "<http://e/a> <http://e/unread> <http://e/b> .\n"
    assert len({first, digest([one]), digest([other]), digest([one + other], "http://e/g"), digest([])}) == 5
    assert first == digest([unread, one, other])


def test_a_file_that_cannot_be_read_is_told_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.nt").symlink_to(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"a\.nt: cannot be read: No such file"):
        load_datasets({None: str(tmp_path / "*.nt")}, planned(VIEWS), print)
    part = Split(path=str(tmp_path / "a.nt"), end=9)
    [(kind, _, blob)] = packed_by_task([part], None, planned(VIEWS).to_json(), None)
    assert kind == FAULT
    assert json.loads(blob)["reason"] == "cannot be read: No such file or directory"


@pytest.mark.usefixtures("always_by_spark")
def test_a_file_that_is_gone_before_spark_reads_it_is_told_in_one_line(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.nt").symlink_to(tmp_path / "nowhere")
    with pytest.raises(MillstreamError, match=r"^[^\n]*a\.nt: no such file[^\n]*$"):
        load_datasets({None: str(tmp_path / "*.nt")}, planned(VIEWS), print, spark=spark)


QUERIES = {
    "joined and counted": f"SELECT CHANGES * {{ {STREAM} OPTIONAL {{ ?b <http://e/p> ?c . ?c <http://e/q> ?d }} "
    "{ SELECT ?b (COUNT(*) AS ?n) { ?b ?p ?x . ?x ?r ?y } GROUP BY ?b ORDER BY DESC(?n) ?b LIMIT 9 } }",
    "any graph": f"SELECT CHANGES * {{ {STREAM} GRAPH ?g {{ ?b <http://e/p> ?c }} }}",
}


@pytest.mark.usefixtures("always_by_spark")
@pytest.mark.parametrize("name", ["joined and counted", pytest.param("any graph", marks=pytest.mark.long)])
def test_a_job_answers_from_datasets_as_one_engine_and_goes_on_with_the_same_only(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    query, data = QUERIES[name], tmp_path / "data"
    data.mkdir()
    lines = [f"<http://e/n{i % 7}> <http://e/{'pq'[i % 2]}> <http://e/n{i * 5 % 11}> .\n" for i in range(40)]
    (data / "a.nt").write_text("".join(lines[:20]))
    (data / "b.nq").write_text("".join(f"{line[:-2]}<http://e/g{i % 3}> .\n" for i, line in enumerate(lines)))
    (tmp_path / "in").mkdir()

    def go_on(number: int) -> None:
        sightings = [f"<http://e/t{i}> <http://e/at> <http://e/n{i % 9}> .\n" for i in range(number, number + 8)]
        (tmp_path / "in" / f"{number}.nt").write_text("".join(sightings))
        source = pipeline.files(str(tmp_path / "in"), time="rate:1")
        datasets = {None: str(data), "http://e/g": str(data / "a.nt")}
        run(pipeline.continuous(query, {"http://e/s": source}, datasets, cells=3, spark=spark), tmp_path)

    go_on(1)
    go_on(2)
    engine = Engine()
    engine.load(str(data))
    engine.load(str(data / "a.nt"), graph="http://e/g")
    registered = engine.register(query)
    engine.read("http://e/s", str(tmp_path / "in"), time="rate:1")
    rows = registered.take_table().to_pylist()
    wanted = Counter((r["at_ms"], r["weight"], tuple(r[v] for v in registered.variables)) for r in rows)
    assert len(wanted) > 9
    assert written(spark, tmp_path) == wanted
    (data / "a.nt").write_text("".join(lines[1:20]))
    with pytest.raises(StreamingQueryException) as caught:
        go_on(3)
    assert "another job: the datasets changed" in (complaint_of(caught.value) or "")
    assert written(spark, tmp_path) == wanted


@pytest.mark.long
def test_without_a_dataset_there_is_still_something_to_count(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.nt").write_text("<http://e/t> <http://e/at> <http://e/n> .\n")
    query = f"SELECT * {{ {STREAM} {{ SELECT (COUNT(*) AS ?n) {{ ?b <http://e/p> ?c }} }} }}"
    job = plan_job(query, {"http://e/s": pipeline.files(str(tmp_path / "in"), time="rate:1")}, once=True, spark=spark)
    run(job.answers(), tmp_path)
    assert [row[2][-1] for row in written(spark, tmp_path)] == ['"0"^^<http://www.w3.org/2001/XMLSchema#integer>']
