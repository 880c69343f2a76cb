"""Settings as Spark jobs: elements as files of named graphs, changes as patches, answers from a Parquet sink."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from millstream import pipeline
from tests.pipeline.simulation import Element, Row
from tests.pipeline.state.test_cells_simulated import Setting

PROV = "<http://www.w3.org/ns/prov#generatedAtTime>"
INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"


def parts(elements: Sequence[Element], files: int) -> list[Sequence[Element]]:
    """Elements in order, in so many runs of about the same length."""
    size = len(elements)
    return [elements[size * i // files : size * (i + 1) // files] for i in range(files)]


def write_graphs(folder: Path, elements: Sequence[Element], files: int) -> Path:
    """N-Quads files in which a named graph is an element and says when it was."""
    folder.mkdir(parents=True)
    number = 0
    for file, some in enumerate(parts(elements, files)):
        lines = []
        for element in some:
            graph = f"<http://g/{number}>"
            number += 1
            lines += [f"{triple[:-1]}{graph} .\n" for triple in element.triples]
            lines.append(f'{graph} {PROV} "{element.at_ms}"^^{INTEGER} .\n')
        (folder / f"{file:04d}.nq").write_text("".join(lines))
    return folder


def write_patches(folder: Path, changes: Sequence[Element], files: int) -> Path:
    """RDF Patch files, a line a change."""
    folder.mkdir(parents=True)
    for file, some in enumerate(parts(changes, files)):
        lines = [f"{'A' if change.op > 0 else 'D'} {triple}\n" for change in some for triple in change.triples]
        (folder / f"{file:04d}.rdfp").write_text("".join(lines))
    return folder


def job_of(setting: Setting, folder: Path, cells: int, files: Sequence[int], spark: SparkSession) -> DataFrame:
    """A setting as a streaming DataFrame; each source in its number of files, one a trigger."""
    streams, changes = {}, {}
    for number, source in enumerate(setting.sources):
        place = folder / f"source{number}"
        if source.changes:
            path = write_patches(place, setting.elements[number], files[number])
            changes[source.name] = pipeline.files(str(path), time="rate:1000", maxFilesPerTrigger=1)
        else:
            path = write_graphs(place, setting.elements[number], files[number])
            assert source.name is not None
            streams[source.name] = pipeline.files(str(path), time="prov", maxFilesPerTrigger=1)
    (folder / "static.nt").write_text("\n".join(setting.loaded))
    return pipeline.continuous(
        setting.query,
        streams,
        dict.fromkeys([None, "http://example.org/g0"], str(folder / "static.nt")) if setting.loaded else None,
        changes=changes,
        cells=cells,
        output=setting.output,
        lateness=setting.lateness_ms,
        once=True,
        spark=spark,
    )


def run(answers: DataFrame, folder: Path) -> int:
    """A streaming job up to where its input ends, into Parquet; how many batches it took."""
    writer = answers.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(folder / "answers"))
    query.awaitTermination()
    return len({progress["batchId"] for progress in query.recentProgress if progress["numInputRows"]})


def rows_of(frame: DataFrame) -> Counter[Row]:
    return Counter((row[0], row[1], tuple(row)[2:]) for row in frame.collect())


def written(spark: SparkSession, folder: Path) -> Counter[Row]:
    return rows_of(spark.read.parquet(str(folder / "answers")))
