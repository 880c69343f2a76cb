"""`millstream map`: rows of CSV or JSON lines to stream elements, by a template."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from io import BufferedIOBase
from pathlib import Path

import typer

from millstream.cli.run.arguments import check_path
from millstream.cli.run.run import ENDINGS, ended_by, shown
from millstream.cli.run.sources import StandardInput
from millstream.cli.suggestion import suggest
from millstream.cli.terminal import fail, note
from millstream.errors import DataError, OptionError, StorageError
from millstream.output import DeadLetters
from millstream.output.files import STANDARD, open_output
from millstream.rdf import Format, OnRejected, Rejected, Rejections, format_of_path
from millstream.rdf.inputs import ByteStream, Readable, files_of, open_file
from millstream.rdf.mapping.mapping import Mapped, map_rows
from millstream.rdf.mapping.templates import Template, read_template

_FORMATS = {"nquads": True, "nq": True, "ntriples": False, "nt": False}
_INPUT_FORMATS = {"csv": False, "jsonl": True, "jsonlines": True, "ndjson": True}
_WRITTEN_TOGETHER = 1 << 16


def map_files(
    rows: str, template: str, output: str, format: str, input_format: str | None, dead_letter: str | None, strict: bool
) -> None:
    """Maps all rows and ends the command with the code that says how it went."""
    letters = DeadLetters(dead_letter)
    counts = Mapped()
    set_aside = 0

    def count(rejected: Rejected) -> None:
        nonlocal set_aside
        set_aside += 1
        letters.add(rejected)

    how, code = "done", 0
    try:
        found = _template(template)
        graphs, lines = _chosen("--format", format, _FORMATS), _chosen("--input-format", input_format, _INPUT_FORMATS)
        check_path(rows, "INPUT.csv")
        if dead_letter == STANDARD and output == STANDARD:
            raise OptionError("--dead-letter -: elements go to standard output already; give --output or another path")
        letters.open()
        with closing(letters), open_output(output) as file:
            _map(rows, found, file, counts, lines, bool(graphs), None if strict else count)
            file.flush()
    except OptionError as error:
        fail(str(error))
    except ENDINGS as error:
        how, code = ended_by(error, str(error), "run it again", strict=strict)
    if dead_letter is None:
        for rejected in letters.first:
            note("set aside", shown(rejected))
    there = f" in {dead_letter}" if dead_letter is not None and set_aside else ""
    note(how, f"{counts.rows:,} rows, {counts.triples:,} triples; {set_aside:,} set aside{there}")
    if code:
        raise typer.Exit(code)


def suggest_template(rows: str, output: str, input_format: str | None) -> None:
    """Writes a template for the rows of the first file."""
    try:
        lines = _chosen("--input-format", input_format, _INPUT_FORMATS)
        check_path(rows, "INPUT.csv")
        name, source = next(_sources(rows))
        with source as raw:
            stream = ByteStream(raw, Rejections(name, None))
            found = suggest(stream, "-" if rows == STANDARD else name, lines=_as_lines(name) if lines is None else lines)
        with open_output(output) as file:
            file.write(found.text.encode())
    except (OptionError, DataError, StorageError) as error:
        fail(str(error))
    time = "no column looks like a time" if found.time is None else f"the time is in {found.time.name}"
    count = len(found.columns)
    note("suggested", f"{count} column{'' if count == 1 else 's'}; {time}; look through it before you use it")


def _as_lines(name: str) -> bool:
    return format_of_path(name) in (Format.JSON_LINES, Format.JSON_LD)


def _map(
    rows: str,
    template: Template,
    file: BufferedIOBase,
    counts: Mapped,
    lines: bool | None,
    graphs: bool,
    receiver: OnRejected | None,
) -> None:
    for name, source in _sources(rows):
        as_lines = lines if lines is not None else _as_lines(name)
        rejections = Rejections(name, receiver)
        with source as raw:
            stream = ByteStream(raw, rejections)
            waiting: list[str] = []
            length = 0
            for text in map_rows(template, stream, rejections, counts, lines=as_lines, graphs=graphs):
                waiting.append(text)
                length += len(text)
                # From a pipe, what has come goes on at once when there is no more for now.
                if length >= _WRITTEN_TOGETHER or name == StandardInput.name:
                    file.write("".join(waiting).encode())
                    waiting, length = [], 0
            file.write("".join(waiting).encode())


def _sources(path: str) -> Iterator[tuple[str, AbstractContextManager[Readable]]]:
    if path == STANDARD:
        yield StandardInput.name, nullcontext(StandardInput(lambda: sys.stdout.flush()))
        return
    for file in files_of(path, any_ending=True):
        yield file.name, open_file(file.path)


def _template(path: str) -> Template:
    try:
        return read_template(Path(path).read_text("utf-8"), path)
    except OSError as error:
        raise OptionError(f"--template {path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise OptionError(f"--template {path}: not UTF-8 text") from None


def _chosen(option: str, name: str | None, known: dict[str, bool]) -> bool | None:
    if name is None:
        return None
    if name.lower() not in known:
        raise OptionError(f"{option} {name}: not known; it is one of {', '.join(known)}")
    return known[name.lower()]
