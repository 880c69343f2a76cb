"""Files of dataset changes, RDF Patch or SPARQL Update data, to blobs for cells.

A change is an element: it happens at once, at a time that a rate or the file's arrival gives.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from millstream.errors import OptionError
from millstream.kernels.scanner import Scanner
from millstream.pipeline.files import open_piece
from millstream.pipeline.packing import Packer
from millstream.pipeline.parts import Part
from millstream.pipeline.reading import Counted, Reading, scope_of
from millstream.rdf import Change, read_changes

_AT_ONCE = 10_000


def add_changes(part: Part, packer: Packer, counted: Counted) -> Iterator[None]:
    """Adds the chunks of a part to what is packed, one by one."""
    if part.rate is None and part.arrival_ms is None:
        raise OptionError(
            f"{part.path}: changes do not say when they happened; give the option time, rate:N or arrival, or load what is "
            "there before the first element as a dataset"
        )
    waiting: list[Change] = []
    chunk = before = 0
    with open_piece(part.path, part.start, part.end) as piece:
        changes = read_changes(
            piece,
            format=part.format,
            base=part.base,
            on_rejected=counted,
            blank_prefix=scope_of(part),
            limits=part.limits,
        )
        for change in changes:
            waiting.append(change)
            if len(waiting) >= _AT_ONCE:
                _add(part, packer, waiting, chunk, before, counted.take())
                yield
                chunk, before, waiting = chunk + 1, before + len(waiting), []
    _add(part, packer, waiting, chunk, before, counted.take())
    yield


def _add(part: Part, packer: Packer, changes: list[Change], chunk: int, before: int, set_aside: int) -> None:
    lines = [f"{triple} .\n" for change in changes for triple in change.triples]
    found = Scanner(packer.dictionary, summary=packer.summary).feed("".join(lines).encode(), True)
    row = found.line - 1
    element = np.repeat(np.arange(len(changes)), [len(change.triples) for change in changes])[row]
    op = np.array([1 if change.insert else -1 for change in changes], np.int64)[element]
    names = packer.graphs_of([None if change.graph is None else change.graph.value for change in changes])
    graph = names[element]
    keep = graph >= 0
    triples = np.column_stack([found.s, found.p, found.o])[keep]
    element, op, graph = element[keep], op[keep], graph[keep]
    at_ms = None if part.arrival_ms is None or part.rate is not None else np.full(len(changes), part.arrival_ms)
    number = element + before if at_ms is None else None
    reading = Reading(triples, None, element, at_ms, number, len(changes), set_aside, False, len(lines))
    packer.add(part.sequence, chunk, reading, op, graph)
