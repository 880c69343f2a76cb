"""The mirror has what the engine has, after any sequence of changes, from the beginning or from the middle."""

from __future__ import annotations

import random

import pyoxigraph as ox
import pytest

from millstream.engine import Engine
from millstream.server.durable import commands as c
from millstream.server.durable.commands import Command
from millstream.server.durable.state import ServerState
from millstream.server.limits import ServerLimits
from millstream.server.one_off.mirror import Mirror
from millstream.server.service import dataset_quads

GRAPHS = (None, "http://e/g", "http://e/h")


def some(chance: random.Random, count: int) -> list[tuple[str, str]]:
    """Triples, and the graph of each, or none."""
    terms = ["<http://e/a>", "<http://e/b>", "_:x", "_:y"]
    objects = [*terms, '"1"', '"a b"@en', '"\\u00e4 .\\n"', "7"]
    found = []
    for _ in range(count):
        triple = f"{chance.choice(terms)} <http://e/{chance.choice('pq')}> {chance.choice(objects)}"
        found.append((triple, chance.choice(["", "<http://e/g>", "<http://e/h>"])))
    return found


def change(chance: random.Random) -> Command:
    """Any command that changes graphs."""
    graph, triples = chance.choice(GRAPHS), some(chance, chance.randrange(5))
    turtle = "\n".join(f"{triple} ." for triple, _ in triples).encode()
    match chance.randrange(5):
        case 0:
            return Command(c.PUT, {"graph": graph, "format": "turtle", "base": "http://e/"}, turtle)
        case 1:
            return Command(c.POST, {"graph": graph, "format": "turtle", "base": "http://e/"}, turtle)
        case 2:
            trig = "\n".join(f"{name} {{ {triple} }}" if name else f"{triple} ." for triple, name in triples).encode()
            return Command(c.POST, {"graph": graph, "format": "trig", "base": "http://e/"}, trig)
        case 3:
            return Command(c.DROP, {"graph": graph})
    parts = []
    for triple, name in triples:
        verb = "INSERT" if "_:" in triple else chance.choice(["INSERT", "DELETE"])
        parts.append(f"{verb} DATA {{ {f'GRAPH {name} {{ {triple} }}' if name else triple} }}")
    return Command(c.UPDATE, {"format": "sparql", "base": "http://e/"}, " ;\n".join(parts).encode())


@pytest.mark.parametrize("seed", range(30))
def test_a_mirror_has_what_the_engine_has(seed: int) -> None:
    chance = random.Random(seed)
    state, mirrors = ServerState(Engine(), ServerLimits()), [Mirror()]
    for _ in range(25):
        numbered, outcome = state.apply(change(chance))
        if outcome.error is None:
            for mirror in mirrors:
                mirror.change(numbered)
        if chance.random() < 0.1:
            mirrors.append(Mirror())
            for lines in dataset_quads(state):
                mirrors[-1].load(lines)
        lines = b"".join(dataset_quads(state))
        expected = set(ox.parse(lines, format=ox.RdfFormat.N_QUADS))
        for mirror in mirrors:
            assert set(mirror.store) == expected
