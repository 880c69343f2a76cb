"""Taxi trips: those of the DEBS 2015 grand challenge where they are at hand, and seeded ones like them.

Here a trip is one element of ten triples at its drop-off, as the queries of the challenge read it; `taxi` has all of it.
Seeded trips have what matters of real ones: hundreds of drop-offs a minute, most of them between a few busy places, taxis
that go on from where they were, and some without coordinates.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.workloads.patterns import XSD
from benchmarks.workloads.suites import suites
from tests.language.test_paper_queries import LEGAL_Q1, LEGAL_Q2, PREFIX

STREAM = "http://millstream.local/Taxi"
TAXI = "http://example.org/taxi#"
BEGIN = datetime(2013, 1, 1)
PER_MINUTE = 250
_TAXIS = 7_500
_PLACES = 60
_COMPLETE = 0.98
_HASH = (1 << 128) - 1
_BLOCK = 20_000

QUERIES = {
    "frequent routes": PREFIX + LEGAL_Q1.replace("ORDER BY  ?freq", "ORDER BY DESC(?freq)"),
    "profitable areas": PREFIX + LEGAL_Q2.replace("ASC(", "DESC("),
}
"""The queries of the challenge as the CQELS paper writes them, in their legal form, the greatest first."""


def with_windows(query: str, minutes: int) -> str:
    """A query with its longest windows as long as this, the shorter one half of it."""
    text = query.replace("RANGE 15m", f"RANGE {minutes // 2}m")
    return text.replace("RANGE 30m", f"RANGE {minutes}m").replace("RANGE PT30M", f"RANGE PT{minutes}M")


@dataclass(frozen=True, slots=True)
class Trip:
    """A trip; degrees and dollars as they are written."""

    taxi: str
    pickup_ms: int
    dropoff_ms: int
    pick: tuple[str, str]
    drop: tuple[str, str]
    fare: str
    tip: str
    kind: str
    driver: str
    miles: str
    surcharge: str
    tax: str
    tolls: str
    total: str

    @property
    def seconds(self) -> int:
        return (self.dropoff_ms - self.pickup_ms) // 1000


def real_path() -> Path:
    """Where the challenge's trips are, if they are at hand."""
    return suites() / "debs2015" / "sorted_data_10004.csv.gz"


def real_trips(path: Path) -> list[Trip]:
    """The trips of a file of the challenge, in order of drop-off."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return [_read(row) for row in csv.reader(file) if len(row) > 14]


def _read(row: list[str]) -> Trip:
    # Hand-made files write degrees as literals of C.
    degrees = [value.strip().rstrip("f") for value in row[6:10]]
    pick, drop = (degrees[0], degrees[1]), (degrees[2], degrees[3])
    times = _milliseconds(row[2]), _milliseconds(row[3])
    rest = (row[15], row[16]) if len(row) > 16 else ("0.00", row[11])
    return Trip(row[0], *times, pick, drop, row[11], row[14], row[10], row[1], row[5], row[12], row[13], *rest)


def _milliseconds(text: str) -> int:
    return int((datetime.fromisoformat(text) - BEGIN) / timedelta(milliseconds=1))


def repeated(trips: Sequence[Trip], size: int) -> list[Trip]:
    """As many trips, the given ones over and over, each round after the one before."""
    found: list[Trip] = []
    for turn in count():
        later = turn * (trips[-1].dropoff_ms + 60_000)
        for t in trips:
            if len(found) == size:
                return found
            found.append(replace(t, pickup_ms=t.pickup_ms + later, dropoff_ms=t.dropoff_ms + later))
    raise AssertionError


def seeded_trips(size: int, seed: int = 0) -> list[Trip]:
    """Trips in order of drop-off."""
    random = np.random.default_rng(seed)
    weight = 1 / np.arange(1, _PLACES + 1)
    weight /= weight.sum()
    centre = np.column_stack([random.normal(-73.98, 0.03, _PLACES), random.normal(40.75, 0.03, _PLACES)])
    # Each taxi goes from place to place: waits, drives, waits; all together make up the drop-offs of a minute.
    rounds = size // _TAXIS + 3
    drive = random.lognormal(np.log(600), 0.6, (_TAXIS, rounds))
    cycle = drive + random.exponential(_TAXIS / PER_MINUTE * 60 - 600, (_TAXIS, rounds))
    end = np.cumsum(cycle, axis=1) - random.uniform(0, 1800, (_TAXIS, 1))
    order = np.argsort(end.ravel(), kind="stable")
    order = order[np.searchsorted(end.ravel()[order], 0) :][:size]
    place = random.choice(_PLACES, (_TAXIS, rounds + 1), p=weight)
    where = centre[place] + random.normal(0, 0.004, (_TAXIS, rounds + 1, 2))
    complete = random.random((_TAXIS, rounds)) < _COMPLETE
    fare, tip = 2.5 + drive / 70, np.where(random.random(drive.shape) < 0.5, 0, drive / 400)
    taxis, turns = np.unravel_index(order, end.shape)
    columns = [column[taxis, turns].tolist() for column in (end, drive, fare, tip, complete)]
    ends = where[taxis, turns].tolist(), where[taxis, turns + 1].tolist()
    nowhere = ("0.000000", "0.000000")
    found = []
    for taxi, ended, driven, dollars, tipped, known, pick, drop in zip(taxis.tolist(), *columns, *ends, strict=True):
        second = int(ended)
        where_from = (f"{pick[0]:.6f}", f"{pick[1]:.6f}") if known else nowhere
        where_to = (f"{drop[0]:.6f}", f"{drop[1]:.6f}") if known else nowhere
        found.append(
            Trip(
                f"{taxi:032X}",
                (second - int(driven)) * 1000,
                second * 1000,
                where_from,
                where_to,
                f"{dollars:.2f}",
                f"{tipped:.2f}",
                "CSH" if tipped == 0 else "CRD",
                f"{~taxi & _HASH:032X}",
                f"{driven / 240:.2f}",
                surcharge="0.50",
                tax="0.50",
                tolls="0.00",
                total=f"{1 + dollars + tipped:.2f}",
            )
        )
    return found


def endless_trips(seed: int = 0) -> Iterator[Trip]:
    """Seeded trips without an end, a block after another."""
    later = 0
    for block in count():
        trips = seeded_trips(_BLOCK, seed + block)
        for t in trips:
            yield replace(t, pickup_ms=t.pickup_ms + later, dropoff_ms=t.dropoff_ms + later) if later else t
        later += trips[-1].dropoff_ms


def triples(number: int, trip: Trip) -> Iterator[tuple[str, str, str]]:
    """A trip as triples in N-Triples syntax."""
    subject = f"<{TAXI}trip{number}>"
    for name, value in (
        ("taxi", f'"{trip.taxi}"'),
        ("pickupTime", moment(trip.pickup_ms)),
        ("dropoffTime", moment(trip.dropoff_ms)),
        ("pickLon", decimal(trip.pick[0])),
        ("pickLat", decimal(trip.pick[1])),
        ("dropLon", decimal(trip.drop[0])),
        ("dropLat", decimal(trip.drop[1])),
        ("fare", decimal(trip.fare)),
        ("tip", decimal(trip.tip)),
        ("kind", f'"{trip.kind}"'),
    ):
        yield subject, f"<{TAXI}{name}>", value


def decimal(value: str) -> str:
    return f'"{value}"^^<{XSD}decimal>'


def moment(at_ms: int) -> str:
    return f'"{(BEGIN + timedelta(milliseconds=at_ms)).isoformat(timespec="seconds")}"^^<{XSD}dateTime>'


def as_text(number: int, trip: Trip) -> str:
    """A trip as N-Triples."""
    return "".join(f"{s} {p} {o} .\n" for s, p, o in triples(number, trip))


def as_table(trips: Sequence[Trip], first: int = 0) -> pa.Table:
    """Trips as `Engine.push_table` takes them."""
    rows = [(s, p, o, t.dropoff_ms, n) for n, t in enumerate(trips, first) for s, p, o in triples(n, t)]
    s, p, o, at_ms, element = zip(*rows, strict=True)
    integers = (pa.array(at_ms, pa.int64()), pa.array(element, pa.int64()))
    return pa.table({"s": list(s), "p": list(p), "o": list(o), "at_ms": integers[0], "element": integers[1]})
