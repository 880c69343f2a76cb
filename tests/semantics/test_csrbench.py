"""CSRBench: 34 seconds of weather observations, with the recorded answers of three engines to queries 1 to 4.

Recorded answers are not truth. C-SPARQL reports when windows close: it is followed time by time. CQELS reports on
content change: its times are those of the elements plus the delay of that day. SPARQLstream was not started with its
data: its windows fall elsewhere, and rows are compared without times.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Any, TypeAlias

import pyoxigraph as ox
import pytest

from tests.semantics.conftest import Machine, MakeMachine
from tests.suites import suite

STREAM = "http://example.org/observations"
ENGINES = ("csparql", "cqels", "sparqlstream")
TOTALS = {1: 15, 2: 15, 3: 12, 4: 9}
FIRST_SECOND = {1: 1, 2: 0, 4: 1}
"""When the first element came in C-SPARQL's recordings: in some, windows started a second before the data."""

Row: TypeAlias = tuple[tuple[str, Any], ...]
"""Names with values, numbers as rounded numbers: engines write averages with different digits."""


@cache
def properties() -> dict[str, str]:
    """The queries' texts and windows. Lines go on after a backslash, here also with a space behind it."""
    text = (suite("csrbench") / "srbench-queries.properties").read_text()
    joined = re.sub(r"\\[ \t]*\n", "\n  ", text)
    return {m[1]: m[2] for m in re.finditer(r"^srb\.(\S+) = (.*(?:\n[ \t]+.*)*)", joined, re.MULTILINE)}


@cache
def elements() -> tuple[tuple[ox.Triple, ...], ...]:
    files = sorted((suite("csrbench") / "data").glob("data_*.ttl"))
    return tuple(tuple(quad.triple for quad in ox.parse(path=path)) for path in files)


def window_close(number: int) -> str:
    size, slide = (properties()[f"query{number}.window.{part}"] for part in ("size", "slide"))
    clause = f"FROM STREAM <{STREAM}> [RANGE {size} STEP {slide}]"
    return properties()[f"query{number}.booleanquery"].replace("WHERE", f"{clause} WHERE", 1)


def content_change(number: int) -> str:
    size = properties()[f"query{number}.window.size"]
    text = properties()[f"query{number}.booleanquery"].rstrip()
    return text.replace("{", f"{{ STREAM <{STREAM}> [RANGE {size}] {{", 1) + " }"


def push_all(m: Machine, first_second: int) -> None:
    """One element a second."""
    for second, triples in enumerate(elements(), start=first_second):
        m.engine.push(STREAM, triples, at_ms=second * 1000)
    m.finish()


def parts(term: Any) -> tuple[str, str | None]:
    return term.value, term.datatype.value if isinstance(term, ox.Literal) else None


def value(text: str, kind: str | None) -> Any:
    numeric = kind is not None and kind.rsplit("#")[-1] in ("integer", "decimal", "double", "float")
    return round(float(text), 9) if numeric and text != "null" else text


def ours(m: Machine, text: str, first_second: int) -> list[tuple[int, Row]]:
    q = m.register(text)
    push_all(m, first_second)
    return [
        (at_ms, tuple(sorted((n, value(*parts(term))) for n, term in zip(q.variables, row, strict=True))))
        for at_ms, _, row in q.emitted()
    ]


def recorded(engine: str, number: int) -> list[tuple[int, Row]]:
    answers = json.loads((suite("csrbench") / "answers" / f"{engine}-answer-{number}.json").read_text())
    return [
        (relation["timestamp"], tuple(sorted((n, value(t["value"], t.get("datatype"))) for n, t in found.items())))
        for relation in answers["relations"]
        for found in (binding["binding"] for binding in relation["results"]["bindings"])
    ]


def by_time(rows: Iterable[tuple[int, Row]]) -> dict[int, Counter[Row]]:
    times: dict[int, Counter[Row]] = defaultdict(Counter)
    for at_ms, row in rows:
        times[at_ms][row] += 1
    return dict(times)


def rows_alone(rows: Iterable[tuple[int, Row]]) -> Counter[Row]:
    return Counter(row for _, row in rows)


@pytest.mark.parametrize("number", TOTALS)
def test_window_close_gives_as_many_rows_as_counting_by_hand(machine: MakeMachine, number: int) -> None:
    assert len(ours(machine(), window_close(number), first_second=1)) == TOTALS[number]


@pytest.mark.parametrize("number", FIRST_SECOND)
def test_window_close_gives_what_c_sparql_gave_at_the_same_times(machine: MakeMachine, number: int) -> None:
    found = ours(machine(), window_close(number), FIRST_SECOND[number])
    assert by_time(found) == by_time(recorded("csparql", number))


def test_window_close_gives_what_c_sparql_gave_but_for_elements_on_the_edge_of_a_window(machine: MakeMachine) -> None:
    # In the recording of query 3 an element that came as a window closed fell before the edge at 20 s, after at 28 s.
    before, after = ({row: at_ms for at_ms, row in ours(machine(), window_close(3), first)} for first in (0, 1))
    theirs = recorded("csparql", 3)
    assert {row for _, row in theirs} == before.keys() == after.keys()
    for at_ms, row in theirs:
        assert at_ms in (before[row], after[row])


@pytest.mark.parametrize("number", [1, 2, 3])
def test_window_close_gives_the_rows_that_all_three_engines_gave(machine: MakeMachine, number: int) -> None:
    found = rows_alone(ours(machine(), window_close(number), first_second=1))
    assert {engine: rows_alone(recorded(engine, number)) for engine in ENGINES} == dict.fromkeys(ENGINES, found)


@pytest.mark.parametrize("number", [2, 3])
def test_content_change_gives_what_cqels_gave_within_the_same_second(machine: MakeMachine, number: int) -> None:
    theirs = [(at_ms // 1000 * 1000, row) for at_ms, row in recorded("cqels", number)]
    assert by_time(ours(machine(), content_change(number), first_second=0)) == by_time(theirs)


def test_averages_are_those_of_sparqlstream_where_there_is_anything_to_average(machine: MakeMachine) -> None:
    # C-SPARQL and SPARQL give 0 for the average of nothing, SPARQLstream gave no row, or null once the data had ended.
    found = [(at_ms, row) for at_ms, row in ours(machine(), window_close(4), 1) if row != (("avg", 0.0),)]
    theirs = [(at_ms, row) for at_ms, row in recorded("sparqlstream", 4) if row != (("avg", "null"),)]
    assert by_time(found) == by_time(theirs)


def test_the_suite_is_read_whole() -> None:
    assert len(elements()) == 34
    assert sum(map(len, elements())) == 15_188
