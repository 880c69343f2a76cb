"""What a run is asked to do, in plain values that either engine can run, and checked before anything is read or written."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from millstream.cli.queries import read_query
from millstream.cli.run.arguments import GraphSource, StreamSource, check_path
from millstream.cli.terminal import note
from millstream.connect.kafka.options import is_address, shown
from millstream.engine.queries.derived_streams import derived_stream
from millstream.errors import OptionError
from millstream.language import algebra
from millstream.language.algebra import Form
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.output.files import STANDARD
from millstream.output.formats import OutputFormat, named_output
from millstream.rdf import parse_time_option
from millstream.rdf.grouping import check_element_option
from millstream.rdf.timing import TimeKind


@dataclass(frozen=True, slots=True)
class RunQuery:
    """A query, its file's name without the ending, and what was read."""

    name: str
    text: str
    query: algebra.Query

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(variable.value for variable in self.query.columns)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """See docs/command-line.md for what each means."""

    queries: tuple[RunQuery, ...]
    streams: tuple[StreamSource, ...] = ()
    datasets: tuple[GraphSource, ...] = ()
    changes: tuple[GraphSource, ...] = ()
    time: str | None = None
    changes_time: str | None = None
    element: str | None = None
    input_format: str | None = None
    """The format of the streams' sources, where their names do not tell."""
    follow: bool = False
    idle_ms: int = 10_000
    lateness_ms: int = 0
    max_jump_ms: int | None = None
    checkpoint: Path | None = None
    checkpoint_every_ms: int = 10_000
    output: str | None = None
    format: OutputFormat = OutputFormat.CSV
    dead_letter: str | None = None
    strict: bool = False
    cells: int | None = None
    master: str = "local[2]"
    limits: Limits = DEFAULT_LIMITS

    @property
    def outputs(self) -> list[str]:
        """Where answers go: one file for one query, files named after several in a folder, or standard output for all."""
        if self.output is None or self.output == STANDARD:
            return [STANDARD]
        if is_address(self.output):
            if len(self.queries) > 1:
                raise OptionError(f"--output {shown(self.output)}: {len(self.queries)} queries need a topic each")
            return [self.output]
        is_folder = self.output.endswith(("/", os.sep)) or Path(self.output).is_dir()
        if not is_folder and len(self.queries) == 1:
            return [self.output]
        if not is_folder and Path(self.output).suffix:
            many = f"{len(self.queries)} queries need a file each"
            raise OptionError(f"--output {self.output}: {many}; give a folder, as in --output answers/")
        found: list[str] = []
        for query in self.queries:
            number, path = 1, str(Path(self.output) / f"{query.name}{self.format.ending}")
            while path in found:
                number += 1
                path = str(Path(self.output) / f"{query.name}-{number}{self.format.ending}")
            found.append(path)
        return found


def read_queries(paths: list[str]) -> tuple[RunQuery, ...]:
    """All queries, their warnings told; the first that is wrong ends the command."""
    found = []
    for path in paths:
        file = read_query(path)
        for warning in file.query.warnings:
            note("warning", f"{file.name}: {warning}")
        found.append(RunQuery("query" if path == STANDARD else PurePath(path).stem, file.text, file.query))
    return tuple(found)


def choose_format(name: str | None, output: str | None) -> OutputFormat:
    """What was asked for, else what the output's name tells, else a table for people and CSV for programs."""
    if name is None and output in (None, STANDARD) and sys.stdout.isatty():
        return OutputFormat.TABLE
    if output is not None and is_address(output):
        if name is not None:
            raise OptionError("--format: answers to Kafka have none; its option mode says what a message is")
        return OutputFormat.NDJSON
    return named_output(name, output or STANDARD)


def check(options: RunOptions) -> RunOptions:
    """Refuses what cannot be, before anything is read or written."""
    for stream in options.streams:
        check_path(stream.path, "--stream", may_come=options.follow)
    for dataset in options.datasets:
        check_path(dataset.path, "--dataset")
    for change in options.changes:
        check_path(change.path, "--changes", may_come=options.follow)
    check_element_option(options.element)
    options = _checked_times(options)
    used = [source.path for source in options.streams]
    used += [source.path for source in (*options.datasets, *options.changes)]
    if used.count(STANDARD) > 1:
        raise OptionError("standard input (-) can be one source only")
    _check_outputs(options)
    _warn_about_streams(options)
    return options


def _checked_times(options: RunOptions) -> RunOptions:
    """Changes take times from `--time` where that can tell them, unless they have an option of their own."""
    changes_time = options.changes_time
    if options.time is not None:
        kind = parse_time_option(options.time).kind
        if changes_time is None and kind in (TimeKind.RATE, TimeKind.ARRIVAL):
            changes_time = options.time
    if changes_time is not None and parse_time_option(changes_time).kind not in (TimeKind.RATE, TimeKind.ARRIVAL):
        raise OptionError(f"--changes-time {changes_time}: changes do not say when they happened; use rate:N or arrival")
    return replace(options, changes_time=changes_time)


def _check_outputs(options: RunOptions) -> None:
    standard = options.outputs == [STANDARD]
    for query in options.queries:
        if options.format is OutputFormat.N_QUADS and query.query.form is not Form.CONSTRUCT:
            raise OptionError(
                f"--format nquads is for CONSTRUCT; {query.name} is a {query.query.form.name} query, use csv or json"
            )
    if options.format is OutputFormat.PARQUET:
        if standard:
            raise OptionError("--format parquet needs a file: give --output PATH")
        if options.checkpoint is not None:
            raise OptionError("--format parquet cannot be continued from a checkpoint; use csv, tsv, json or ndjson")
    if standard and options.dead_letter == STANDARD:
        raise OptionError("--dead-letter -: answers go to standard output already; give --output or another path")


def _warn_about_streams(options: RunOptions) -> None:
    given = {stream.iri for stream in options.streams}
    constructed = {derived_stream(query.query) for query in options.queries}
    read = {window.stream.value: query.name for query in options.queries for window in query.query.windows}
    for iri, name in read.items():
        if iri not in given | constructed:
            note("warning", f"{name} reads the stream <{iri}>, which has no --stream: it stays empty")
    for iri in given - read.keys():
        note("warning", f"no query reads the stream <{iri}>")
