"""A continuous query as a Spark streaming job: sources to blobs, blobs to cells, cells to answers.

    source ──► blobs by cell ──► CellProcessor (state) ──► [BucketProcessor (state)] ──► answers as rows

A source is a path, which is then read by the query's own patterns, so that what nobody asks for never leaves the reader; or
any DataFrame with the columns s, p, o, at_ms and, for elements of several triples, element.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial, reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from millstream.engine.options import graph_iri, named_iri
from millstream.errors import OptionError
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.pipeline.datasets.loading import load_datasets
from millstream.pipeline.exchange.dataframes import ended_blobs, pack_frame
from millstream.pipeline.exchange.messages import pack_messages, with_plain_headers
from millstream.pipeline.job.answers import Job
from millstream.pipeline.job.inputs import PLACED, Files, MessageFrame, StreamInput, Topics, frame_of
from millstream.pipeline.job.metrics import NAME, observed
from millstream.pipeline.job.sampling import sampled_sizes
from millstream.pipeline.job.specification import JobSpec, StreamedSource, job_spec
from millstream.pipeline.job.stateless import match_elements
from millstream.pipeline.runtime.broadcast import broadcast
from millstream.pipeline.runtime.connect import is_streaming, schema_of, streamed_options, with_rows, with_schema
from millstream.pipeline.runtime.session import cores_of, register
from millstream.pipeline.runtime.step_names import named
from millstream.pipeline.source.data_source import PACKED_SCHEMA, RdfSource, check_streams_of_files
from millstream.pipeline.source.heartbeats import NAME as BEATS
from millstream.pipeline.source.kafka_source import CLIENT_SECRETS
from millstream.pipeline.source.kafka_source import NAME as KAFKA
from millstream.pipeline.source.options import limit_options, without_scheme
from millstream.pipeline.state.partitions import with_partitions
from millstream.pipeline.state.processor import OUTPUT_SCHEMA, SENT_SCHEMA, BucketProcessor, CellProcessor
from millstream.rdf import OnRejected, Rejected, parse_time_option
from millstream.windows.durations import parse_duration

DEFAULT_CELLS = 2


def continuous(
    text: str,
    streams: Mapping[str, StreamInput],
    datasets: Mapping[str | None, object] | None = None,
    *,
    changes: Mapping[str | None, StreamInput] | None = None,
    cells: int = DEFAULT_CELLS,
    output: str | None = None,
    base: str | None = None,
    lateness: str | int = 0,
    t0_ms: int = 0,
    sizes: Mapping[int, float] | None = None,
    once: bool = False,
    dead_letter: str | None = None,
    idle: str | None = None,
    limits: Limits | None = None,
    metrics: str = NAME,
    spark: SparkSession | None = None,
) -> DataFrame:
    """A streaming DataFrame of answers: `at_ms`, `weight`, one string column a variable.

    `streams` and `changes` are DataFrames, paths or `files(...)`; `datasets` what the graphs hold at the start, by graph,
    None being the default graph. `sizes`, by the place of a triple pattern in the query, say how large views are relative to
    each other, for choosing cells. `once`: paths end with the files that are there, and so do windows. `dead_letter` is a
    folder for what is malformed or late. `idle`: after so long without anything new a source holds the others back no more.
    `limits` bound what is read and what expressions make, as those of an engine. `metrics` names the job's counts in Spark's
    progress: each of several jobs that one DataFrame unites needs a name of its own.
    """
    # All that was given, by the same names.
    return plan_job(**locals()).answers()


def plan_job(
    text: str,
    streams: Mapping[str, StreamInput],
    datasets: Mapping[str | None, object] | None = None,
    *,
    changes: Mapping[str | None, StreamInput] | None = None,
    cells: int = DEFAULT_CELLS,
    output: str | None = None,
    base: str | None = None,
    lateness: str | int = 0,
    t0_ms: int = 0,
    now_ms: int = 0,
    sizes: Mapping[int, float] | None = None,
    sample: bool = False,
    once: bool = False,
    dead_letter: str | None = None,
    idle: str | None = None,
    limits: Limits | None = None,
    metrics: str = NAME,
    spark: SparkSession | None = None,
    before: JobSpec | None = None,
    open_end: bool = False,
    on_rejected: OnRejected | None = None,
) -> Job:
    """As `continuous`, with what was decided; `on_rejected` is told what is malformed in datasets.

    `sample`: the sizes of views are those in the first piece of each stream's files. `before` is the plan that a job goes
    on with. `open_end`: more may come in a later run, so sources that end wait for each other.
    """
    if not isinstance(cells, int) or isinstance(cells, bool) or cells < 1:
        raise OptionError(f"cells is a whole number of at least 1, got {cells!r}.")
    inputs: list[tuple[StreamedSource, StreamInput]] = []
    for name, given in streams.items():
        source = _read_by_us(given)
        inputs.append((_described(named_iri(name, "stream"), source, changes=False), source))
    for graph, source in (changes or {}).items():
        inputs.append((_described(graph_iri(graph), source, changes=True), source))
    described = [each for each, _ in inputs]
    planning = partial(
        job_spec,
        text,
        described,
        cells=cells,
        output=output,
        base=base,
        t0_ms=t0_ms,
        lateness_ms=_milliseconds(lateness),
        now_ms=now_ms,
        before=before,
        limits=limits or DEFAULT_LIMITS,
    )
    planned = planning(sizes=sizes)
    if sample and before is None and len(planned.cells.variables):
        paths = [_as_files(source) if isinstance(source, Files | str) else None for _, source in inputs]
        planned = planning(sizes=sampled_sizes(planned, [None if p is None else (p.paths, p.options) for p in paths]))
    _check_streams(planned)
    _check_alike([source for _, source in inputs])
    session = spark or SparkSession.active()
    register(session)
    static = None
    # Without any dataset there may still be something to say of it: that its count is 0.
    if datasets or planned.ahead is not None:
        told, bounds = on_rejected or _raised, limits or DEFAULT_LIMITS
        loaded = load_datasets(datasets or {}, planned, told, base=base, spark=session, limits=bounds)
        planned = replace(planned, datasets=loaded.digest)
        static = broadcast(session, loaded.static.to_bytes())
    pack = planned.to_json()
    stateless = planned.cells.stateless
    letters = None if dead_letter is None else os.path.abspath(dead_letter)
    folders = tuple(_letters_of(source, letters) for _, source in inputs)
    job = uuid.uuid4().hex
    ends = {"end": str(once).lower(), "run": job, "open": str(open_end).lower()}
    ends |= {} if limits is None else limit_options(limits)
    if idle is not None:
        ends["idle"] = idle
    if (cores := cores_of(session)) is not None:
        ends["tasks"] = str(cores)
    packing = partial(_packed, session, pack, ends=ends, stateless=stateless, dead_letter=letters)
    frames = [packing(number, *each) for number, each in enumerate(inputs)]
    silent = [number for number, (_, source) in enumerate(inputs) if (frame := frame_of(source)) and is_streaming(frame)]
    lanes = any(isinstance(source, MessageFrame) for _, source in inputs)
    if idle is not None and (len(inputs) > 1 or lanes) and silent and not stateless:
        frames.append(_beats(session, pack, silent, _milliseconds(idle, "idle")))
    whole = with_schema(reduce(DataFrame.unionByName, frames), schema_of(PACKED_SCHEMA))
    last, sent = schema_of(OUTPUT_SCHEMA), schema_of(SENT_SCHEMA)
    if stateless:
        match = named("millstream_match", partial(match_elements, job, pack, static))
        return Job(planned, observed(whole.mapInArrow(match, last), metrics), folders)
    in_stages = planned.stages is not None
    processor, schema = CellProcessor(job, pack, static), sent if in_stages else last
    packed = whole.groupBy("cell").transformWithState(processor, schema, "Append", "None")
    if in_stages:
        second = BucketProcessor(job, pack)
        packed = with_schema(packed, sent).groupBy("bucket").transformWithState(second, last, "Append", "None")
    return Job(planned, observed(with_partitions(packed, planned.cells.count), metrics), folders)


def _read_by_us(source: StreamInput) -> StreamInput:
    """A stream of the source `rdf`, nothing done to it yet, as the files it reads: so patterns can be applied there."""
    if not isinstance(source, DataFrame):
        return source
    found = streamed_options(source, RdfSource.name())
    return source if found is None else Files(tuple(found[0]), found[1])


def _described(name: str | None, source: StreamInput, *, changes: bool) -> StreamedSource:
    if isinstance(source, DataFrame):
        return StreamedSource(name, changes, None, ordered=False)
    if isinstance(source, MessageFrame | Topics):
        ordered = isinstance(source, Topics) or set(PLACED) <= set(source.frame.columns)
        if source.options.upsert and not changes:
            raise OptionError(f"stream {name}: upserts are changes of a graph; give them as changes.")
        return StreamedSource(name, changes, None, ordered=ordered, keyed=source.options.upsert)
    time = source.options.get("time") if isinstance(source, Files) else None
    rate: Fraction | None = None if time is None else parse_time_option(time).rate
    return StreamedSource(name, changes, None if rate is None else str(rate), ordered=True)


def _packed(
    spark: SparkSession,
    pack: str,
    number: int,
    described: StreamedSource,
    source: StreamInput,
    *,
    ends: Mapping[str, str],
    stateless: bool,
    dead_letter: str | None,
) -> DataFrame:
    if isinstance(source, Topics):
        return _packed_topics(spark, pack, number, source, ends, dead_letter)
    if (frame := frame_of(source)) is not None:
        if isinstance(source, MessageFrame):
            frame = with_plain_headers(frame)
            reading = partial(pack_messages, pack, number, source.options.to_json())
            step = named("millstream_messages", partial(reading, topics=source.topics, dead_letter=dead_letter))
        else:
            step = named("millstream_pack", partial(pack_frame, pack, number, dead_letter=dead_letter))
        packed = with_rows(frame).mapInArrow(step, schema_of(PACKED_SCHEMA))
        if is_streaming(frame):
            return packed
        end = [(key, bytearray(blob)) for key, blob in ended_blobs(pack, number)]
        return packed.unionByName(spark.createDataFrame(end, PACKED_SCHEMA))
    assert isinstance(source, Files | str)
    check_streams_of_files()
    given = _as_files(source)
    letters = {} if dead_letter is None else {"deadLetter": dead_letter}
    # What the caller says of one source comes before what is said of all.
    reader = spark.readStream.format("rdf").options(**{**letters, **ends, **given.options})
    reader = reader.option("pack", pack).option("source", str(number))
    if stateless:
        reader = reader.option("counted", "true")
    if described.changes:
        reader = reader.option("changes", "true")
    return reader.option("paths", json.dumps(given.paths)).load()


def _packed_topics(
    spark: SparkSession, pack: str, number: int, source: Topics, ends: Mapping[str, str], dead_letter: str | None
) -> DataFrame:
    check_streams_of_files()
    described = {
        "servers": source.at.servers,
        "topics": source.at.topics,
        "messages": source.options.to_json(),
        "starting_offsets": source.starting_offsets,
        "max_offsets": source.max_offsets,
        "idle_ms": _milliseconds(ends["idle"], "idle") if "idle" in ends else source.idle_ms,
        "end": ends["end"] == "true",
        "run": ends["run"],
        "open": ends["open"] == "true",
        "pack": pack,
        "source": number,
        "dead_letter": source.dead_letter or dead_letter,
    }
    reader = spark.readStream.format(KAFKA).option("described", json.dumps(described))
    return reader.option(CLIENT_SECRETS, json.dumps(dict(source.at.client))).load()


def _letters_of(source: StreamInput, dead_letter: str | None) -> str | None:
    """Where a source's dead letters go: what the caller says of one source comes before what is said of all."""
    if isinstance(source, Topics):
        return source.dead_letter or dead_letter
    own = source.options.get("deadLetter") if isinstance(source, Files) else None
    return os.path.abspath(without_scheme(own)) if own else dead_letter


def _beats(spark: SparkSession, pack: str, sources: list[int], idle_ms: int) -> DataFrame:
    reader = spark.readStream.format(BEATS).option("pack", pack).option("idle", str(idle_ms))
    return reader.option("sources", ",".join(map(str, sources))).load()


def _as_files(source: Files | str) -> Files:
    return source if isinstance(source, Files) else Files(source)


def _check_streams(planned: JobSpec) -> None:
    wanted = {w.stream.value for w in planned.query.windows}
    given = {s.name for s in planned.sources if not s.changes}
    missing = sorted(wanted - {name for name in given if name is not None})
    if missing:
        names = ", ".join(f"<{name}>" for name in missing)
        raise OptionError(f"the query reads the stream {names}, for which no source is given.")
    if not planned.sources:
        raise OptionError("the query reads no stream and no changing dataset, so there is nothing to wait for.")


def _check_alike(sources: list[StreamInput]) -> None:
    """Spark unites no DataFrame that streams with one that does not."""
    frames = [frame_of(source) for source in sources]
    at_rest = [frame is not None and not is_streaming(frame) for frame in frames]
    if any(at_rest) and not all(at_rest):
        raise OptionError(
            "some sources are DataFrames that do not stream, others stream: read all by readStream (a path always "
            "streams), or give what does not change as a dataset."
        )


def _milliseconds(given: str | int, name: str = "lateness") -> int:
    if isinstance(given, str):
        try:
            return parse_duration(given).ms
        except ValueError:
            raise OptionError(f"{name} is a duration such as 5s, got {given!r}.") from None
    return given


def _raised(rejected: Rejected) -> Any:
    raise rejected.as_error()
