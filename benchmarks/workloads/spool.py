"""Streams on disk: tables of elements that are written once and read a table at a time, as often as it takes.

So a stream may be longer than memory, and what is measured is not what making it left behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

ROWS = 200_000
"""Of a table, or as many more as its last element takes."""
Timed = tuple[int, str]
"""An element as its time and its lines of N-Triples."""


def write(path: Path, elements: Iterable[Timed], rows: int = ROWS) -> int:
    """Writes elements in order of time; gives the number of triples."""
    return write_tables(path, tables(elements, rows))


def write_tables(path: Path, made: Iterable[pa.Table]) -> int:
    rest = iter(made)
    first = next(rest)
    written = 0
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, first.schema, options=options) as writer:
        for table in chain([first], rest):
            # A batch a table, so that elements stay whole when they are read.
            writer.write_batch(table.combine_chunks().to_batches()[0])
            written += table.num_rows
    return written


def read(path: Path, before_ms: int | None = None) -> Iterator[pa.Table]:
    """The tables again, up to a time if one is given."""
    with pa.OSFile(str(path), "rb") as file, pa.ipc.open_file(file) as reader:
        for number in range(reader.num_record_batches):
            table = pa.Table.from_batches([reader.get_batch(number)])
            count = table.num_rows
            if before_ms is not None:
                count = int(np.searchsorted(table["at_ms"].to_numpy(), before_ms))
            if count:
                yield table.slice(0, count)
            if count < table.num_rows:
                return


def tables(elements: Iterable[Timed], rows: int = ROWS) -> Iterator[pa.Table]:
    """Elements in tables as `Engine.push_table` takes them, none of them in two."""
    some: list[Timed] = []
    first = held = 0
    for at_ms, text in elements:
        some.append((at_ms, text))
        held += text.count("\n")
        if held >= rows:
            yield _table(some, first)
            first, held, some = first + len(some), 0, []
    if some:
        yield _table(some, first)


def _table(elements: list[Timed], first: int) -> pa.Table:
    lines = pa.array("".join(text for _, text in elements).splitlines())
    # Subjects and predicates have no spaces, so a line falls into three at the first two of them; the end is " .".
    parts = pc.split_pattern(lines, " ", max_splits=2).flatten()
    s, p, o = (parts.take(np.arange(place, len(parts), 3)) for place in range(3))
    sizes = [text.count("\n") for _, text in elements]
    at_ms = np.repeat(np.array([at_ms for at_ms, _ in elements], np.int64), sizes)
    element = np.repeat(np.arange(first, first + len(elements)), sizes)
    columns = {"s": s, "p": p, "o": pc.utf8_slice_codeunits(o, 0, -2), "at_ms": pa.array(at_ms)}
    return pa.table({**columns, "element": pa.array(element)})
