"""Tables as changes of graphs: rows of s, p, o and `op`, and where there are `g`, `at_ms` and `element`.

`op` is 1, `A`, `insert` or `+` for a triple that comes, -1, `D`, `delete` or `-` for one that goes. A row is a change;
rows that follow each other with an equal `element`, and agree on everything else, are one. Without `at_ms` all happens now.

A table in memory without a fault goes to the scanner as it is; others are read row by row, which tells what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import DefaultGraph

from millstream.errors import DataError
from millstream.ingest.chunk import Chunk, Want
from millstream.ingest.columns import Columns, Ids
from millstream.ingest.parts import Part
from millstream.ingest.readers.clean_tables import Attempt, clean_table, first_rows, table_columns
from millstream.ingest.readers.gathering import read_changes_of
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.repeats import repeats
from millstream.kernels.scanning.summary import Summary
from millstream.rdf.statements import Change
from millstream.rdf.timing import TimeKind, checked_clock

INSERT, DELETE = ("A", "insert", "+", 1), ("D", "delete", "-", -1)
OPS = "op is A or insert, D or delete"
Mask = npt.NDArray[np.bool_]


def ops_of(batch: pa.RecordBatch | pa.Table) -> tuple[Ids, Mask]:
    """For each row 1 if its triple comes and -1 if it goes, and whether it says so."""
    if "op" not in batch.schema.names:
        raise DataError("changes have the columns s, p, o, at_ms and op; op is missing")
    column: Any = batch.column("op")
    if pa.types.is_integer(column.type):
        ops: Ids = column.fill_null(0).to_numpy().astype(np.int64)
        return ops, np.abs(ops) == 1
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return np.ones(len(column), np.int64), np.zeros(len(column), np.bool_)
    texts = ([each for each in some if isinstance(each, str)] for some in (INSERT, DELETE))
    inserts, deletes = (np.asarray(pc.is_in(column, pa.array(some)), np.bool_) for some in texts)
    return np.where(inserts, 1, -1).astype(np.int64), inserts | deletes


def read_change_table(part: Part, want: Want) -> Iterator[Chunk]:
    """The changes that a table has; the option of the time comes before its column."""
    option, clock_ms = want.option, want.clock_ms
    if isinstance(part.table, pa.Table) and "op" not in part.table.column_names:
        raise DataError("changes have the columns s, p, o and op; op is missing", source=part.name)
    if option is None and isinstance(part.table, pa.Table) and part.table.num_rows:
        reading = Attempt(partial(_columns, part.table, part))
        yield Chunk(reading.encode)
        if not reading.is_malformed:
            return
    changes = _changes(part, timed=option is None)
    if option is not None and option.kind is TimeKind.ARRIVAL and clock_ms is not None:
        changes = (replace(change, at_ms=checked_clock(clock_ms)) for change in changes)
    yield from read_changes_of(part, changes, None if option is None else option.rate)


def _changes(part: Part, *, timed: bool) -> Iterator[Change]:
    """Row by row."""
    rows = part.rows(timed=None if timed else False)

    def sound() -> Iterator[tuple[Any, ...]]:
        for row in rows:
            if (row.op not in INSERT and row.op not in DELETE) or isinstance(row.op, bool):
                part.rejections.reject(OPS, line=row.line, text=f"{row.quad} .")
                continue
            # Without an element a row is like no other.
            element = row.line if row.element is None else (row.element,)
            yield element, row.op in INSERT, row.quad.graph_name, row.at_ms, row

    for (_, insert, graph, at_ms), some in groupby(sound(), key=lambda found: found[:4]):
        found = [row for *_, row in some]
        named = None if isinstance(graph, DefaultGraph) else graph
        yield Change(insert, tuple(row.quad.triple for row in found), named, at_ms, found[0].line)


def _columns(table: pa.Table, part: Part, dictionary: Dictionary, summary: Summary | None) -> Columns | None:
    """The changes of a table without a fault; None for another. Nobody's summary is about changes."""
    names = table.column_names
    if len(set(names)) != len(names) or ("element" in names and table["element"].null_count):
        return None
    op, said = ops_of(table)
    graph = _graphs(table, dictionary)
    timed = "at_ms" in names
    plain = table.select(["s", "p", "o"]) if {"s", "p", "o"} <= set(names) else table
    times: Any = table["at_ms"] if timed else pa.array(np.zeros(table.num_rows, np.int64))
    clean = clean_table(plain.append_column("at_ms", times)) if "at_ms" not in plain.column_names else None
    if clean is None or graph is None or not said.all():
        return None
    rows = table_columns(clean, part, dictionary, None)
    if rows is None:
        return None
    begins = first_rows(table)
    for column in (op, graph, clean.at_ms):
        begins[1:] |= column[1:] != column[:-1]
    change = np.cumsum(begins) - 1
    triples, element = rows.triples, change[rows.element]
    kept = ~repeats(element, triples)
    sizes = np.bincount(element[kept], minlength=int(change[-1]) + 1)
    at_ms = clean.at_ms[begins] if timed else None
    return Columns(triples[kept], element[kept], len(sizes), at_ms, sizes, graph[rows.element][kept], sign=op[begins])


def _graphs(table: pa.Table, dictionary: Dictionary) -> Ids | None:
    """For each row the id of its graph, -1 for the default graph; None if one is not named by an IRI."""
    if "g" not in table.column_names:
        return np.full(table.num_rows, -1, np.int64)
    column: Any = table["g"].combine_chunks()
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return None
    equal: Any = pc.equal
    column = pc.if_else(equal(column, ""), None, column)
    if not pc.all(pc.starts_with(column, "<"), min_count=0).as_py() or pc.any(pc.starts_with(column, "<<")).as_py():
        return None
    encoded: Any = column.dictionary_encode()
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    try:
        ids = np.append(dictionary.encode_column(encoded.dictionary), -1)
    except DataError:
        return None
    found: Ids = ids[encoded.indices.fill_null(len(ids) - 1).to_numpy(zero_copy_only=False)]
    return found
