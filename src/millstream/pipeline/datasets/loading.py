"""Datasets of a job, read before its streams begin: by a batch of Spark, or by the driver what is too small for that.

What patterns ask for is sent to all workers as it is read; parts of the plan that need nothing else are evaluated, and their
rows are sent instead.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from millstream.engine.options import graph_iri
from millstream.errors import OptionError
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.pipeline.datasets.datasets import (
    AHEAD,
    DIGEST,
    FAULT,
    KEPT,
    REJECTED,
    DatasetPacker,
    Packed,
    packed_part,
    packed_quads,
)
from millstream.pipeline.datasets.precompute import precompute_here, precompute_on_spark
from millstream.pipeline.datasets.static import StaticData
from millstream.pipeline.job.specification import JobSpec, precompute_spec
from millstream.pipeline.runtime.failures import complaint_of, failure_of
from millstream.pipeline.source.data_source import DATASET_SCHEMA
from millstream.pipeline.source.options import limit_options
from millstream.pipeline.source.splits import Split
from millstream.rdf import OnRejected, Rejected
from millstream.rdf.inputs import files_of

LARGE_BYTES = 64 << 20
"""From here on files are read by Spark: a batch costs seconds whatever it reads, the driver reads so much in two."""
SPLIT_BYTES = 16 << 20
_TIMES_LINES = 8
"""How much longer other formats take than plain lines, and by how much lines shrink when they are compressed."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Datasets as workers get them, and what all of it comes to, as a text."""

    static: StaticData
    digest: str


@dataclass(frozen=True, slots=True)
class _Files:
    graph: str | None
    sizes: Mapping[str, int]
    """By name, in order."""

    @property
    def weight(self) -> int:
        """How much work it is to read them, in bytes of lines."""
        return sum(size * (1 if name.endswith((".nt", ".nq")) else _TIMES_LINES) for name, size in self.sizes.items())


def load_datasets(
    datasets: Mapping[str | None, object],
    spec: JobSpec,
    on_rejected: OnRejected,
    *,
    format: str | None = None,
    base: str | None = None,
    spark: SparkSession | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Loaded:
    """Reads datasets, by graph: files, folders, globs, anything the engine loads; without Spark in this process."""
    files, others = [], []
    for name, source in datasets.items():
        graph = graph_iri(name)
        if source is None:
            raise OptionError(f"the dataset of graph {graph or 'default'} is a path, bytes or a table, got None")
        if isinstance(source, str | os.PathLike) and not _is_pipe(source):
            found = files_of(source, any_ending=format is not None, receiver=on_rejected)
            files.append(_Files(graph, {file.name: _size(file.path) for file in found}))
        else:
            others.append((graph, source))
    small = sum(each.weight for each in files) < LARGE_BYTES
    ahead = precompute_spec(spec, 1 if small or spark is None else spec.asked)
    packer = DatasetPacker(spec, ahead)
    gathered = _Gathered(on_rejected)
    for graph, source in others:
        gathered.take(packed_quads(packer, graph, source, format, base, on_rejected, limits))
    if small or spark is None:
        for each in files:
            for name, size in each.sizes.items():
                part = Split(path=name, format=format, end=size, base=base, limits=limits)
                gathered.take(packed_part(packer, each.graph, part, on_rejected))
        given = [] if ahead is None else precompute_here(ahead, [blob for _, blob in gathered.ahead])
        return Loaded(StaticData(gathered.chunks, given), gathered.digest)
    try:
        whole = reduce(DataFrame.unionByName, [_frame(spark, each, spec, ahead, format, base, limits) for each in files])
        names = {os.path.abspath(name): name for each in files for name in each.sizes}
        given = _take_by_spark(spark, whole, names, gathered, ahead)
    except Exception as error:
        # Of Java's or of Spark's own kind, as the way back has it.
        if complaint_of(error) is None:
            raise
        raise failure_of(error) from None
    return Loaded(StaticData(gathered.chunks, given), gathered.digest)


def _take_by_spark(
    spark: SparkSession, whole: DataFrame, names: Mapping[str, str], gathered: _Gathered, ahead: JobSpec | None
) -> list[bytes]:
    """Gathers what tasks read; gives the rows of what was evaluated with it."""
    if ahead is None:
        gathered.take(_collected(whole, names))
        return []
    # Read once, though it goes two ways.
    whole = whole.persist()
    try:
        gathered.take(_collected(whole.where(f.col("kind") != AHEAD), names))
        packed = whole.where(f.col("kind") == AHEAD).select("cell", "blob")
        if gathered.ahead:
            rows = [(cell, bytearray(blob)) for cell, blob in gathered.ahead]
            packed = packed.unionByName(spark.createDataFrame(rows, "cell int, blob binary"))
        return precompute_on_spark(ahead, packed)
    finally:
        whole.unpersist()


class _Gathered:
    """What was read, by what it is."""

    def __init__(self, on_rejected: OnRejected) -> None:
        self.chunks: list[bytes] = []
        self.ahead: list[tuple[int, bytes]] = []
        self._on_rejected = on_rejected
        self._sum = 0

    @property
    def digest(self) -> str:
        return f"{self._sum:016x}"

    def take(self, packed: Iterator[Packed]) -> None:
        for kind, cell, blob in packed:
            if kind == KEPT:
                self.chunks.append(blob)
            elif kind == AHEAD:
                self.ahead.append((cell, blob))
            elif kind == DIGEST:
                self._sum = (self._sum + int.from_bytes(blob, "little")) % (1 << 64)
            elif kind == REJECTED:
                for fields in json.loads(blob):
                    self._on_rejected(Rejected(**fields))
            elif kind == FAULT:
                raise Rejected(**json.loads(blob)).as_error()


def _is_pipe(source: str | os.PathLike[str]) -> bool:
    """Whether a path is of something that has no length, and can be read once."""
    try:
        mode = os.stat(source).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # whoever reads it will say what is wrong


def _frame(
    spark: SparkSession,
    files: _Files,
    spec: JobSpec,
    ahead: JobSpec | None,
    format: str | None,
    base: str | None,
    limits: Limits,
) -> DataFrame:
    options = {
        "dataset": "true",
        "graph": files.graph,
        "pack": spec.to_json(),
        "ahead": None if ahead is None else ahead.to_json(),
        "format": format,
        "base": base,
        "splitBytes": str(SPLIT_BYTES),
        **limit_options(limits),
        "paths": json.dumps([os.path.abspath(name) for name in files.sizes]),
    }
    given = {name: value for name, value in options.items() if value is not None}
    if not files.sizes:
        return spark.createDataFrame([], DATASET_SCHEMA)
    return spark.read.format("rdf").options(**given).load()


def _collected(frame: DataFrame, names: Mapping[str, str]) -> Iterator[Packed]:
    """What tasks gave, files by the names that the caller has for them."""
    rows: list[dict[str, Any]] = frame.toArrow().to_pylist()
    for row in rows:
        blob = row["blob"]
        if row["kind"] in (REJECTED, FAULT):
            told = json.loads(blob)
            for fields in told if row["kind"] == REJECTED else [told]:
                fields["source"] = names.get(fields["source"], fields["source"])
            blob = json.dumps(told).encode()
        yield row["kind"], row["cell"], blob
