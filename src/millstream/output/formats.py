"""The formats that answers are written in: which one the name of a file means, and the sink of each."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import PurePath

from millstream.errors import OptionError
from millstream.output.delimited import CsvSink, TsvSink
from millstream.output.json_results import JsonSink, NdjsonSink
from millstream.output.parquet import ParquetSink
from millstream.output.quads import NQuadsSink
from millstream.output.sink import NUMBERS, FormatSink
from millstream.output.table import TableSink


class OutputFormat(enum.StrEnum):
    """A format by its name; the value is what people type."""

    TABLE = "table"
    CSV = "csv"
    TSV = "tsv"
    JSON = "json"
    NDJSON = "ndjson"
    N_QUADS = "nquads"
    PARQUET = "parquet"

    @property
    def ending(self) -> str:
        """How names of its files end."""
        return _ENDINGS[self][0]


_ENDINGS = {
    OutputFormat.TABLE: (".txt",),
    OutputFormat.CSV: (".csv",),
    OutputFormat.TSV: (".tsv",),
    OutputFormat.JSON: (".json", ".srj"),
    OutputFormat.NDJSON: (".ndjson", ".jsonl"),
    OutputFormat.N_QUADS: (".nq", ".nquads"),
    OutputFormat.PARQUET: (".parquet", ".pq"),
}
_SINKS: dict[OutputFormat, type[FormatSink]] = {
    OutputFormat.CSV: CsvSink,
    OutputFormat.TSV: TsvSink,
    OutputFormat.JSON: JsonSink,
    OutputFormat.NDJSON: NdjsonSink,
    OutputFormat.N_QUADS: NQuadsSink,
    OutputFormat.PARQUET: ParquetSink,
}


def file_sink(
    path: str | PathLike[str],
    variables: Sequence[str],
    format: str | None = None,
    *,
    prefixes: Mapping[str, str] | None = None,
) -> FormatSink:
    """A sink that writes a file, or standard output (`-`), in the format given, else in that of the file's name, else CSV.

    >>> file_sink("answers.ndjson", ["person", "room"]).columns
    ('at_ms', 'weight', 'person', 'room')
    """
    return sink_of(named_output(format, fspath(path)), fspath(path), (*NUMBERS, *variables), prefixes or {})


def named_output(name: str | None, path: str) -> OutputFormat:
    """The format of that name; without one what the name of the file tells, or CSV."""
    if name is None:
        ending = PurePath(path).suffix.lower()
        return next((format for format, endings in _ENDINGS.items() if ending in endings), OutputFormat.CSV)
    try:
        return OutputFormat(name.lower())
    except ValueError:
        raise OptionError(f"format {name}: not known; it is one of {', '.join(OutputFormat)}") from None


def sink_of(format: OutputFormat, path: str, columns: tuple[str, ...], prefixes: Mapping[str, str]) -> FormatSink:
    """The sink of a format; only tables for people shorten IRIs by prefixes."""
    return TableSink(path, columns, prefixes) if format is OutputFormat.TABLE else _SINKS[format](path, columns)
