"""Where the answers of each query go: a file each, or all to standard output, where rows say which query they are of."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from io import BufferedIOBase
from pathlib import Path

import numpy as np
import pyarrow as pa
from rich.console import Console

from millstream.errors import OptionError
from millstream.runs.delimited import CsvWriter, TsvWriter
from millstream.runs.files import OutputFile, StandardOutput
from millstream.runs.formats import OutputFormat
from millstream.runs.json_results import JsonWriter, NdjsonWriter
from millstream.runs.options import STANDARD, RunQuery
from millstream.runs.parquet import ParquetWriter
from millstream.runs.quads import NQuadsWriter
from millstream.runs.table import TableWriter
from millstream.runs.writing import NUMBERS, Writer


class Outputs:
    """Writers for all queries of a run; `write` takes the answers of one query, in time order."""

    def __init__(
        self,
        queries: Sequence[RunQuery],
        format: OutputFormat,
        output: str | None = None,
        lengths: dict[str, int] | None = None,
        before_output: Callable[[], None] = lambda: None,
    ) -> None:
        """`lengths`, from the method of that name, continues files instead of making them anew."""
        self._queries = queries
        self._format = format
        self._before_output = before_output
        self._standard = output in (None, STANDARD)
        self._files: dict[str, OutputFile] = {}
        self._writers: list[Writer] = []
        if self._standard:
            shared = len(queries) > 1
            columns = _shared_columns(queries) if shared else _columns(queries[0])
            self._writers = [self._writer(StandardOutput(), columns, queries)] * len(queries)
            self._writers[0].begin(0)
            return
        assert output is not None
        for query, path in zip(queries, output_paths([q.name for q in queries], output, format), strict=True):
            length = None if lengths is None else lengths.get(path, 0)
            file = self._files[path] = OutputFile(path, length)
            self._writers.append(self._writer(file, _columns(query), [query]))
            self._writers[-1].begin(length or 0)

    def _writer(self, file: BufferedIOBase, columns: tuple[str, ...], queries: Sequence[RunQuery]) -> Writer:
        match self._format:
            case OutputFormat.CSV:
                return CsvWriter(file, columns)
            case OutputFormat.TSV:
                return TsvWriter(file, columns)
            case OutputFormat.JSON:
                return JsonWriter(file, columns)
            case OutputFormat.NDJSON:
                return NdjsonWriter(file, columns)
            case OutputFormat.PARQUET:
                return ParquetWriter(file, columns)
            case OutputFormat.N_QUADS:
                return NQuadsWriter(file, columns)
        # Where queries mean different things by a prefix, the first that is listed has it.
        prefixes = {prefix: iri for query in reversed(queries) for prefix, iri in query.query.prefixes}
        console = Console(highlight=False, emoji=False) if self._standard and sys.stdout.isatty() else None
        return TableWriter(file, columns, prefixes, console)

    def write(self, query: int, table: pa.Table) -> None:
        """Answers of one query: at_ms, weight, one column of N-Triples strings a variable."""
        if not table.num_rows:
            return
        if self._standard:
            self._before_output()
            if len(self._queries) > 1:
                table = _shared(table, self._queries[query].name, self._writers[query].columns)
        self._writers[query].write(table)

    def write_all(self, tables: Sequence[pa.Table]) -> None:
        """Answers of all queries; those that share standard output are put in order of time, then of queries."""
        some = [(number, table) for number, table in enumerate(tables) if table.num_rows]
        if not self._standard or len(some) < 2:
            for number, table in some:
                self.write(number, table)
            return
        columns = self._writers[0].columns
        together = pa.concat_tables([_shared(table, self._queries[number].name, columns) for number, table in some])
        order = np.argsort(together.column("at_ms").to_numpy(), kind="stable")
        self._before_output()
        self._writers[0].write(together.take(order))

    def flush(self) -> None:
        """What was written can be read, as far as the format allows."""
        for writer in self._writers[:1] if self._standard else self._writers:
            writer.flush()

    def lengths(self) -> dict[str, int]:
        """How long each file is, all of it on disk."""
        return {path: file.sync() for path, file in self._files.items()}

    def close(self) -> None:
        """Completes what each format must complete."""
        writers, self._writers = self._writers, []
        if self._standard and writers:
            self._before_output()
        with ExitStack() as stack:
            # All of them, also where some cannot be completed.
            for file in self._files.values():
                stack.callback(file.close)
            for writer in writers[:1] if self._standard else writers:
                stack.callback(writer.end)


def output_paths(names: Sequence[str], output: str, format: OutputFormat) -> list[str]:
    """A file for each query: the path itself for one, files named after the queries in a folder."""
    folder = output.endswith(("/", os.sep)) or Path(output).is_dir()
    if not folder and len(names) == 1:
        return [output]
    if not folder and Path(output).suffix:
        raise OptionError(
            f"--output {output}: {len(names)} queries need a file each; give a folder, as in --output answers/"
        )
    found: list[str] = []
    for name in names:
        number, path = 1, str(Path(output) / f"{name}{format.ending}")
        while path in found:
            number += 1
            path = str(Path(output) / f"{name}-{number}{format.ending}")
        found.append(path)
    return found


def _columns(query: RunQuery) -> tuple[str, ...]:
    return (*NUMBERS, *query.variables)


def _shared_columns(queries: Sequence[RunQuery]) -> tuple[str, ...]:
    return ("query", *NUMBERS, *dict.fromkeys(name for query in queries for name in query.variables))


def _shared(table: pa.Table, name: str, columns: tuple[str, ...]) -> pa.Table:
    """Answers of one query in the columns of all: which query first, variables it does not have unbound."""
    rows = table.num_rows
    literal = '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    found = [pa.array([literal] * rows, pa.string()), *(table.column(i).combine_chunks() for i in range(len(NUMBERS)))]
    for column in columns[1 + len(NUMBERS) :]:
        place = table.column_names.index(column, len(NUMBERS)) if column in table.column_names[len(NUMBERS) :] else -1
        found.append(pa.nulls(rows, pa.string()) if place < 0 else table.column(place).cast(pa.string()).combine_chunks())
    return pa.table(found, names=list(columns))
