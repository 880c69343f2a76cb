"""Runs queries on Spark: `millstream run`. Each query is a streaming job of its own; what they give is written here.

Every batch ends with a record, beside Spark's own checkpoint, of which batch of which query was written and where each
output was then. A run that goes on from a checkpoint opens its outputs there, and passes over batches that were written
although Spark does not know it yet: so each answer is written exactly once, whenever the run was stopped.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from millstream.cli.run.context import Run
from millstream.cli.run.spark_inputs import JobInputs
from millstream.connect.kafka.options import is_address
from millstream.engine.queries.derived_streams import derived_stream
from millstream.errors import LateElementError, OptionError, SnapshotError, StorageError
from millstream.ingest.messages import RawMessage, RejectedMessage
from millstream.output.files import is_full, replace_file, unwritten
from millstream.pipeline.job.answers import Job, late_reason
from millstream.pipeline.job.checkpoints import WAY_OUT, Record, check_checkpoint, damage_told, damaged
from millstream.pipeline.job.continuous import DEFAULT_CELLS, plan_job
from millstream.pipeline.job.same_job import check_plan, check_same
from millstream.pipeline.job.specification import JobSpec, StreamedSource
from millstream.pipeline.runtime.failures import cause_of, complaint_of, failure_of
from millstream.pipeline.runtime.java_output import said_to
from millstream.pipeline.runtime.session import session
from millstream.pipeline.source.spool import Spool
from millstream.pipeline.state.processor import ANSWERS, FLUSHED, LATE, STATS, from_bytes
from millstream.rdf import Rejected

_LOOK_S = 0.1
_PLAN = "millstream.json"
_SHOWN_BYTES = 2000


def run(run: Run) -> None:
    """Reads everything there is, or follows it; raises Stopped if asked to, with everything written that was answered."""
    begun: _SparkRun | None = None
    try:
        begun = _SparkRun(run)
        begun.run()
    except (PySparkException, Py4JError) as error:
        raise (begun and begun.damage(str(error))) or failure_of(error) from error
    except OSError as error:
        # Of what is written besides outputs: the log of Java, standard input as files.
        if not is_full(error):
            raise
        raise unwritten(error.filename or "a temporary file", error) from None


def _plan_before(path: Path) -> JobSpec | None:
    """The plan that the job of a checkpoint had."""
    if not path.exists():
        return None
    try:
        return JobSpec.from_json(path.read_text())
    except Exception as error:
        raise damaged(path, f"it is no plan of a job ({str(error)[:100] or type(error).__name__})") from None


class _SparkRun:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._options = run.options
        self._temporary = Path(tempfile.mkdtemp(prefix="millstream-"))
        self._folder = run.options.checkpoint or self._temporary / "checkpoint"
        self._record = Record.read(self._folder / "written.json")
        self._goes_on = False
        self._lock = threading.Lock()
        self._trouble: BaseException | None = None
        self._spool: Spool | None = None
        self._read_letters: set[str] = set(self._record.letters)
        self._elements: list[int] = [0] * len(run.options.queries)
        self._clocks: list[int | None] = [None] * len(run.options.queries)
        self._sources: dict[int, tuple[StreamedSource, ...]] = {}
        self._flushed: dict[int, list[pa.Table]] = {}

    def run(self) -> None:
        try:
            self._check_sources()
            self._check_checkpoints()
            self._folder.mkdir(parents=True, exist_ok=True)
            self._run.open(self._record.positions)
            self._run.counts.answers = list(self._record.answers or self._run.counts.answers)
            # What no pattern asks for never leaves the readers, so nobody knows how many triples there were.
            self._run.counts.triples = None
            self._run.counts.late, self._run.counts.set_aside = self._record.late, self._record.set_aside
            self._show("starting Spark ...")
            with said_to(self._folder / "spark.log"):
                spark = session(self._options.master, dedicated=True)
            try:
                self._follow(self._start(spark))
            finally:
                with said_to(self._folder / "spark.log"):
                    spark.stop()
            with self._lock:
                self._collect_letters()
                # Behind the record, so that a later run cuts it off again and goes on as if there had been no end.
                for number, tables in self._flushed.items():
                    self._emit(number, tables)
        finally:
            if self._spool is not None:
                self._spool.close()
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _checkpoint_of(self, number: int) -> Path:
        return self._folder / f"{number}-{self._options.queries[number].name}"

    def _check_checkpoints(self) -> None:
        """Refuses checkpoints that are damaged, or another job's, as far as that can be known before Spark is started."""
        options = self._options
        for number, query in enumerate(options.queries):
            folder = self._checkpoint_of(number)
            self._goes_on = self._goes_on or folder.exists()
            check_checkpoint(folder)
            self._record.check(number, folder)
            if _plan_before(folder / _PLAN) is not None:
                before, cells = (folder / _PLAN).read_text(), options.cells or DEFAULT_CELLS
                try:
                    check_plan(before, text=query.text, cells=cells, lateness_ms=options.lateness_ms)
                except SnapshotError as error:
                    raise SnapshotError(f"{self._folder}: {error}") from None

    def damage(self, text: str) -> SnapshotError | None:
        """What is wrong with the checkpoint that the run went on from, if a failure is about that."""
        failure = failure_of(Exception(text))
        place = damage_told(text, self._folder) if self._goes_on else None
        if place is None or isinstance(failure, StorageError) or complaint_of(Exception(text)) is not None:
            return None
        return SnapshotError(f"--checkpoint {self._folder}: {place} is damaged: {cause_of(text)}; {WAY_OUT}")

    def _check_sources(self) -> None:
        options = self._options
        given: dict[str, list[str | None]] = {
            "--stream": [s.iri for s in options.streams],
            "--dataset": [s.graph for s in options.datasets],
            "--changes": [s.graph for s in options.changes],
        }
        for option, names in given.items():
            twice = [name for name in names if names.count(name) > 1]
            if twice:
                what = twice[0] or "the default graph"
                raise OptionError(f"{option} {what} is given twice: on Spark, put its files in one folder or glob")
        if any(is_address(source.path) for source in options.datasets):
            raise OptionError("--dataset: topics are streams or changes; give --changes kafka://...")
        if options.changes_time is None and not all(is_address(source.path) for source in options.changes):
            raise OptionError(
                "on Spark changes need a time, since their files and those of the streams are read side by side: give "
                "--changes-time rate:N or arrival; what is there before the first element can be a --dataset; with "
                "--engine embedded, changes without a time happen before the first element."
            )
        for query in options.queries:
            fed = derived_stream(query.query)
            readers = [
                q.name for q in options.queries if q is not query and fed in {w.stream.value for w in q.query.windows}
            ]
            if readers:
                raise OptionError(
                    f"{readers[0]} reads <{fed}>, which {query.name} constructs: on Spark each query is a job of its own; "
                    "run them with --engine embedded, or write the triples to files and read those."
                )

    def _tells(self, query: int, stream: str | None) -> bool:
        """Whether what is wrong with a stream is told by this query: by the first that reads it, since all see the same."""
        readers = (n for n, q in enumerate(self._options.queries) if stream in {w.stream.value for w in q.query.windows})
        return query == next(readers, 0)

    def _show(self, stage: str) -> None:
        self._run.counts.stage = stage
        self._run.progress(self._run.counts)

    # The jobs ---------------------------------------------------------------------------------------------------------

    def _start(self, spark: SparkSession) -> list[StreamingQuery]:
        started = []
        self._show("starting the query ..." if len(self._options.queries) == 1 else "starting the queries ...")
        inputs = JobInputs(self._options, self._folder, self._temporary)
        self._spool = inputs.spool
        for number, query in enumerate(self._options.queries):
            checkpoint = self._checkpoint_of(number)
            job = self._job(spark, number, inputs, checkpoint / _PLAN)
            self._check_same(checkpoint / _PLAN, job)
            self._sources[number] = job.spec.sources
            writer = job.packed.writeStream.queryName(f"{number}-{query.name}").option("checkpointLocation", str(checkpoint))
            writer = writer.foreachBatch(partial(self._written, number))
            trigger = {"processingTime": "0 seconds"} if self._options.follow else {"availableNow": True}
            started.append(writer.trigger(**trigger).start())
        return started

    def _job(self, spark: SparkSession, number: int, inputs: JobInputs, plan: Path) -> Job:
        options = self._options
        return plan_job(
            options.queries[number].text,
            inputs.streams(number),
            inputs.datasets(),
            changes=inputs.changes(number),
            cells=options.cells or DEFAULT_CELLS,
            lateness=options.lateness_ms,
            sample=True,
            once=not options.follow,
            open_end=options.checkpoint is not None,
            spark=spark,
            before=_plan_before(plan),
            limits=options.limits,
            on_rejected=self._malformed,
        )

    def _check_same(self, plan: Path, job: Job) -> None:
        """Refuses a checkpoint that another job wrote, before Spark starts to wonder."""
        text = job.spec.to_json()
        if not plan.exists():
            replace_file(plan, text.encode())
        else:
            check_same(plan.read_text(), text, where=f"{self._folder}: ")

    def _follow(self, queries: list[StreamingQuery]) -> None:
        try:
            while any(query.isActive for query in queries):
                time.sleep(_LOOK_S)
                with self._lock:
                    self._run.check()
                if self._spool is not None:
                    self._spool.check()
                for query in queries:
                    self._raise_trouble(query)
            for query in queries:
                self._raise_trouble(query)
        finally:
            for query in queries:
                query.stop()

    def _raise_trouble(self, query: StreamingQuery) -> None:
        if self._trouble is not None:
            raise self._trouble
        error = query.exception()
        if error is not None:
            raise error

    # What they give ---------------------------------------------------------------------------------------------------

    def _written(self, number: int, batch: DataFrame, id: int) -> None:
        """One batch of one query."""
        try:
            found = batch.toArrow()
            with self._lock:
                if self._trouble is not None:
                    # Of another query: what it wrote of its batch is not to be recorded as written.
                    raise self._trouble
                flushed = [row["blob"] for row in found.to_pylist() if row["kind"] == FLUSHED]
                # The last end counts: an earlier run may have come to one after which more was found.
                self._flushed[number] = [from_bytes(blob) for blob in flushed]
                if id > self._record.batches.get(str(number), -1):
                    self._write(number, found)
                    self._keep(number, id)
        except Exception as error:
            # Spark would tell this as an error of Java.
            self._trouble = error
            raise

    def _write(self, number: int, found: pa.Table) -> None:
        self._run.counts.stage = ""
        tables: list[pa.Table] = []
        late: dict[tuple[int, int, int], tuple[int, list[str]]] = {}
        rows: list[dict[str, Any]] = found.to_pylist()
        for kind, blob in ((row["kind"], row["blob"]) for row in rows):
            if kind == ANSWERS:
                tables.append(from_bytes(blob))
            elif kind == LATE:
                for row in from_bytes(blob).to_pylist():
                    key = (row["source"], row["part"], row["element"])
                    texts = late.setdefault(key, (row["at_ms"], []))[1]
                    if row["text"] not in texts:
                        texts.append(row["text"])
            elif kind == STATS:
                self._count(number, json.loads(blob))
        self._late(number, late)
        self._collect_letters()
        self._emit(number, tables)

    def _emit(self, number: int, tables: list[pa.Table]) -> None:
        if tables:
            self._run.emit({number: pa.concat_tables(tables).sort_by("at_ms")})

    def _keep(self, number: int, id: int) -> None:
        """A batch of a query is written."""
        record, counts = self._record, self._run.counts
        record.batches[str(number)] = id
        record.positions, record.answers = self._run.commit(), counts.answers
        record.late, record.set_aside = counts.late, counts.set_aside
        record.keep()
        self._run.settle()

    def _count(self, number: int, stats: dict[str, Any]) -> None:
        self._elements[number] = stats["elements"] + (self._elements[number] if stats["more"] else 0)
        if stats["at_ms"] is not None:
            self._clocks[number] = stats["at_ms"]
        counts = self._run.counts
        # Queries that read the same streams count the same elements.
        counts.elements = max(self._elements)
        counts.at_ms = min((at_ms for at_ms in self._clocks if at_ms is not None), default=None)

    def _late(self, number: int, late: dict[tuple[int, int, int], tuple[int, list[str]]]) -> None:
        for (place, _, _), (at_ms, texts) in late.items():
            source = self._sources[number][place]
            if not self._tells(number, None if source.changes else source.name):
                continue
            name, reason = source.label, late_reason(at_ms)
            if self._options.strict:
                raise LateElementError(f"{name}: {reason}")
            self._run.counts.late += 1
            self._run.set_aside(Rejected(name, None, None, reason, "\n".join(texts)[:_SHOWN_BYTES]))

    def _malformed(self, rejected: Rejected) -> None:
        if self._options.strict:
            raise rejected.as_error()
        self._run.counts.set_aside += 1
        self._run.set_aside(rejected)

    def _collect_letters(self) -> None:
        """What readers set aside since the last time; of several queries that read the same, one tells."""
        for path in sorted((self._folder / "dead-letters").glob("*/*")):
            name = str(path.relative_to(self._folder))
            if path.name.startswith((".", "_")) or name in self._read_letters:
                continue
            self._read_letters.add(name)
            query, place = map(int, path.parent.name.split("-"))
            streams = self._options.streams
            if not self._tells(query, streams[place].iri if place < len(streams) else None):
                continue
            for letter in map(json.loads, path.read_text().splitlines()):
                file, line, column, reason = (letter[name] for name in ("file", "line", "column", "reason"))
                rejected = Rejected(file, line, column, reason, letter["text"])
                if "message" in letter:
                    message = RawMessage.from_json(letter["message"])
                    rejected = RejectedMessage(file, line, column, reason, letter["text"], message)
                self._malformed(rejected)
        self._record.letters = sorted(self._read_letters)
