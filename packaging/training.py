"""What kernels are led through while they record which way they go: a little of all that people do with them.

`MILLSTREAM_BUILD=trained` runs it between two compilations (profile-guided optimisation). What it leaves out is compiled as
ever. It is no benchmark: how long anything takes does not matter, only how often which branch is taken.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pyarrow as pa

import millstream as ms

NAMESPACE = "http://example.org/"
READINGS = f"{NAMESPACE}readings"
SENSORS, ROOMS = 200, 20
IN_TABLES = range(10_000, 30_000, 2_000)
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
MEANT = {
    "WINDOW": "STREAM :readings [RANGE 10s]",
    "CELLS": "GROUP BY (ROUND((100.5 - ?b) * 2 / 7.25) AS ?cell) ORDER BY DESC(?rate) LIMIT 5",
}

# One a line; words in capitals that are not SPARQL's are in MEANT.
QUERIES = """
SELECT CHANGES * { WINDOW { ?x :shows ?n } ?x :in ?room }
SELECT CHANGES * { WINDOW { ?x :shows ?n ; :battery ?b ; :sent ?t } ?x :in ?room FILTER (?n > 20.5 && ?b < 90) }
SELECT CHANGES * { WINDOW { ?x :shows ?n } STREAM :readings [RANGE 5s STEP 1s] { ?y :shows ?n } ?x :near ?y }
SELECT CHANGES * { WINDOW { ?x :near ?y . ?y :near ?z . ?z :near ?x } }
SELECT CHANGES ?r (AVG(?n) AS ?m) (MAX(?n) AS ?k) { WINDOW { ?x :shows ?n } ?x :in ?r } GROUP BY ?r HAVING (COUNT(?x) > 9)
SELECT CHANGES ?cell (MEDIAN(?n) / COUNT(?x) AS ?rate) { WINDOW { ?x :shows ?n ; :battery ?b } } CELLS
SELECT CHANGES * { WINDOW { ?x :shows ?n } OPTIONAL { ?x :repaired ?when } }
SELECT CHANGES * { WINDOW { ?x :shows ?n ; :sent ?t } FILTER NOT EXISTS { WINDOW { ?x :sent ?u } FILTER (?u > ?t) } }
SELECT CHANGES ?x ?n { WINDOW { ?x :shows ?n } } ORDER BY DESC(?n) LIMIT 10
SELECT CHANGES DISTINCT ?room { WINDOW { ?x :shows ?n } ?x :in/:part ?room }
SELECT CHANGES * { STREAM :readings [ELEMENTS 100] { ?x :shows ?n } ?x :in ?room }
SELECT ?room (SUM(?n) AS ?sum) { STREAM :readings [RANGE 5s TUMBLING] { ?x :shows ?n } ?x :in ?room } GROUP BY ?room
SELECT CHANGES * { STREAM :readings [EVENT] { ?x ?p ?n } ?x :in ?room }
SELECT CHANGES ?y { :room1 :door+ ?y }
SELECT CHANGES (STRAFTER(STR(?x), '#') AS ?name) { ?x a :Sensor ; :in ?room FILTER (STRSTARTS(STR(?room), 'http')) }
"""


def readings(first: int, count: int) -> Iterator[tuple[int, list[tuple[str, str, str]]]]:
    """Elements of a few triples and their times, some of several readings."""
    chance = random.Random(first)
    for number in range(first, first + count):
        sensor, near = (f"<{NAMESPACE}sensor{chance.randrange(SENSORS)}>" for _ in range(2))
        at_ms = number * 10
        yield (
            at_ms,
            [
                (sensor, f"<{NAMESPACE}shows>", f'"{chance.gauss(20, 5):.2f}"^^<{XSD}decimal>'),
                (sensor, f"<{NAMESPACE}battery>", f'"{chance.randrange(100)}"^^<{XSD}integer>'),
                (sensor, f"<{NAMESPACE}sent>", f'"{at_ms}"^^<{XSD}integer>'),
                (sensor, f"<{NAMESPACE}near>", near),
                (sensor, f"<{NAMESPACE}note>", f'"reading {number}"'),
            ],
        )


def as_table(elements: list[tuple[int, list[tuple[str, str, str]]]]) -> pa.Table:
    rows = [(number, at_ms, *triple) for number, (at_ms, triples) in enumerate(elements) for triple in triples]
    return pa.table(dict(zip(("element", "at_ms", "s", "p", "o"), map(list, zip(*rows, strict=True)), strict=True)))


def as_lines(triples: list[tuple[str, str, str]]) -> str:
    return "".join(f"{s} {p} {o} .\n" for s, p, o in triples)


def building() -> str:
    lines = [f"<{NAMESPACE}sensor{n}> <{NAMESPACE}in> <{NAMESPACE}room{n % ROOMS}> ." for n in range(SENSORS)]
    lines += [f"<{NAMESPACE}sensor{n}> <{RDF_TYPE}> <{NAMESPACE}Sensor> ." for n in range(SENSORS)]
    lines += [f"<{NAMESPACE}room{n}> <{NAMESPACE}part> <{NAMESPACE}floor{n % 3}> ." for n in range(ROOMS)]
    lines += [f"<{NAMESPACE}room{n}> <{NAMESPACE}door> <{NAMESPACE}room{(n * 7 + 1) % ROOMS}> ." for n in range(ROOMS)]
    return "\n".join(lines) + "\n"


def train(query: str) -> None:
    """One query: a graph and its edits, readings as text, in tables, one by one."""
    engine = ms.Engine()
    engine.load(building().encode(), format="nt")
    registered = engine.register(f"PREFIX : <{NAMESPACE}>\n{query}")
    text = "".join(as_lines(triples) for _, triples in readings(0, 2_000))
    engine.read(READINGS, text.encode(), format="nt", time="rate:500")
    for first in IN_TABLES:
        engine.push_table(READINGS, as_table(list(readings(first, IN_TABLES.step))))
        registered.take_table()
    for number, (at_ms, triples) in enumerate(readings(IN_TABLES.stop, 1_000)):
        engine.push(READINGS, as_lines(triples), at_ms)
        if number % 10 == 0:
            there = f"<{NAMESPACE}sensor{number % SENSORS}> <{NAMESPACE}in> <{NAMESPACE}room{number % SENSORS % ROOMS}> ."
            engine.delete(there)
            engine.insert(there)
            registered.take()
    engine.push_many(READINGS, [(line, at_ms) for line in text.splitlines()])
    registered.take_table()


if __name__ == "__main__":
    for query in QUERIES.strip().splitlines():
        for word, meant in MEANT.items():
            query = query.replace(word, meant)
        train(query)
