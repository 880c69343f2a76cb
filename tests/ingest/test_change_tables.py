"""Tables as changes of graphs: as if made one by one, whichever way they are read."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import millstream as ms

QUERY = "SELECT CHANGES ?s ?o WHERE { { ?s <http://e/p> ?o } UNION { GRAPH <http://e/g> { ?s <http://e/p> ?o } } }"
Answers = list[tuple[int, int, str, str]]


def drawn(chance: random.Random, *, timed: bool, elements: bool, graphs: bool) -> list[dict[str, Any]]:
    rows, at_ms, element = [], 0, 0
    for _ in range(40):
        row = {
            "s": f"<http://e/{chance.randrange(3)}>",
            "p": "<http://e/p>",
            "o": f'"{chance.randrange(2)}"',
            "op": chance.choice(("A", "insert", "D", "delete")),
        }
        if elements:
            element += chance.choice((0, 1))
            row["element"] = element
        if timed:
            at_ms += chance.choice((0, 0, 2))
            row["at_ms"] = at_ms
        if graphs:
            row["g"] = chance.choice((None, "<http://e/g>"))
        rows.append(row)
    return rows


def one_by_one(rows: list[dict[str, Any]]) -> Answers:
    """Runs of rows that are one change, by calls."""
    engine = ms.Engine()
    query = engine.register(QUERY)
    changes: list[tuple[tuple[Any, ...], list[str]]] = []
    for number, row in enumerate(rows):
        name = (row.get("element", f"row {number}"), row["op"] in ("A", "insert"), row.get("g"), row.get("at_ms"))
        if not changes or changes[-1][0] != name:
            changes.append((name, []))
        changes[-1][1].append(f"{row['s']} {row['p']} {row['o']} .")
    for (_, insert, graph, at_ms), lines in changes:
        change = engine.insert if insert else engine.delete
        change("\n".join(lines), at_ms=at_ms, graph=None if graph is None else graph.strip("<>"))
    return answers(query)


def answers(query: ms.ContinuousQuery) -> Answers:
    return [(a.at_ms, a.weight, a.bindings["s"].value, a.bindings["o"].value) for a in query.take()]


def read(source: object, **options: Any) -> tuple[Answers, list[ms.Rejected]]:
    engine = ms.Engine()
    query = engine.register(QUERY)
    engine.read_changes(source, **options)
    return answers(query), engine.rejected()


@pytest.mark.parametrize("seed", range(12))
def test_tables_are_changes_made_one_by_one(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    rows = drawn(chance, timed=chance.random() < 0.7, elements=chance.random() < 0.5, graphs=chance.random() < 0.5)
    expected = one_by_one(rows)
    assert expected
    table = pa.Table.from_pylist(rows)
    assert read(table) == (expected, [])
    # Not a table in memory, and so row by row.
    assert read(table.to_reader()) == (expected, [])
    pq.write_table(table, tmp_path / "changes.parquet")
    assert read(tmp_path / "changes.parquet") == (expected, [])
    signed = table.set_column(
        table.column_names.index("op"), "op", [[1 if r["op"] in ("A", "insert") else -1 for r in rows]]
    )
    assert read(signed) == (expected, [])


def test_rows_that_are_no_changes_are_set_aside() -> None:
    table = pa.table(
        {
            "s": ["<http://e/a>", "nothing", "<http://e/b>", "<http://e/c>"],
            "p": ["<http://e/p>"] * 4,
            "o": ['"1"'] * 4,
            "op": ["A", "A", "X", "A"],
        }
    )
    found, rejected = read(table)
    assert [row[2] for row in found] == ["http://e/a", "http://e/c"]
    assert [(r.line, r.reason.split(":")[0]) for r in rejected] == [
        (2, rejected[0].reason.split(":")[0]),
        (3, "op is A or insert, D or delete"),
    ]
    with pytest.raises(ms.DataError, match="column"):
        read(pa.table({"s": ["<http://e/a>"], "op": [1]}))


def test_an_op_of_any_type_is_taken_or_set_aside() -> None:
    plain = {"s": ["<http://e/a>"] * 2, "p": ["<http://e/p>"] * 2, "o": ['"1"'] * 2}
    # As data frames have whole numbers beside gaps.
    found, rejected = read(pa.table({**plain, "op": [1.0, -1.0]}))
    assert ([row[1] for row in found], rejected) == ([1, -1], [])
    for ops in ([True, False], [[1], [2]], [0, 2], [None, None]):
        found, rejected = read(pa.table({**plain, "op": ops}))
        assert (found, len(rejected)) == ([], 2)
    with pytest.raises(ms.DataError, match="op is missing"):
        read(pa.table(plain))


def test_times_by_a_rate() -> None:
    table = pa.table({"s": ["<http://e/a>"] * 2, "p": ["<http://e/p>"] * 2, "o": ['"1"'] * 2, "op": [1, -1]})
    found, _ = read(table, time="rate:10")
    assert [row[:2] for row in found] == [(0, 1), (100, -1)]
