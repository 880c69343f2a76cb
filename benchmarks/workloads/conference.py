"""A conference after the CQELS paper: whom RFID readers detect where, the rooms' floor plan, and a bibliography.

The bibliography follows SP2Bench's vocabulary. Whatever its size, it begins alike: participants are its first authors, a
larger one has more years of papers behind them, and most of those are by others. Where the suite `cqels-conference` is at
hand, the paper's own files can be used instead.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pyoxigraph as ox

from benchmarks.workloads.elements import Element, Graph, Workload
from benchmarks.workloads.patterns import TYPE, XSD
from benchmarks.workloads.suites import suites
from tests.language.test_paper_queries import CONFERENCE, CONFERENCE_PREFIXES

STREAM = "http://deri.org/streams/rfid"
PLAN = "http://deri.org/floorplan/"
PACE_MS = 250
PARTICIPANTS = 120
ROOMS = 43
_HALLS = 5
_DBLP = "http://deri.org/dblp/"
_DC, _TERMS, _FOAF = "http://purl.org/dc/elements/1.1/", "http://purl.org/dc/terms/", "http://xmlns.com/foaf/0.1/"
_SWRC, _BENCH = "http://swrc.ontoware.org/ontology#", f"{_DBLP}vocabulary/bench/"
_GIVEN = "Ada Alan Barbara Claude Donald Edgar Frances Grace Hedy Ivan John Kathleen Leslie Margaret Niklaus Radia".split()
_FAMILY = (
    "Abel Bernoulli Cauchy Descartes Euler Fermat Gauss Hilbert Ito Jacobi Klein Lagrange Markov Noether Ore Pascal".split()
)
_BLOCK = 200
"""Papers or detections that are drawn at a time."""
_A_PROCEEDINGS = 25
_TITLE = "streams graphs joins windows queries indexes answers changes".split()


def name(author: int) -> str:
    """The name of an author, of which no two have the same."""
    own = f"{_GIVEN[author % 16]} {_FAMILY[author // 16 % 16]}"
    return own if author < 256 else f"{own} {author // 256}"


def author_iri(author: int) -> str:
    return f"{_DBLP}persons/{name(author).replace(' ', '_')}"


def query(which: str, whom: str) -> str:
    """One of the paper's Q1 to Q5 for somebody, the slips of its print mended."""
    text = CONFERENCE[which].replace("``$Name$``", f'"{whom}"').replace(". loc2", ". ?loc2")
    return CONFERENCE_PREFIXES + text.replace(
        "count(distinct ?coAuth) as ?noCoAuths", "(COUNT(DISTINCT ?coAuth) AS ?noCoAuths)"
    )


def queries(whom: str = name(0)) -> dict[str, str]:
    return {which: query(which, whom) for which in CONFERENCE}


def elements(triples: int, seed: int = 5, participants: int = PARTICIPANTS) -> Iterator[Element]:
    """Detections, four a second, a triple each: people stay, go next door or to a hall; some are detected far more often."""
    random, doors = np.random.default_rng(seed), _doors()
    room = random.integers(0, ROOMS, participants).tolist()
    for first in range(0, triples, _BLOCK):
        count = min(_BLOCK, triples - first)
        who = (participants * random.random(count) ** 2).astype(int).tolist()
        step = random.integers(0, 1 << 16, count).tolist()
        for n, (author, k) in enumerate(zip(who, step, strict=True), first):
            if k % 3 == 0:
                room[author] = k % _HALLS if k & 4096 else doors[room[author]][k & 1]
            text = f"<{author_iri(author)}> <{PLAN}detectedAt> <{PLAN}{_room(room[author])}> .\n"
            yield Element(STREAM, n * PACE_MS, text)


def _room(number: int) -> str:
    return f"{'ABCDEFG'[number // 7]}{number % 7:03d}"


def _doors() -> list[list[int]]:
    """Which rooms are next to which, both ways: 43 rooms with 43 doors."""
    pairs = {(k, k + 1) for k in range(ROOMS - 1)} | {(0, ROOMS - 1)}
    return [sorted({b for a, b in pairs if a == k} | {a for a, b in pairs if b == k}) for k in range(ROOMS)]


def floor_plan() -> Iterator[str]:
    """172 triples, as many as the paper's: name, description and doors of each room."""
    for k, doors in enumerate(_doors()):
        s = f"<{PLAN}{_room(k)}>"
        yield f'{s} <{PLAN}name> "Location {_room(k)}" .\n{s} <{PLAN}desc> "Description of location {_room(k)}" .\n'
        yield "".join(f"{s} <{PLAN}connected> <{PLAN}{_room(door)}> .\n" for door in doors)


def bibliography(triples: int, seed: int = 6) -> Iterator[str]:
    """Papers, proceedings with editors, and authors, about so many triples; a smaller one is the beginning of a larger."""
    random, authors, paper, made = np.random.default_rng(seed), PARTICIPANTS, 0, 0
    yield (text := "".join(map(_author, range(authors))))
    made += text.count("\n")
    while made < triples:
        # The older an author, the more papers: the share of the first falls only as the power 2/3 of their number.
        drawn = (random.random((_BLOCK, 4)) ** 1.5).tolist()
        kind = random.integers(0, 1 << 30, _BLOCK).tolist()
        pieces = []
        for places, k in zip(drawn, kind, strict=True):
            if paper % _A_PROCEEDINGS == 0:
                editors = {int(places[0] * authors), int(places[1] * authors)}
                pieces.append(_proceedings(paper // _A_PROCEEDINGS, sorted(editors)))
            creators = {int(place * authors) for place in places[: 1 + k % 4]}
            if k % 2:
                pieces.append(_author(authors))
                creators.add(authors)
                authors += 1
            pieces.append(_paper(paper, paper // _A_PROCEEDINGS, sorted(creators), k))
            paper += 1
        text = "".join(pieces)
        made += text.count("\n")
        yield text


def _author(author: int) -> str:
    s = f"<{author_iri(author)}>"
    return f'{s} {TYPE} <{_FOAF}Person> .\n{s} <{_FOAF}name> "{name(author)}" .\n'


def _proceedings(number: int, editors: list[int]) -> str:
    s = f"<{_DBLP}publications/procs/Proceeding{number}>"
    return (
        f"{s} {TYPE} <{_BENCH}Proceedings> .\n"
        f'{s} <{_DC}title> "Proceedings {number}" .\n'
        f'{s} <{_TERMS}issued> "{1950 + number // 20}"^^<{XSD}integer> .\n'
        + "".join(f"{s} <{_SWRC}editor> <{author_iri(editor)}> .\n" for editor in editors)
    )


def _paper(number: int, proceedings: int, creators: list[int], k: int) -> str:
    s = f"<{_DBLP}publications/inprocs/Inproceeding{number}>"
    return (
        f"{s} {TYPE} <{_BENCH}Inproceedings> .\n"
        f"{s} <{_TERMS}partOf> <{_DBLP}publications/procs/Proceeding{proceedings}> .\n"
        f'{s} <{_DC}title> "{_TITLE[k % 8]} {_TITLE[k // 8 % 8]} {number}" .\n'
        f'{s} <{_SWRC}pages> "{1 + k % 200}"^^<{XSD}integer> .\n'
        f'{s} <{_BENCH}booktitle> "Proceedings {proceedings}" .\n'
        f'{s} <{_FOAF}homepage> "http://www.example.org/{number}.html" .\n'
        + "".join(f"{s} <{_DC}creator> <{author_iri(creator)}> .\n" for creator in creators)
    )


def background(triples: int) -> dict[str | None, Graph]:
    return {PLAN: floor_plan(), None: bibliography(triples)}


# The paper's own files ------------------------------------------------------------------------------------------------


def at_hand() -> bool:
    return (suites() / "cqels-conference").exists()


def real_background() -> dict[str | None, Graph]:
    """The paper's floor plan and ten thousand triples of its bibliography."""
    folder = suites() / "cqels-conference"
    plan, papers = (folder / "floorplan.rdf").read_bytes(), gzip.decompress((folder / "10k.rdf.gz").read_bytes())
    return {PLAN: _lines(plan), None: _lines(papers)}


def real_elements(triples: int) -> Iterator[Element]:
    """The paper's detections, at most ten thousand, at the pace of the seeded ones: the files have no times."""
    text = gzip.decompress((suites() / "cqels-conference" / "rfid_10000.stream.gz").read_bytes()).decode()
    for n, line in enumerate(islice(text.splitlines(), triples)):
        yield Element(STREAM, n * PACE_MS, " ".join(f"<{term}>" for term in line.split()) + " .\n")


def real_names() -> list[str]:
    return (suites() / "cqels-conference" / "authors.text").read_text().splitlines()


def _lines(rdf_xml: bytes) -> Iterator[str]:
    for quad in ox.parse(rdf_xml, format=ox.RdfFormat.RDF_XML):
        yield f"{quad.triple} .\n"


CONFERENCE_WORKLOAD = Workload("conference", queries(), elements, background)
