"""`millstream run`: queries over streams from files or pipes, on Spark or in this process, answers written as they come."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer

from millstream.cli.run.context import Run, Stopped
from millstream.cli.run.options import RunOptions
from millstream.cli.run.progress import Progress
from millstream.cli.terminal import DATA, INTERRUPTED, STORAGE, USAGE, note
from millstream.connect.kafka.options import shown as shown_path
from millstream.errors import DataError, LateElementError, MillstreamError, QueryError, StorageError
from millstream.rdf import Rejected


def execute(options: RunOptions, engine: str) -> None:
    """Runs, and ends the command with the code that says how it went."""
    progress = Progress()
    run = Run(options, progress=progress.show, before_output=progress.clear)
    how, code = "done", 0
    try:
        with _stopping(run):
            try:
                _run_on(engine, run)
            except Stopped:
                how, code = "stopped", INTERRUPTED
            finally:
                progress.clear()
                run.close()
    except ENDINGS as error:
        again = "run it again" if options.checkpoint is None else "the same command then goes on from its checkpoint"
        name = f"{options.queries[0].name}: " if isinstance(error, QueryError) and len(options.queries) == 1 else ""
        how, code = ended_by(error, f"{name}{error}", again, strict=options.strict)
    if run.sinks:
        if options.dead_letter is None:
            for rejected in run.dead_letters.first:
                note("set aside", shown(rejected))
        summary = progress.summary(run.counts, options.queries, how, options.dead_letter and shown_path(options.dead_letter))
        note(summary.partition(":")[0], summary.partition(": ")[2])
    if code:
        raise typer.Exit(code)


ENDINGS = (MillstreamError, KeyboardInterrupt, BrokenPipeError)
"""What may end a command before its end."""


def ended_by(error: BaseException, message: str, again: str, *, strict: bool) -> tuple[str, int]:
    """How a command ended, in a word, and its exit code; says what went wrong, if anything did."""
    if isinstance(error, KeyboardInterrupt):
        return "stopped", INTERRUPTED
    if isinstance(error, BrokenPipeError | StorageError):
        _close_standard_output()
    if isinstance(error, BrokenPipeError):
        return "done", 0
    if isinstance(error, StorageError):
        note("error", f"{message}; make room, {again}")
        return "failed", STORAGE
    note("error", message)
    return "failed", DATA if strict and isinstance(error, DataError | LateElementError) else USAGE


def _run_on(engine: str, run: Run) -> None:
    if engine == "embedded":
        from millstream.cli.run import embedded

        embedded.run(run)
        return
    # By name, so that without Spark everything else is still there.
    importlib.import_module("millstream.cli.run.spark").run(run)


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


def _close_standard_output() -> None:
    """Nobody reads any more: what is still buffered must not be written when the process ends."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def shown(rejected: Rejected) -> str:
    place = rejected.source
    if rejected.line is not None:
        place += f", line {rejected.line}" + (f", column {rejected.column}" if rejected.column is not None else "")
    return f"{place}: {rejected.reason}"
