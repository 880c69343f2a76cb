"""Row validation: which rows of a DataFrame are rows of a stream, three terms in their places and a time.

Batches without a fault are told by a look at their columns. Others are gone through row by row, as tables are in one
process, and what is wrong is set aside with its row and reason: one malformed message must not stop a job.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from millstream.errors import DataError
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.rdf.blanks import BlankScope
from millstream.rdf.element import Rejections
from millstream.rdf.readers.tables import read_rows
from millstream.rdf.times import MAX_MS, MIN_MS

Ids = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
TERMS = ("s", "p", "o")


class ValidRows:
    """The rows of a batch that can be taken: their triples, and for each row whether it is one of them, and its time."""

    def __init__(
        self, batch: pa.RecordBatch, first: Mask, dictionary: Dictionary, rejections: Rejections, first_row: int
    ) -> None:
        missing = [name for name in (*TERMS, "at_ms") if name not in batch.schema.names]
        if missing:
            raise DataError(f"a stream has the columns s, p, o and at_ms; {', '.join(missing)} is missing")
        self.sound = np.ones(batch.num_rows, np.bool_)
        self._batch = batch
        self._rejections = rejections
        self._first_row = first_row
        times = _times(batch.column("at_ms"))
        triples = None if times is None else _triples(batch, dictionary)
        if times is None or triples is None:
            times, triples = self._row_by_row(dictionary)
        self.at_ms: Ids = times
        self._triples = triples
        self._agree(np.cumsum(first) - 1)

    @property
    def triples(self) -> Ids:
        """The triples of the rows that are sound."""
        found: Ids = self._triples[self.sound]
        return found

    def reject(self, faulty: Mask, reason: str) -> None:
        """Sets more rows aside."""
        for row in np.flatnonzero(faulty & self.sound).tolist():
            self._rejections.reject(reason, line=self._first_row + row, text=self._text(row))
        self.sound &= ~faulty

    def _row_by_row(self, dictionary: Dictionary) -> tuple[Ids, Ids]:
        times, triples = np.zeros(len(self.sound), np.int64), np.full((len(self.sound), 3), -1, np.int64)
        self.sound[:] = False
        batch = self._batch.select([*TERMS, "at_ms"])
        texts: list[list[Any]] = [batch.column(name).to_pylist() for name in TERMS]
        for row in read_rows(iter([batch]), BlankScope(), self._rejections, first_line=self._first_row):
            place = row.line - self._first_row
            try:
                # As they are written, not as read: labels stay, since whoever made the rows knows which nodes are the same.
                triples[place] = [dictionary.encode_one(column[place]) for column in texts]
            except DataError as error:
                self._rejections.reject(error.reason, line=row.line, text=self._text(place))
                continue
            assert row.at_ms is not None
            self.sound[place], times[place] = True, row.at_ms
        return times, triples

    def _agree(self, element: Ids) -> None:
        """Sets elements aside whose rows have different times."""
        rows = np.flatnonzero(self.sound)
        same = np.flatnonzero(np.diff(element[rows]) == 0)
        other = self.at_ms[rows[same]] != self.at_ms[rows[same + 1]]
        torn = np.unique(element[rows[same[other]]])
        if len(torn):
            self.reject(np.isin(element, torn), "rows of one element disagree on at_ms")

    def _text(self, row: int) -> str:
        cells = (self._batch.column(name)[row].as_py() for name in TERMS)
        return " ".join("" if cell is None else str(cell) for cell in cells)


def _times(column: Any) -> Ids | None:
    """All times as milliseconds, or None if any must be looked at by itself."""
    if column.null_count:
        return None
    if pa.types.is_timestamp(column.type):
        counts: Ids = column.cast(pa.int64()).to_numpy()
        match column.type.unit:
            case "s":
                return None
            case "ms":
                found = counts
            case "us":
                found = counts // 1000
            case _:
                found = counts // 1_000_000
    elif pa.types.is_integer(column.type) and not pa.types.is_uint64(column.type):
        found = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    else:
        return None
    within: bool = not len(found) or (found.min() >= MIN_MS and found.max() <= MAX_MS)
    return found if within else None


def _triples(batch: pa.RecordBatch, dictionary: Dictionary) -> Ids | None:
    """All rows as triples, or None if one is none."""
    if any(batch.column(name).null_count for name in TERMS):
        return None
    texts = [_texts(batch, name) for name in TERMS]
    if not all(pa.types.is_string(t.type) or pa.types.is_large_string(t.type) for t in texts):
        return None
    s, p, _ = texts
    begins: Any = pc.starts_with
    if not pc.all(pc.or_(begins(s, "<"), begins(s, "_"))).as_py() or not pc.all(begins(p, "<")).as_py():
        return None
    if pc.any(pc.or_(begins(s, "<<"), begins(p, "<<"))).as_py():
        return None
    try:
        return np.column_stack([dictionary.encode_column(text) for text in texts])
    except DataError:
        return None


def _texts(batch: pa.RecordBatch, name: str) -> pa.Array[Any]:
    column: Any = batch.column(name)
    text: pa.Array[Any] = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return text
