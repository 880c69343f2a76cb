"""`millstream check`: timelines with expected answers, each drawn if it fails."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import typer
from rich.text import Text

from millstream.cli.engines import choose_engine
from millstream.cli.terminal import FAILED, USAGE, fail, note, output
from millstream.errors import DataError, MillstreamError, OptionError
from millstream.testing import Outcome, read_spec
from millstream.testing.drawing import drawn, title

ENDING = ".check"


def check_specs(paths: list[str], engine: str, show: bool) -> None:
    """Checks all of them, and ends the command with the code that says how it went."""
    if choose_engine(engine) == "spark":
        _start_spark()
    counts = {"passed": 0, "failed": 0, "with errors": 0}
    for path in [file for given in paths for file in _files(given)]:
        try:
            outcome = read_spec(path).run(engine)
        except MillstreamError as error:
            counts["with errors"] += 1
            note("error", _explained(error, path))
            continue
        counts["passed" if outcome.passed else "failed"] += 1
        _report(outcome, show=show)
    told = ", ".join(f"{count} {how}" for how, count in counts.items() if count)
    note("done", told)
    if counts["with errors"] or counts["failed"]:
        raise typer.Exit(USAGE if counts["with errors"] else FAILED)


def _files(path: str) -> list[Path]:
    """The SPECs that a path means: a file, or those in a folder."""
    found = Path(path)
    if not found.is_dir():
        return [found]
    specs = sorted(file for file in found.rglob(f"*{ENDING}") if file.is_file())
    if not specs:
        fail(f"{path}: there is no SPEC in this folder; their names end with {ENDING}")
    return specs


def _start_spark() -> None:
    """A session for all of them; what Java and pandas have to say is not about timelines."""
    from millstream.pipeline import session
    from millstream.pipeline.runtime.java_output import said_to

    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    try:
        with tempfile.NamedTemporaryFile(suffix=".log") as log, said_to(Path(log.name)):
            session("local[2]", dedicated=True)
    except MillstreamError as error:
        fail(str(error))


def _report(outcome: Outcome, *, show: bool) -> None:
    if outcome.passed and not show:
        output().print(Text(title(outcome), "green"))
    else:
        output().print(drawn(outcome))


def _explained(error: MillstreamError, path: Path) -> str:
    if isinstance(error, DataError) and error.text and error.column is not None:
        indent = "".join("\t" if c == "\t" else " " for c in error.text[: error.column - 1])
        return f"{error}\n  {error.text}\n  {indent}^"
    if isinstance(error, DataError) and error.source:
        return str(error)
    hint = "; see --engine" if isinstance(error, OptionError) else ""
    return f"{path}: {error}{hint}"
