"""The queries of the DEBS 2015 grand challenge over its trips, judged by recomputing windows, and its hand-made cases.

The suite is `debs2015`: ten thousand trips as they were, and cases worked out by hand for another program. That one
numbers its cells differently and orders equal routes by age, so what is compared is which areas there are and their numbers.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

import millstream as ms
from benchmarks.workloads.trips import BEGIN, STREAM, Trip, as_table, as_text, real_trips
from tests.language.test_paper_queries import LEGAL_Q1, LEGAL_Q2, MENDED_Q2, PREFIX, Q1
from tests.reference import ELEMENT, Reference
from tests.suites import suite

TRIPS = "debs2015/sorted_data_10004.csv.gz"
SAMPLES = 4
MOST_FREQUENT = LEGAL_Q1.replace("ORDER BY  ?freq", "ORDER BY DESC(?freq)")
MOST_PROFITABLE = LEGAL_Q2.replace("ORDER BY ASC(", "ORDER BY DESC(")
PRINTED = {LEGAL_Q1: Q1, LEGAL_Q2: MENDED_Q2}
"""As the paper prints them, but for a dot that the second one lacks."""

NOT_EXISTS = re.compile(r"FILTER NOT EXISTS \{(.*?)FILTER \(\?pickup > \?dropoff\) \}", re.DOTALL)
SINCE_LAST_PICKUP = r"{ SELECT ?taxi (MAX(?pickup) AS ?last) WHERE {\1} GROUP BY ?taxi } FILTER (?dropoff >= ?last)"
"""A taxi is empty if its last pick-up was before: what the judge, which is quadratic in NOT EXISTS, is asked instead."""


@pytest.fixture(scope="module")
def trips() -> list[Trip]:
    return real_trips(suite(TRIPS))


@pytest.fixture(scope="module")
def elements(trips: list[Trip]) -> list[list[ox.Triple]]:
    """The trips as pyoxigraph reads them."""
    text = "".join(as_text(number, trip) for number, trip in enumerate(trips))
    parsed = [quad.triple for quad in ox.parse(text, format=ox.RdfFormat.N_TRIPLES)]
    return [parsed[first : first + 10] for first in range(0, len(parsed), 10)]


def recomputed(text: str, trips: list[Trip], elements: list[list[ox.Triple]], place: int) -> Counter[tuple[Any, ...]]:
    """The answers right after a trip, from all that the windows hold then."""
    now = trips[place].dropoff_ms
    query = Reference().register(NOT_EXISTS.sub(SINCE_LAST_PICKUP, text))
    asked = {f"http://example.org/taxi#{name}" for name in re.findall(r":(\w+) +\?", text)}
    for number in range(place + 1):
        if trips[number].dropoff_ms > now - 30 * 60_000:
            element = tuple(triple for triple in elements[number] if triple.predicate.value in asked)
            for window in query.windows.values():
                window.arrive(element, trips[number].dropoff_ms)
    return query.evaluate((now, ELEMENT))


@pytest.mark.parametrize(
    "legal",
    [LEGAL_Q1, LEGAL_Q2, MOST_FREQUENT, MOST_PROFITABLE],
    ids=["least frequent routes", "least profitable areas", "most frequent routes", "most profitable areas"],
)
def test_answers_over_real_trips_are_those_of_recomputing_the_windows(
    legal: str, trips: list[Trip], elements: list[list[ox.Triple]]
) -> None:
    engine = ms.Engine()
    queries = [engine.register(PREFIX + text, output="changes") for text in {legal, PRINTED.get(legal, legal)}]
    done = 0
    for place in range(len(trips) // SAMPLES - 1, len(trips), len(trips) // SAMPLES):
        # The last one by one, so that both ways of feeding are seen.
        engine.push_table(STREAM, as_table(trips[done:place], done))
        engine.push(STREAM, as_text(place, trips[place]), trips[place].dropoff_ms)
        done = place + 1
        wanted = recomputed(PREFIX + legal, trips, elements, place)
        for query in queries:
            query.take_table()
            found = Counter(tuple(solution.values()) for solution in query.solutions())
            assert found == wanted, f"after trip {place}"


# Hand-made cases ------------------------------------------------------------------------------------------------------

# The challenge counts cells from 1 and drives from drop-offs on; the paper's queries count from 0 and from pick-ups.
ROUTES = PREFIX + re.sub(r"(ROUND\(.*?/[0-9.]+\))", r"\1 + 1", MOST_FREQUENT)
AREAS = PREFIX + re.sub(r"(ROUND\(.*? / [0-9.]+\))", r"\1 + 1", MOST_PROFITABLE).replace(
    ":pickLat ?pLat2 ; :pickLon ?pLon2", ":dropLat ?pLat2 ; :dropLon ?pLon2"
)


def areas(folder: Path, scale: int) -> dict[tuple[str, str], str]:
    """From our cells, which a scale halves or not, to the names that the case gives them in its expected output."""
    found = {}
    for line in (folder / "README").read_text().splitlines():
        if line.startswith("A") and line.count("=>") == 2:
            _, degrees, name = (part.strip() for part in line.split("=>"))
            longitude, latitude = (float(value.rstrip("f")) for value in degrees.replace(",", " ").split())
            east = int((41.474937 - latitude) * scale / 0.005986 + 0.5) + 1
            south = int((74.913585 + longitude) * scale / 0.004491556 + 0.5) + 1
            found[str(east), str(south)] = name.replace(" ", ".")
    return found


def expected(path: Path) -> list[tuple[int, list[str]]]:
    """Times and what holds then, at most ten."""
    with path.open() as file:
        rows = [row for row in csv.reader(file) if len(row) > 2]
    return [(_time(row[1]), [value for value in row[2:] if value != "NULL"]) for row in rows]


def _time(text: str) -> int:
    return int((datetime.fromisoformat(text.strip().removesuffix(".0")) - BEGIN).total_seconds() * 1000)


def after_each(text: str, trips: list[Trip]) -> dict[int, list[tuple[str, ...]]]:
    """The answers after the trips of each time."""
    engine = ms.Engine()
    query = engine.register(text, output="changes")
    found = {}
    for at_ms, some in groupby(enumerate(trips), key=lambda numbered: numbered[1].dropoff_ms):
        for number, trip in some:
            engine.push(STREAM, as_text(number, trip), at_ms)
        found[at_ms] = [tuple(term.value for term in solution.values()) for solution in query.solutions()]
    return found


def test_routes_enter_and_leave_as_worked_out_by_hand() -> None:
    folder = suite("debs2015/hand_test_query1")
    names = areas(folder, 1)
    found = after_each(ROUTES, real_trips(folder / "inputData.csv"))
    checked = 0
    for at_ms, values in expected(folder / "outputData.csv"):
        routes = {(values[i], values[i + 1]) for i in range(0, len(values), 2)}
        ours = [(names[p_e, p_s], names[d_e, d_s]) for p_e, p_s, d_e, d_s, _ in found.get(at_ms, [])]
        # With more than ten routes in the window, the hand takes the youngest of those that are equally frequent.
        if at_ms in found and len(routes) < 10:
            assert set(ours) == routes, f"at {at_ms}"
            checked += 1
        elif at_ms in found:
            assert len(ours) == 10
    assert checked >= 10


@pytest.mark.parametrize("case", ["1", "2", "3"])
def test_areas_are_as_profitable_as_worked_out_by_hand(case: str) -> None:
    folder = suite("debs2015/hand_test_query2")
    names = areas(folder, 2)
    found = after_each(AREAS, real_trips(folder / f"inputData_{case}.csv"))
    for at_ms, values in expected(folder / f"outputData_{case}.csv"):
        rows = [values[i : i + 4] for i in range(0, len(values), 4)]
        # The hand lists areas without a trip with a profit of 0: the query has no answer for those. In case 2 a taxi is
        # picked up before it was dropped off, which the query does not take for leaving.
        wanted = {(area, int(empty), float(median)) for area, empty, median, _ in rows if float(median) > 0}
        if case == "2" and at_ms >= 7 * 60_000:
            break
        ours = {(names[e, s], int(empty), float(median)) for e, s, empty, median, _ in found[at_ms]}
        assert ours == wanted, f"at {at_ms}"
