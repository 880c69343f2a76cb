"""Lanes of a source in cells: what comes out depends on what is in the lanes alone, not on what came with which trigger."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from millstream import Engine
from millstream.ingest import Columns
from millstream.ingest.intake import Encoder
from millstream.kernels.scanning.scanner import Scanner
from millstream.pipeline.exchange.cell_keys import keys_of
from millstream.pipeline.exchange.messages import part_of
from millstream.pipeline.exchange.packing import Packer
from millstream.pipeline.job.specification import JobSpec, StreamedSource, job_spec
from millstream.pipeline.source.reading import Reading
from millstream.pipeline.source.splits import Split
from millstream.pipeline.state.cell import Cell
from millstream.pipeline.state.clock import LAST_PART

STREAM = "http://e/s"
# Which rows there are depends on the order of what happens in one millisecond.
QUERY = f"SELECT CHANGES ?a ?b {{ STREAM <{STREAM}> [TRIPLES 2] {{ ?a <http://e/p> ?x . ?b <http://e/q> ?x }} }}"
COUNT = f"SELECT CHANGES (COUNT(?a) AS ?n) {{ STREAM <{STREAM}> [TRIPLES 2] {{ ?a <http://e/p> ?x }} }}"
Lanes = list[list[tuple[int, str]]]


def drawn(chance: random.Random) -> Lanes:
    """Elements of a few lanes, in order of time in each, many at the same one."""
    lanes: Lanes = []
    for _ in range(chance.randrange(1, 4)):
        at_ms, lane = 0, []
        for _ in range(chance.randrange(1, 12)):
            at_ms += chance.choice((0, 0, 1, 2))
            triple = f"<http://e/{chance.randrange(9)}> <http://e/{chance.choice('pq')}> <http://e/{chance.randrange(2)}> ."
            lane.append((at_ms, triple))
        lanes.append(lane)
    return lanes


def in_cells(spec: JobSpec, lanes: Lanes, chance: random.Random) -> Counter[tuple[object, ...]]:
    packer = Packer(spec, 0)
    cells = [Cell(spec, number) for number in range(spec.cells.count)]
    found: Counter[tuple[object, ...]] = Counter()

    def trigger(blobs: list[tuple[int, bytes]]) -> None:
        chance.shuffle(blobs)
        for key, cell in zip(keys_of(len(cells)), cells, strict=True):
            table = cell.take([blob for k, blob in blobs if k == key]).answers
            found.update(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def read(lane: int, offset: int, some: list[tuple[int, str]]) -> list[tuple[int, bytes]]:
        encoder, scanner = Encoder(packer.dictionary), Scanner(packer.dictionary, summary=packer.summary)
        encoded = [encoder.encode(text.encode(), scanner).triples for _, text in some]
        element = np.repeat(np.arange(len(some)), [len(triples) for triples in encoded])
        at_ms = np.array([at_ms for at_ms, _ in some], np.int64)
        packer.begin().add(part_of(lane, offset), 0, Reading(Columns(np.concatenate(encoded), element, len(some), at_ms), 0))
        return list(packer.take())

    trigger([blob for lane in range(len(lanes)) for blob in packer.begins(part_of(lane, 0))])
    offsets = [0] * len(lanes)
    while any(offset < len(lane) for offset, lane in zip(offsets, lanes, strict=True)):
        blobs = []
        for number, lane in enumerate(lanes):
            some = lane[offsets[number] : offsets[number] + chance.randrange(4)]
            if some:
                blobs += read(number, offsets[number], some)
                offsets[number] += len(some)
        if blobs:
            trigger(blobs)
    trigger(list(packer.nothing(Split(source=0, sequence=LAST_PART, ended=True))))
    return found


@pytest.mark.parametrize("query", [QUERY, COUNT])
@pytest.mark.parametrize("seed", range(15))
def test_any_triggers_give_the_order_of_time_and_lane(query: str, seed: int) -> None:
    chance = random.Random(seed)
    lanes = drawn(chance)
    engine = Engine()
    registered = engine.register(query)
    every = sorted((at, lane, place, text) for lane, some in enumerate(lanes) for place, (at, text) in enumerate(some))
    for at_ms, _, _, text in every:
        engine.push(STREAM, text, at_ms=at_ms)
    engine.finish()
    table = registered.take_table()
    expected = Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))
    spec = job_spec(query, [StreamedSource(STREAM)], cells=2)
    for _ in range(3):
        assert in_cells(spec, lanes, chance) == expected
