"""What a store must do to be asked again and again while a window moves.

What it takes is prepared outside the clock, as whatever the store likes best: reading text is never part of its time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

from benchmarks.peers.question import Question, Triple

Solutions = Counter[tuple[str, ...]]
"""Terms in N-Triples syntax, in the order of the question's variables."""


class Store(Protocol):
    """Triples at rest, and one question about them."""

    def prepare(self, triples: Sequence[Triple]) -> Any:
        """Triples as `insert` and `delete` take them."""

    def insert(self, prepared: Any) -> None:
        """None of them is in the store."""

    def delete(self, prepared: Any) -> None:
        """All of them are in the store."""

    def count(self) -> int:
        """Evaluates the question and goes through all of its solutions."""

    def solutions(self) -> Solutions:
        """The same with the solutions, to be compared."""


def difference(found: Solutions, ours: Solutions) -> str:
    """How solutions differ from ours, in a few words; none if they do not.

    Terms that mean the same value are the same here: some stores respell "1.50" as "1.5".
    """
    if found == ours:
        return ""
    theirs, own = _by_value(found), _by_value(ours)
    extra, missing = (theirs - own).total(), (own - theirs).total()
    return f"{extra} solutions too many, {missing} missing" if extra or missing else ""


def _by_value(solutions: Solutions) -> Solutions:
    found: Solutions = Counter()
    for terms, count in solutions.items():
        found[tuple(map(_value, terms))] += count
    return found


def _value(term: str) -> str:
    match = _TYPED.fullmatch(term)
    if match is None:
        return term
    kind, text = match[2], match[1]
    if kind in ("integer", "decimal"):
        return f"{Decimal(text).normalize():f}"
    return datetime.fromisoformat(text).isoformat() if kind == "dateTime" else term


_TYPED = re.compile(r'"([^"]*)"\^\^<http://www\.w3\.org/2001/XMLSchema#(\w+)>')


def stores() -> dict[str, Callable[[Question], Store]]:
    """Those that are installed, by name."""
    from benchmarks.peers.oxigraph import OxigraphStore
    from benchmarks.peers.rejoin import Rejoin

    found: dict[str, Callable[[Question], Store]] = {REJOIN: Rejoin, OXIGRAPH: OxigraphStore}
    try:
        from benchmarks.peers.duckdb_sql import DuckDBStore

        found[DUCKDB] = DuckDBStore
    except ModuleNotFoundError:
        pass
    try:
        from benchmarks.peers.rdflib_graph import RdflibGraph

        found[RDFLIB] = RdflibGraph
    except ModuleNotFoundError:
        pass
    return found


REJOIN, OXIGRAPH, DUCKDB, RDFLIB = "S-Rev", "pyoxigraph", "DuckDB", "rdflib"


def absent() -> list[str]:
    """What a report says of stores that are not installed."""
    there = stores()
    return [f"{name}: not installed (pip install 'millstream[bench]')" for name in (DUCKDB, RDFLIB) if name not in there]
