"""`millstream run`: queries over streams from files or pipes, on Spark or in this process, answers written as they come."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePath
from types import FrameType

import typer

from millstream.cli.arguments import check_path
from millstream.cli.progress import Progress
from millstream.cli.queries import read_query
from millstream.cli.terminal import note
from millstream.errors import DataError, LateElementError, MillstreamError, OptionError, QueryError, StorageError
from millstream.language import parse_query
from millstream.language.algebra import Form
from millstream.rdf import Rejected, parse_time_option
from millstream.rdf.grouping import check_element_option
from millstream.rdf.timing import TimeKind
from millstream.runs import OutputFormat, Run, RunOptions, RunQuery, Stopped
from millstream.runs.formats import format_of_output
from millstream.runs.options import STANDARD
from millstream.runs.outputs import output_paths

DATA = 1
"""The exit code for bad data in a strict run."""
STORAGE = 3
"""The exit code when something could not be written, as on a full disk."""
INTERRUPTED = 130


def read_queries(paths: list[str]) -> tuple[RunQuery, ...]:
    """All queries, their warnings told; the first that is wrong ends the command."""
    found = []
    for path in paths:
        file = read_query(path)
        try:
            query = parse_query(file.text)
        except QueryError as error:
            file.fail(error)
        for warning in query.warnings:
            note("warning", f"{file.name}: {warning}", "bold yellow")
        found.append(RunQuery("query" if path == STANDARD else PurePath(path).stem, file.text, query))
    return tuple(found)


def choose_format(name: str | None, output: str | None) -> OutputFormat:
    """What was asked for, else what the output's name tells, else a table for people and CSV for programs."""
    if name is not None:
        try:
            return OutputFormat(name.lower())
        except ValueError:
            raise OptionError(f"--format {name}: not known; it is one of {', '.join(OutputFormat)}") from None
    if output not in (None, STANDARD):
        return format_of_output(str(output)) or OutputFormat.CSV
    return OutputFormat.TABLE if sys.stdout.isatty() else OutputFormat.CSV


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
    standard = options.output in (None, STANDARD)
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
    if not standard:
        output_paths([query.name for query in options.queries], str(options.output), options.format)
    elif options.dead_letter == STANDARD:
        raise OptionError("--dead-letter -: answers go to standard output already; give --output or another path")


def _warn_about_streams(options: RunOptions) -> None:
    given = {stream.iri for stream in options.streams}
    read = {window.stream.value: query.name for query in options.queries for window in query.query.windows}
    for iri, name in read.items():
        if iri not in given:
            note("warning", f"{name} reads the stream <{iri}>, which has no --stream: it stays empty", "bold yellow")
    for iri in given - read.keys():
        note("warning", f"no query reads the stream <{iri}>", "bold yellow")


def execute(options: RunOptions, engine: str) -> None:
    """Runs, and ends the command with the code that says how it went."""
    progress = Progress()
    run = Run(options, progress=progress.show, before_output=progress.clear)
    how, code, trouble = "done", 0, None
    try:
        with _stopping(run):
            try:
                _run_on(engine, run)
            except Stopped:
                how, code = "stopped", INTERRUPTED
            finally:
                progress.clear()
                run.close()
    except (DataError, LateElementError) as error:
        how, code, trouble = "failed", DATA if options.strict else 2, str(error)
    except StorageError as error:
        again = "the same command then goes on from its checkpoint" if options.checkpoint is not None else "run it again"
        how, code, trouble = "failed", STORAGE, f"{error}; make room, {again}"
        close_standard_output()
    except KeyboardInterrupt:
        how, code = "stopped", INTERRUPTED
    except BrokenPipeError:
        close_standard_output()
    except MillstreamError as error:
        name = f"{options.queries[0].name}: " if isinstance(error, QueryError) and len(options.queries) == 1 else ""
        how, code, trouble = "failed", 2, f"{name}{error}"
    if trouble is not None:
        note("error", trouble, "bold red")
    if run.outputs is not None:
        if options.dead_letter is None:
            for rejected in run.dead_letters.first:
                note("set aside", shown(rejected), "bold yellow")
        summary = progress.summary(run.counts, options.queries, how, options.dead_letter)
        note(summary.partition(":")[0], summary.partition(": ")[2], "bold")
    if code:
        raise typer.Exit(code)


def _run_on(engine: str, run: Run) -> None:
    if engine == "embedded":
        from millstream.cli import embedded

        embedded.run(run)
        return
    # By name, so that without Spark everything else is still there.
    importlib.import_module("millstream.pipeline.job").run(run)


@contextmanager
def _stopping(run: Run) -> Iterator[None]:
    """The first Ctrl-C (or SIGTERM) asks the run to stop where it can; the second stops it at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        if run.stop.is_set():
            raise KeyboardInterrupt
        run.stop.set()

    try:
        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread, which alone is interrupted
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def close_standard_output() -> None:
    """Nobody reads any more: what is still buffered must not be written when the process ends."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def shown(rejected: Rejected) -> str:
    place = rejected.source
    if rejected.line is not None:
        place += f", line {rejected.line}" + (f", column {rejected.column}" if rejected.column is not None else "")
    return f"{place}: {rejected.reason}"
