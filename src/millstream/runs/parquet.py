"""Answers as Parquet: at_ms, weight, and a column of N-Triples strings a variable, as a stream's source reads them."""

from __future__ import annotations

from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from millstream.runs.writing import NUMBERS, Writer

_ROWS_A_GROUP = 1 << 16


class ParquetWriter(Writer):
    """Gathers rows to row groups; complete only once it has ended."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        terms = self.columns[len(NUMBERS) :]
        fields: list[pa.Field[Any]] = [pa.field(name, pa.int64()) for name in NUMBERS]
        fields += [pa.field(name, pa.string()) for name in terms]
        self._schema = pa.schema(fields)
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[pa.Table] = []
        self._rows = 0

    def begin(self, length: int) -> None:
        self._writer = pq.ParquetWriter(cast("IO[bytes]", self.file), self._schema, compression="zstd")

    def write(self, table: pa.Table) -> None:
        self._waiting.append(table.cast(self._schema))
        self._rows += table.num_rows
        if self._rows >= _ROWS_A_GROUP:
            self._write_group()

    def _write_group(self) -> None:
        if self._waiting and self._writer is not None:
            self._writer.write_table(pa.concat_tables(self._waiting))
        self._waiting, self._rows = [], 0

    def flush(self) -> None:
        """Nothing: what is not complete is of no use to a reader."""

    def end(self) -> None:
        self._write_group()
        if self._writer is not None:
            self._writer.close()
