"""Files of dataset changes, RDF Patch or SPARQL Update data, for the packer.

A change is an element: it happens at once, at a time that a rate or the file's arrival gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from millstream.errors import OptionError
from millstream.ingest import Columns
from millstream.ingest.readers.dispatch import read_changes as chunks_of_changes
from millstream.pipeline.exchange.packing import Packer
from millstream.pipeline.source.reading import Reading, opened, scope_of
from millstream.pipeline.source.splits import Split
from millstream.rdf import OnRejected


def read_changes(part: Split, packer: Packer, on_rejected: OnRejected) -> Iterator[Reading]:
    """The changes of a part, chunk by chunk, of graphs that the query reads."""
    if part.rate is None and part.arrival_ms is None:
        raise OptionError(
            f"{part.path}: changes do not say when they happened; give the option time, rate:N or arrival, or load what is "
            "there before the first element as a dataset"
        )
    with opened(part, scope_of(part), on_rejected) as (described, want, counted):
        for chunk in chunks_of_changes(described, want):
            found = chunk.encode(packer.dictionary, packer.summary)
            yield Reading(of_known_graphs(found, packer), counted.take())


def of_known_graphs(found: Columns, packer: Packer) -> Columns:
    """Changes with the places of their graphs instead of the ids of their names."""
    graph_ids = np.full(len(found.triples), -1) if found.graph is None else found.graph
    ids, place = np.unique(graph_ids, return_inverse=True)
    texts = packer.dictionary.decode(ids).to_pylist()
    names = packer.graphs_of([None if text is None else str(text).strip("<>").removeprefix("_:") for text in texts])
    graph = names[place]
    keep = graph >= 0
    return replace(found, triples=found.triples[keep], element=found.element[keep], graph=graph[keep])
