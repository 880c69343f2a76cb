"""The formats that answers are written in, and which one the name of a file means."""

from __future__ import annotations

import enum
from pathlib import PurePath


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
        return {OutputFormat.TABLE: ".txt", OutputFormat.N_QUADS: ".nq"}.get(self, f".{self.value}")


_ENDINGS = {
    ".txt": OutputFormat.TABLE,
    ".csv": OutputFormat.CSV,
    ".tsv": OutputFormat.TSV,
    ".json": OutputFormat.JSON,
    ".srj": OutputFormat.JSON,
    ".ndjson": OutputFormat.NDJSON,
    ".jsonl": OutputFormat.NDJSON,
    ".nq": OutputFormat.N_QUADS,
    ".nquads": OutputFormat.N_QUADS,
    ".parquet": OutputFormat.PARQUET,
    ".pq": OutputFormat.PARQUET,
}


def format_of_output(path: str) -> OutputFormat | None:
    """The format that the name of a file tells, if any."""
    return _ENDINGS.get(PurePath(path).suffix.lower())
