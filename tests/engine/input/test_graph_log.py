"""Named graphs read from columns are those the readers make of quads, and the same is set aside for the same reasons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream import Engine
from millstream.ingest import Columns
from millstream.ingest.readers import gathering, scanning
from millstream.ingest.readers.graph_log import GraphLog
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.scanner import Scanner
from millstream.rdf import Rejected, Rejections
from tests.readers import read_elements

PROV = "<http://www.w3.org/ns/prov#generatedAtTime>"
XSD = "http://www.w3.org/2001/XMLSchema#"
GRAPHS = ["<http://e/g0>", "<http://e/g1>", "<http://e/g2>", "_:g"]
NODES = ["<http://e/a>", "<http://e/b>", "_:n", '"text"@en', f'"1"^^<{XSD}integer>']
TIMES = [
    f'"1970-01-01T00:00:01Z"^^<{XSD}dateTime>',
    f'"1970-01-01T01:00:02.5+01:00"^^<{XSD}dateTime>',
    f'"1970-01-01T00:00:03"^^<{XSD}dateTimeStamp>',
    f'"2000"^^<{XSD}integer>',
    '"1970-01-01T00:00:01Z"',
    f'"1970-13-01T00:00:01Z"^^<{XSD}dateTime>',
    "<http://e/never>",
]
Found = tuple[list[tuple[int, list[str]]], list[tuple[int | None, str, str]]]

times = st.builds("{} {} {} .\n".format, st.sampled_from(GRAPHS), st.just(PROV), st.sampled_from(TIMES))
quads = st.builds(
    "{} {} {} {} .\n".format,
    st.sampled_from(NODES[:3]),
    st.sampled_from(["<http://e/p>", "<http://e/q>", PROV]),
    st.sampled_from(NODES),
    st.sampled_from(GRAPHS),
)
own_times = st.builds(
    lambda graph, time: f"{graph} {PROV} {time} {graph} .\n", st.sampled_from(GRAPHS), st.sampled_from(TIMES)
)
outside = st.just("<http://e/a> <http://e/p> <http://e/b> .\n")
logs = st.lists(st.one_of(quads, quads, times, times, own_times, outside), max_size=30)


def by_readers(text: str, max_waiting: int) -> Found:
    rejected: list[Rejected] = []
    elements = read_elements(
        text.encode(), format="nquads", on_rejected=rejected.append, blank_prefix="x", max_waiting=max_waiting
    )
    found = [(e.at_ms, [str(t) for t in e.triples]) for e in elements]
    return found, [(r.line, r.reason, r.text) for r in rejected]


def by_columns(pieces: list[str], max_waiting: int) -> Found:
    rejected: list[Rejected] = []
    dictionary = Dictionary()
    dictionary.forget_before(1)
    log = GraphLog(dictionary, Rejections("<bytes>", rejected.append), max_waiting)
    scanner = Scanner(dictionary, graphs=True, scope="xl")
    found: list[tuple[int, list[str]]] = []

    def take(elements: Columns) -> None:
        assert elements.at_ms is not None
        texts: list[list[str]] = [[] for _ in elements.at_ms]
        for row, place in zip(elements.triples, elements.element.tolist(), strict=True):
            texts[place].append(" ".join(str(t) for t in dictionary.decode(np.ascontiguousarray(row)).to_pylist()))
        found.extend(zip(elements.at_ms.tolist(), texts, strict=True))
        # Whatever the log does not hold may be forgotten now, and its numbers given to others.
        dictionary.settle()

    for piece in pieces:
        take(log.take(scanner.feed(piece.encode())))
    take(log.take(scanner.feed(b"", True)))
    take(log.finish())
    return found, [(r.line, r.reason, r.text) for r in rejected]


@settings(max_examples=400, deadline=None)
@given(logs, st.lists(st.integers(1, 8), min_size=1, max_size=5), st.sampled_from([1, 3, 1000]))
def test_columns_give_the_elements_of_the_readers(log: list[str], cuts: list[int], max_waiting: int) -> None:
    pieces, left, turn = [], log, 0
    while left:
        size = cuts[turn % len(cuts)]
        pieces.append("".join(left[:size]))
        left, turn = left[size:], turn + 1
    assert by_columns(pieces, max_waiting) == by_readers("".join(log), max_waiting)


def test_a_log_leaves_nothing_behind_in_the_dictionary() -> None:
    dictionary = Dictionary()
    dictionary.forget_before(1)
    log = GraphLog(dictionary, Rejections("<bytes>", lambda _: None))
    scanner = Scanner(dictionary, graphs=True)
    for number in range(50):
        graph = f"<http://e/g{number}>"
        text = f"<http://e/{number}> <http://e/p> <http://e/o> {graph} .\n{graph} {PROV} {TIMES[0]} .\n"
        log.take(scanner.feed(text.encode()))
        dictionary.settle()
        dictionary.sweep(1 << 20)
        # The graph whose time was used last, and the predicate.
        assert dictionary.stats()["live"] <= 2
    log.take(scanner.feed(b"", True))
    log.finish()
    dictionary.settle()
    dictionary.sweep(1 << 20)
    assert dictionary.stats()["live"] == 0


def log_text(elements: int) -> Iterator[str]:
    """Elements two milliseconds apart, every ninth of them late, one malformed line, one graph without a time."""
    for number in range(elements):
        at_ms = 2 * number - (11 if number % 9 == 5 else 0)
        for place in range(1 + number % 3):
            s, o = number % 7, (number * 3 + place) % 7
            yield f"<http://e/n{s}> <http://e/p{place}> <http://e/n{o}> <http://g/{number}> .\n"
        if number == 20:
            yield "oops\n"
        if number != 30:
            yield f'<http://g/{number}> {PROV} "{at_ms}"^^<{XSD}integer> .\n'


QUERIES = (
    "SELECT CHANGES ?a ?c { STREAM <http://e/s> [RANGE 12] { ?a <http://e/p0> ?b . ?b <http://e/p1> ?c } }",
    "SELECT CHANGES ?a { STREAM <http://e/s> [TRIPLES 5] { ?a <http://e/p0> ?b } }",
    "SELECT ?a ?b { STREAM <http://e/s> [EVENT] { ?a <http://e/p0> ?b . ?a <http://e/p1> ?c } }",
)


def as_trig(line: str) -> str:
    terms = line.split()
    return f"{terms[3]} {{ {' '.join(terms[:3])} }}\n" if len(terms) == 5 else line


@pytest.mark.parametrize("ending", ["nq", "trig"])
@pytest.mark.parametrize("query", QUERIES)
def test_an_engine_answers_as_from_the_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str, ending: str
) -> None:
    log = tmp_path / f"log.{ending}"
    log.write_text("".join(line if ending == "nq" else as_trig(line) for line in log_text(80)))
    fast, slow = Engine(), Engine()
    answers = [engine.register(query) for engine in (fast, slow)]
    monkeypatch.setattr(scanning, "CHUNK_BYTES", 300)
    monkeypatch.setattr(gathering, "CHUNK_STATEMENTS", 7)
    fast.read("http://e/s", log, time="prov", element="graph")
    rejected: list[Rejected] = []
    for element in read_elements(log, on_rejected=rejected.append):
        slow.push("http://e/s", element.triples, at_ms=element.at_ms)
    for engine in (fast, slow):
        engine.finish()
    found, wanted = (each.take_table() for each in answers)
    assert wanted.num_rows > 10
    # The answers of one change have no order.
    assert sorted(map(str, found.to_pylist())) == sorted(map(str, wanted.to_pylist()))
    counted = ("elements", "triples", "late", "answers")
    assert {name: fast.stats[name] for name in counted} == {name: slow.stats[name] for name in counted}
    assert fast.stats["late"] > 5
    # Without texts: of a late element only what a query asks for is shown.
    told = [sorted((r.line or 0, r.reason) for r in some) for some in (fast.rejected(), [*slow.rejected(), *rejected])]
    assert told[0] == told[1]
