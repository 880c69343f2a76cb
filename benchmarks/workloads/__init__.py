"""Streams, graphs and queries to measure with: seeded, so that every run sees the same, and of any size.

`universities` and `links` give triples, each an element by itself; `meters`, `taxi`, `social` and `conference` whole
elements and graphs at rest; `trips` what the grand challenge reads; `edits` a graph that changes.
"""

from benchmarks.workloads.conference import CONFERENCE_WORKLOAD
from benchmarks.workloads.elements import Element, Graph, Workload
from benchmarks.workloads.links import LINKS, links
from benchmarks.workloads.meters import METER_WORKLOAD
from benchmarks.workloads.patterns import (
    STREAM,
    TYPE,
    Encoded,
    Patterns,
    Triple,
    cqels,
    encoded,
    lines,
    matches_any,
    plain,
    windowed,
)
from benchmarks.workloads.social import SOCIAL_WORKLOAD
from benchmarks.workloads.taxi import TAXI_WORKLOAD
from benchmarks.workloads.universities import QUERIES, ub, universities

WORKLOADS = {w.name: w for w in (METER_WORKLOAD, TAXI_WORKLOAD, SOCIAL_WORKLOAD, CONFERENCE_WORKLOAD)}

__all__ = [
    "LINKS",
    "QUERIES",
    "STREAM",
    "TYPE",
    "WORKLOADS",
    "Element",
    "Encoded",
    "Graph",
    "Patterns",
    "Triple",
    "Workload",
    "cqels",
    "encoded",
    "lines",
    "links",
    "matches_any",
    "plain",
    "ub",
    "universities",
    "windowed",
]
