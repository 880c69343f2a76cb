"""Inserts and deletes of single triples, and one query for each class of the paper on dynamic linked data.

Ground: no variable at all. Star: one variable, every pattern about it and a constant. Loose: such stars side by side, whose
solutions multiply. Connected: patterns between variables. Seeded edits fill a graph and then keep its size; Wikidata's own
are those of the suite `wikidata-updates`, where it is at hand.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.workloads.patterns import TYPE, XSD, Patterns, body
from benchmarks.workloads.suites import suites
from millstream.limits import DEFAULT_LIMITS
from millstream.rdf import BlankScope, Rejections
from millstream.rdf.changes.changes import updates_in
from millstream.rdf.inputs import ByteStream
from millstream.rdf.statements import Change

_NODES = "http://example.org/node/"
_PREDICATES = 8
_HUBS = 20
"""Nodes that many others point to: the constants of stars."""


class Edit(NamedTuple):
    """One triple that comes or goes."""

    insert: bool
    text: str


@dataclass(frozen=True, slots=True)
class Edited:
    """A graph and what happens to it, with a query of each class."""

    base: list[str]
    edits: list[Edit]
    patterns: dict[str, Patterns]


def query(patterns: Patterns) -> str:
    """ASK for a ground pattern, whose answer is whether it holds; else all solutions."""
    variables = any(term.startswith("?") for pattern in patterns for term in pattern)
    return f"{'SELECT *' if variables else 'ASK'} {{ {body(patterns)} }}"


def _p(number: int) -> str:
    return f"<http://example.org/p{number}>"


def _node(number: int) -> str:
    return f"<{_NODES}{number}>"


PATTERNS: dict[str, Patterns] = {
    "ground": [(_node(1), _p(0), _node(2)), (_node(2), _p(1), _node(3)), (_node(0), _p(2), _node(1))],
    "star": [("?x", _p(0), _node(0)), ("?x", _p(1), _node(1)), (_node(2), _p(2), "?x")],
    "loose": [
        ("?x", _p(0), _node(5)),
        ("?x", _p(1), _node(6)),
        ("?y", _p(1), _node(7)),
        ("?y", _p(2), _node(5)),
        (_node(1), _p(0), _node(2)),
    ],
    "connected": [("?x", _p(3), "?y"), ("?y", _p(4), "?z"), ("?z", _p(5), "?w"), ("?x", _p(0), _node(0))],
}
SHAPES: dict[str, Patterns] = {
    "star": PATTERNS["star"],
    "chain": [("?x", _p(3), "?y"), ("?y", _p(4), "?z"), ("?z", _p(5), "?w")],
    "triangle": [("?x", _p(3), "?y"), ("?y", _p(4), "?z"), ("?z", _p(5), "?x")],
}
"""Connected patterns of the shapes that joins are measured with."""
_GROUND = [f"{s} {p} {o} .\n" for s, p, o in PATTERNS["ground"]]


def seeded_edits(triples: int, changes: int, seed: int = 8) -> Edited:
    """A graph of so many triples, and inserts and deletes in turns, which all change it; ground triples come and go, too."""
    draw = random.Random(seed)
    fresh = _Fresh(draw, max(triples // 5, 200))
    base = [*_GROUND, *(fresh.add() for _ in range(triples - len(_GROUND)))]
    ground, edits = set(_GROUND), []
    for n in range(changes):
        if draw.randrange(50) == 0:
            text = draw.choice(_GROUND)
            edits.append(Edit(text not in ground, text))
            ground ^= {text}
        elif n % 2:
            edits.append(Edit(False, fresh.remove()))
        else:
            edits.append(Edit(True, fresh.add()))
    return Edited(base, edits, PATTERNS)


class _Fresh:
    """Triples that are there, and more that are not: some between hubs and a quarter of all nodes, the others any pairs."""

    def __init__(self, draw: random.Random, nodes: int) -> None:
        self._draw, self._nodes = draw, nodes
        self._present: list[str] = []
        self._known = set(_GROUND)

    def add(self) -> str:
        while (text := self._any()) in self._known:
            pass
        self._known.add(text)
        self._present.append(text)
        return text

    def remove(self) -> str:
        place = self._draw.randrange(len(self._present))
        self._present[place], gone = self._present[-1], self._present[place]
        self._present.pop()
        self._known.remove(gone)
        return gone

    def _any(self) -> str:
        draw, nodes = self._draw, self._nodes
        kind, hub, s = draw.randrange(100), int(_HUBS * draw.random() ** 3), draw.randrange(nodes // 4)
        if kind < 30:
            return f"{_node(s)} {_p(draw.randrange(3))} {_node(hub)} .\n"
        if kind < 40:
            return f"{_node(hub)} {_p(2)} {_node(s)} .\n"
        p = 3 + draw.randrange(_PREDICATES - 3)
        return f"{_node(draw.randrange(nodes))} {_p(p)} {_node(draw.randrange(nodes))} .\n"


# Wikidata -------------------------------------------------------------------------------------------------------------

_ONTOLOGY, _ENTITY = "http://wikiba.se/ontology#", "http://www.wikidata.org/entity/"
_RANK = f"<{_ONTOLOGY}rank>"
WIKIDATA: dict[str, Patterns] = {
    "star": [
        ("?statement", TYPE, f"<{_ONTOLOGY}Statement>"),
        ("?statement", TYPE, f"<{_ONTOLOGY}BestRank>"),
        ("?statement", _RANK, f"<{_ONTOLOGY}NormalRank>"),
    ],
    "loose": [
        ("?preferred", _RANK, f"<{_ONTOLOGY}PreferredRank>"),
        ("?moment", TYPE, f"<{_ONTOLOGY}TimeValue>"),
        ("?moment", f"<{_ONTOLOGY}timePrecision>", f'"11"^^<{XSD}integer>'),
    ],
    "connected": [
        ("?work", "<http://www.wikidata.org/prop/P2860>", "?statement"),
        ("?statement", "<http://www.wikidata.org/prop/statement/P2860>", "?cited"),
        ("?statement", "<http://www.w3.org/ns/prov#wasDerivedFrom>", "?reference"),
    ],
}


def wikidata_at_hand() -> bool:
    return (suites() / "wikidata-updates").exists()


def wikidata_edits() -> Edited:
    """The edits of the suite; what is deleted before it was inserted was there before."""
    path = suites() / "wikidata-updates" / "sample_result.txt.gz"
    with path.open("rb") as file:
        rejections = Rejections(str(path), lambda _: None)
        found = updates_in(ByteStream(file, rejections), None, rejections, BlankScope(), DEFAULT_LIMITS)
        changes = [change for change in found if isinstance(change, Change)]
        edits = [Edit(change.insert, f"{triple} .\n") for change in changes for triple in change.triples]
    seen: set[str] = set()
    base = [text for insert, text in edits if text not in seen and not seen.add(text) and not insert]  # type: ignore[func-returns-value]
    ground = [text for insert, text in edits if insert][:2]
    triples: Patterns = [tuple(text[:-3].split(" ", 2)) for text in ground]  # type: ignore[misc]
    return Edited(base, edits, {"ground": triples, **WIKIDATA})
