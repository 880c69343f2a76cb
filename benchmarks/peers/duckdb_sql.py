"""DuckDB: a table of triples, joined with itself by SQL at every question.

Terms are numbers given beforehand, which leaves strings out of the joins. One thread, as everything beside it has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import duckdb
import pyarrow as pa

from benchmarks.peers.question import Question, Triple, names_of
from benchmarks.peers.store import Solutions


class DuckDBStore:
    """One table, no index: DuckDB builds hash tables as its joins need them."""

    def __init__(self, question: Question) -> None:
        self._ids: dict[str, int] = {}
        self._names = question.variables
        self._connection = duckdb.connect(config={"threads": 1})
        self._connection.execute("CREATE TABLE triples (s BIGINT, p BIGINT, o BIGINT)")
        self._text = self._sql(question)

    def _id(self, term: str) -> int:
        return self._ids.setdefault(term, len(self._ids))

    def _sql(self, question: Question) -> str:
        """Each pattern is the table once more; equal variables and constants are conditions."""
        places: dict[str, list[str]] = {}
        conditions = []
        for number, pattern in enumerate(question.patterns):
            for column, term in zip("spo", pattern, strict=True):
                if term.startswith("?"):
                    places.setdefault(term[1:], []).append(f"t{number}.{column}")
                else:
                    conditions.append(f"t{number}.{column} = {self._id(term)}")
        conditions += [f"{first} = {other}" for first, *others in places.values() for other in others]
        chosen = ", ".join(f"{places[name][0]}" for name in names_of(question.patterns))
        tables = ", ".join(f"triples t{number}" for number in range(len(question.patterns)))
        return f"SELECT {chosen} FROM {tables} WHERE {' AND '.join(conditions)}"

    def prepare(self, triples: Sequence[Triple]) -> pa.Table:
        rows = [[self._id(term) for term in triple] for triple in triples]
        columns = [pa.array([row[i] for row in rows], pa.int64()) for i in range(3)]
        return pa.table(columns, names=["s", "p", "o"])

    def insert(self, prepared: pa.Table) -> None:
        if prepared.num_rows == 1:
            row = [column[0].as_py() for column in prepared.columns]
            self._connection.execute("INSERT INTO triples VALUES (?, ?, ?)", row)
        else:
            self._connection.register("rows", prepared)
            self._connection.execute("INSERT INTO triples SELECT * FROM rows")
            self._connection.unregister("rows")

    def delete(self, prepared: pa.Table) -> None:
        self._connection.register("rows", prepared)
        same = " AND ".join(f"triples.{c} = rows.{c}" for c in "spo")
        self._connection.execute(f"DELETE FROM triples USING rows WHERE {same}")
        self._connection.unregister("rows")

    def count(self) -> int:
        return len(self._connection.execute(self._text).fetchall())

    def solutions(self) -> Solutions:
        terms = list(self._ids)
        return Counter(tuple(terms[number] for number in row) for row in self._connection.execute(self._text).fetchall())
