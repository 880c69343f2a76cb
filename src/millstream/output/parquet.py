"""Answers as Parquet: at_ms, weight, and a column of N-Triples strings a variable, as a stream's source reads them."""

from __future__ import annotations

from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from millstream.errors import OptionError
from millstream.output.sink import FormatSink

_ROWS_A_GROUP = 1 << 16


class ParquetSink(FormatSink):
    """Gathers rows to row groups; complete only once it is closed, so it has no position to go on from."""

    def begin(self, length: int) -> None:
        if length:
            raise OptionError(f"{self.path}: Parquet files cannot be continued; use csv, tsv, json or ndjson")
        fields: list[pa.Field[Any]] = [pa.field(name, pa.int64()) for name in self.columns[: self.head]]
        fields += [pa.field(name, pa.string()) for name in self.columns[self.head :]]
        self._schema = pa.schema(fields)
        self._writer = pq.ParquetWriter(cast("IO[bytes]", self.file), self._schema, compression="zstd")
        self._waiting: list[pa.Table] = []
        self._rows = 0

    def write(self, answers: pa.Table) -> None:
        self._waiting.append(answers.cast(self._schema))
        self._rows += answers.num_rows
        if self._rows >= _ROWS_A_GROUP:
            self._write_group()

    def _write_group(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.concat_tables(self._waiting))
        self._waiting, self._rows = [], 0

    def end(self) -> str:
        self._write_group()
        self._writer.close()
        return ""
