"""The five conference queries of CQELS on the real detections, with floor plan and publications, as their engine takes them.

Whenever the author asked for is detected, and just after, the answer set is that of the reference evaluator.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from millstream import Engine
from millstream.ingest.triples import coerce_triples
from tests.reference import ELEMENT, Reference
from tests.suites import suite

RFID = "http://deri.org/streams/rfid"
PLAN = "http://deri.org/floorplan/"
PACE_MS = 250
DETECTIONS = 400
AUTHOR = "Paul Erdoes"


@pytest.fixture(scope="module")
def conference() -> Path:
    return suite("cqels-conference")


def detections(conference: Path) -> list[str]:
    lines = (conference / "rfid_1000.stream").read_text().splitlines()[:DETECTIONS]
    return [" ".join(f"<{term}>" for term in line.split()) + " ." for line in lines]


def loaded(conference: Path) -> tuple[Engine, Reference]:
    engine, reference = Engine(), Reference()
    for name, graph in (("floorplan.rdf", PLAN), ("10k.rdf.gz", None)):
        engine.load(str(conference / name), graph=graph)
        triples = engine._core.graphs[graph].triples()
        texts = [engine._core.dictionary.decode(triples[:, i].copy()).to_pylist() for i in range(3)]
        reference.load(coerce_triples("\n".join(f"{s} {p} {o} ." for s, p, o in zip(*texts, strict=True))), graph=graph)
    return engine, reference


@pytest.mark.parametrize("number", range(1, 6))
def test_around_the_authors_detections_the_answers_are_those_of_recomputing(conference: Path, number: int) -> None:
    text = (conference / f"query{number}.cqels").read_text().replace("AUTHORNAME", AUTHOR)
    engine, reference = loaded(conference)
    query, expected = engine.register(text), reference.register(text)
    # Only sampled answer sets are recomputed.
    expected.report = lambda tick: None  # type: ignore[method-assign]
    seen, left = 0, 0
    for place, detection in enumerate(detections(conference)):
        for machine in (engine, reference):
            machine.push(RFID, detection, at_ms=place * PACE_MS)
        if AUTHOR.replace(" ", "_") in detection:
            left = 2
        if left:
            left -= 1
            found = Counter(tuple(row.get(v) for v in query.variables) for row in query.solutions())
            assert found == expected.evaluate((place * PACE_MS, ELEMENT))
            seen += len(found)
    assert seen
