"""Tables of triples as streams."""

from __future__ import annotations

import gzip
from pathlib import Path
from threading import get_ident
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from millstream import Engine
from millstream.errors import DataError, OptionError
from millstream.rdf import Rejected
from tests.readers import read_elements, read_quads


def table(rows: list[tuple[Any, ...]], *names: str) -> pa.Table:
    columns = ("s", "p", "o", "at_ms", *names)
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(columns)})


def shown(source: object, **options: Any) -> tuple[list[tuple[int, int]], list[Rejected]]:
    rejected: list[Rejected] = []
    elements = read_elements(source, on_rejected=rejected.append, **options)
    return [(e.at_ms, len(e.triples)) for e in elements], rejected


ROWS = [("<x:a>", "<x:p>", '"1"', 5), ("<x:b>", "<x:p>", '"2"', 7)]


def test_each_row_is_an_element() -> None:
    assert shown(table(ROWS)) == ([(5, 1), (7, 1)], [])


def test_consecutive_rows_of_an_equal_element_are_one() -> None:
    rows = [("<x:a>", "<x:p>", f'"{n}"', element, element) for n, element in enumerate([1, 1, 2, 1])]
    assert shown(table(rows, "element")) == ([(1, 2), (2, 1), (1, 1)], [])


def test_rows_of_an_element_that_disagree_on_the_time_are_set_aside() -> None:
    rows = [("<x:a>", "<x:p>", '"1"', 5, "e"), ("<x:a>", "<x:p>", '"2"', 6, "e"), ("<x:a>", "<x:p>", '"3"', 7, "f")]
    elements, (rejected,) = shown(table(rows, "element"))
    assert elements == [(7, 1)]
    assert (rejected.line, rejected.reason) == (2, "rows of element 'e' disagree on at_ms: 5 and 6")


def test_a_bad_row_costs_only_itself() -> None:
    rows = [*ROWS, ("oops", "<x:p>", '"1"', 5), ("<x:a>", None, '"1"', 5), ("<x:a>", "<x:p>", '"1"', None), ROWS[0]]
    elements, rejected = shown(table(rows))
    assert elements == [(5, 1), (7, 1), (5, 1)]
    assert [r.line for r in rejected] == [3, 4, 5]


def test_a_subject_that_is_a_literal_is_a_bad_row() -> None:
    elements, (rejected,) = shown(table([('"x"', "<x:p>", '"1"', 5)]))
    assert elements == []
    assert rejected.line == 1


def test_a_cell_holds_one_term_only() -> None:
    elements, rejected = shown(table([("<x:a>", "<x:p>", '"1" .\n<x:a> <x:p> "2"', 5)]))
    assert elements == []
    assert len(rejected) == 1


def test_a_missing_column_is_named() -> None:
    with pytest.raises(DataError, match="o, at_ms; it has s, p"):
        shown(pa.table({"s": ["<x:a>"], "p": ["<x:p>"]}))


def test_timestamps_are_rounded_down_to_milliseconds() -> None:
    times = pa.array([-1, 1_999_999], pa.timestamp("ns"))
    source = pa.table({"s": ["<x:a>"] * 2, "p": ["<x:p>"] * 2, "o": ['"1"'] * 2, "at_ms": times})
    assert shown(source)[0] == [(-1, 1), (1, 1)]


def test_rows_can_have_a_rate_instead_of_times() -> None:
    assert shown(table(ROWS).drop_columns(["at_ms"]), time="rate:1")[0] == [(0, 1), (1000, 1)]


def test_a_batch_and_a_reader_are_tables_too() -> None:
    assert shown(table(ROWS).to_batches()[0])[0] == [(5, 1), (7, 1)]
    assert shown(table(ROWS).to_reader())[0] == [(5, 1), (7, 1)]


def test_labels_are_nodes_of_the_table() -> None:
    first, second = read_elements(table([("_:a", "<x:p>", '"1"', 5), ("_:a", "<x:p>", '"2"', 5)]))
    assert first.triples[0].subject == second.triples[0].subject


def test_graphs_of_rows_are_kept_for_datasets() -> None:
    rows = [(*ROWS[0], "<x:g>"), (*ROWS[1], None)]
    assert [str(q) for q in read_quads(table(rows, "g"))] == ['<x:a> <x:p> "1" <x:g>', '<x:b> <x:p> "2"']


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.feather", "t.arrows", "t.csv", "t.csv.gz"])
def test_tables_are_read_from_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    match name.split(".", 1)[1]:
        case "parquet":
            pyarrow.parquet.write_table(table(ROWS), path)
        case "arrow":
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table(ROWS).schema) as writer:
                writer.write_table(table(ROWS))
        case "arrows":
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table(ROWS).schema) as writer:
                writer.write_table(table(ROWS))
        case "feather":
            pyarrow.feather.write_feather(table(ROWS), str(path))
        case ending:
            text = b's,p,o,at_ms\n<x:a>,<x:p>,"""1""",5\n<x:b>,<x:p>,"""2""",7\n'
            path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    assert shown(path) == ([(5, 1), (7, 1)], [])
    assert shown(path.read_bytes(), format=name.removeprefix("t.")) == ([(5, 1), (7, 1)], [])


def test_bad_rows_of_a_csv_file_are_set_aside_with_their_lines() -> None:
    text = b's,p,o,at_ms\n<x:a>,<x:p>,"""1""",5\nshort,row\n<x:a>,<x:p>,"""\xff""",5\n'
    text += b'<x:a>,<x:p>,"""2""",x\n<x:a>,<x:p>,<x:o>,6\n'
    elements, rejected = shown(text, format="csv")
    assert elements == [(5, 1), (6, 1)]
    assert [r.line for r in rejected] == [3, 4, 5]


@pytest.mark.parametrize("format", ["parquet", "arrow", "csv"])
def test_bytes_that_are_no_table_are_set_aside(format: str) -> None:
    elements, (rejected,) = shown(b"\x00garbage", format=format) if format != "csv" else shown(b"", format=format)
    assert elements == []
    assert format in rejected.reason


def test_named_graphs_are_no_elements_of_tables() -> None:
    with pytest.raises(OptionError, match="tables"):
        shown(table(ROWS), element="graph")


def test_a_row_of_csv_that_is_short_and_not_utf8_costs_only_itself() -> None:
    text = b's,p,o,at_ms\n<x:a>,<x:p>,"""1""",5\nshort,\xff\n<x:a>,<x:p>,"""\\\xff""",5\n<x:a>,<x:p>,<x:o>,6\n'
    elements, rejected = shown(text, format="csv")
    assert elements == [(5, 1), (6, 1)]
    assert [r.line for r in rejected] == [3, 4]


def test_a_strict_reader_of_csv_raises_for_a_row_with_too_few_cells() -> None:
    text = b"s,p,o,at_ms\n<x:a>,<x:p>,<x:b>,5\nshort,row\n<x:a>,<x:p>,<x:o>,6\n"
    with pytest.raises(DataError, match="line 3: the row has 2 cells, the header 4"):
        list(read_elements(text, format="csv", strict=True))


def written(column: pa.Array) -> bytes:
    """An Arrow stream with this as its column o."""
    columns = {"s": ["<x:a>"] * len(column), "p": ["<x:p>"] * len(column), "o": column, "at_ms": [5] * len(column)}
    some, sink = pa.table(columns), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, some.schema) as writer:
        writer.write_table(some)
    return sink.getvalue().to_pybytes()


def test_text_of_a_table_file_that_is_not_utf8_makes_its_row_malformed() -> None:
    cells = pa.array([b'"1"', b'"\xff"', b'"2"'], pa.binary()).view(pa.string())
    elements, (rejected,) = shown(written(cells), format="arrow")
    assert elements == [(5, 1), (5, 1)]
    assert rejected.line == 2


@pytest.mark.parametrize("format", ["arrow", "parquet"])
def test_a_table_file_whose_names_are_not_utf8_is_set_aside(format: str) -> None:
    given, sink = table(ROWS).append_column("further", pa.array([1, 2])), pa.BufferOutputStream()
    if format == "parquet":
        pyarrow.parquet.write_table(given, sink, store_schema=False)
    else:
        with pa.ipc.new_stream(sink, given.schema) as writer:
            writer.write_table(given)
    damaged = sink.getvalue().to_pybytes().replace(b"further", b"fur\xb8her")
    elements, (rejected,) = shown(damaged, format=format)
    assert elements == []
    assert f"not a readable {format} table" in rejected.reason


def test_a_table_file_whose_offsets_lie_beyond_its_text_is_set_aside() -> None:
    offsets = pa.array([0, 1 << 30, 3], pa.int32()).buffers()[1]
    cells = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"abc")])
    elements, (rejected,) = shown(written(cells), format="arrow")
    assert elements == []
    assert "not a readable arrow table" in rejected.reason


def test_a_table_in_memory_whose_offsets_lie_beyond_its_text_is_refused() -> None:
    offsets = pa.array([0, 1 << 30, 3], pa.int32()).buffers()[1]
    cells = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"abc")])
    some = pa.table({"s": ["<x:a>"] * 2, "p": ["<x:p>"] * 2, "o": cells, "at_ms": [5, 5]})
    engine = Engine()
    engine.push_table("x:s", some)
    (rejected,) = engine.rejected()
    assert "not a readable table" in rejected.reason


@pytest.mark.parametrize("cell", ["<x:o> . #", "<x:o> . # <x:q>", "<x:o> # <x:q>"])
def test_a_cell_with_a_comment_is_a_bad_row_however_good_the_others_are(cell: str) -> None:
    engine = Engine()
    engine.push_table("x:s", pa.table({"s": ["<x:a>"] * 2, "p": ["<x:p>"] * 2, "o": ["<x:b>", cell], "at_ms": [5, 5]}))
    (rejected,) = engine.rejected()
    assert cell in rejected.text


def test_what_arrow_reads_on_threads_of_its_own_is_set_aside_on_the_one_that_reads() -> None:
    whole = gzip.compress(b"s,p,o,at_ms\n<x:a>,<x:p>,<x:b>,5\nshort,row\n" + b"<x:a>,<x:p>,<x:o>,6\n" * 9)
    heard: list[tuple[int, str]] = []
    for data in (whole, whole[:-12]):
        list(read_elements(data, format="csv", on_rejected=lambda r: heard.append((get_ident(), r.reason))))
    assert {thread for thread, _ in heard} == {get_ident()}
    assert len({reason for _, reason in heard}) == 2


@pytest.mark.timeout(60)
def test_an_engine_reads_a_damaged_table_to_its_end() -> None:
    engine = Engine()
    engine.load(gzip.compress(b"s,p,o\n<x:a>,<x:p>,<x:b>\nshort\n<x:a>,<x:p>,<x:c>\n")[:-9], format="csv")
    assert engine.rejected()
