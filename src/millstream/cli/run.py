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

from millstream.cli.options import RunOptions
from millstream.cli.outputs import Run, Stopped
from millstream.cli.progress import Progress
from millstream.cli.terminal import note
from millstream.errors import DataError, LateElementError, MillstreamError, QueryError, StorageError
from millstream.rdf import Rejected

DATA = 1
"""The exit code for bad data in a strict run."""
STORAGE = 3
"""The exit code when something could not be written, as on a full disk."""
INTERRUPTED = 130


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
    if run.sinks:
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
    importlib.import_module("millstream.cli.spark").run(run)


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
