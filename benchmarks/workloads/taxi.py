"""Taxi trips as graphs of 24 triples: the seventeen values that New York publishes of each, and how they hang together.

The three queries have six patterns each: a star, a chain from the driver's licence to where the trip began, and a mixture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchmarks.workloads.elements import Element, Workload, up_to
from benchmarks.workloads.patterns import XSD, Patterns, windowed
from benchmarks.workloads.trips import TAXI, Trip, endless_trips, moment, real_path, real_trips, repeated

STREAM = "http://example.org/trips"
TRIPLES = 24
"""Of a trip."""


def _t(name: str) -> str:
    return f"<{TAXI}{name}>"


PATTERNS: dict[str, Patterns] = {
    "star": [
        ("?trip", _t("seconds"), "?seconds"),
        ("?trip", _t("miles"), "?miles"),
        ("?trip", _t("vehicle"), "?vehicle"),
        ("?trip", _t("pickup"), "?pickup"),
        ("?trip", _t("dropoff"), "?dropoff"),
        ("?trip", _t("payment"), "?payment"),
    ],
    "chain": [
        ("?driver", _t("licence"), "?licence"),
        ("?vehicle", _t("driver"), "?driver"),
        ("?trip", _t("vehicle"), "?vehicle"),
        ("?trip", _t("pickup"), "?pickup"),
        ("?pickup", _t("place"), "?place"),
        ("?place", _t("longitude"), "?longitude"),
    ],
    "complex": [
        ("?trip", _t("miles"), "?miles"),
        ("?trip", _t("dropoff"), "?dropoff"),
        ("?dropoff", _t("time"), "?time"),
        ("?trip", _t("payment"), "?payment"),
        ("?payment", _t("fare"), "?fare"),
        ("?payment", _t("tip"), "?tip"),
    ],
}


def queries(window: str = "EVENT") -> dict[str, str]:
    return {name: windowed(patterns, window, STREAM) for name, patterns in PATTERNS.items()}


def elements(triples: int, seed: int = 0, real: bool = False) -> Iterator[Element]:
    """Trips at their drop-off; the real ones, over and over, where the suite `debs2015` is at hand."""
    count = -(-triples // TRIPLES)
    trips: Iterable[Trip] = repeated(real_trips(real_path()), count) if real else endless_trips(seed)
    return up_to((Element(STREAM, trip.dropoff_ms, as_graph(n, trip)) for n, trip in enumerate(trips)), triples)


def as_graph(n: int, trip: Trip) -> str:
    """All that is known of a trip."""
    own, t = f"<{TAXI}trip{n}", f"> <{TAXI}"
    vehicle, driver, end = f"<{TAXI}vehicle/{trip.taxi}", f"<{TAXI}driver/{trip.driver}", f'"^^<{XSD}decimal> .\n'
    return (
        f"{own}{t}vehicle> {vehicle}> .\n"
        f"{own}{t}pickup> {own}/pickup> .\n"
        f"{own}{t}dropoff> {own}/dropoff> .\n"
        f"{own}{t}payment> {own}/payment> .\n"
        f'{own}{t}seconds> "{trip.seconds}"^^<{XSD}integer> .\n'
        f'{own}{t}miles> "{trip.miles}{end}'
        f'{vehicle}{t}medallion> "{trip.taxi}" .\n'
        f"{vehicle}{t}driver> {driver}> .\n"
        f'{driver}{t}licence> "{trip.driver}" .\n'
        f"{own}/pickup{t}time> {moment(trip.pickup_ms)} .\n"
        f"{own}/pickup{t}place> {own}/from> .\n"
        f'{own}/from{t}longitude> "{trip.pick[0]}{end}'
        f'{own}/from{t}latitude> "{trip.pick[1]}{end}'
        f"{own}/dropoff{t}time> {moment(trip.dropoff_ms)} .\n"
        f"{own}/dropoff{t}place> {own}/to> .\n"
        f'{own}/to{t}longitude> "{trip.drop[0]}{end}'
        f'{own}/to{t}latitude> "{trip.drop[1]}{end}'
        f'{own}/payment{t}kind> "{trip.kind}" .\n'
        f'{own}/payment{t}fare> "{trip.fare}{end}'
        f'{own}/payment{t}surcharge> "{trip.surcharge}{end}'
        f'{own}/payment{t}tax> "{trip.tax}{end}'
        f'{own}/payment{t}tip> "{trip.tip}{end}'
        f'{own}/payment{t}tolls> "{trip.tolls}{end}'
        f'{own}/payment{t}total> "{trip.total}{end}'
    )


TAXI_WORKLOAD = Workload("taxi", queries(), elements)
