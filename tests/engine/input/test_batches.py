"""However elements come in, one by one, in tables or as bytes, in whatever pieces: the answers are those of the reference.

The first test catches what depends on the cuts of tables and documents, the second on those of bytes, in each of the ways
that the engine has for them: short ways for clean input, the readers for the rest, with parts switched off and on.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby, product
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, Triple

from millstream import DataError, Engine
from millstream.rdf.timing import Group
from tests.engine.machines import assert_same, flat, graphs_of, table_of
from tests.engine.scenarios import GRAPHS, STREAMS, queries, triples
from tests.reference import Change, Reference

OPTIONS = st.sampled_from([{}, {}, {"summary": False}, {"lazy": False}, {"adaptive": False}])
OUTPUTS = st.sampled_from([None, "istream", "dstream", "rstream", "changes"])
some = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@dataclass(frozen=True)
class Timeline:
    """Elements in the order in which they come, with a query that is there from the start."""

    query: str
    output: str | None
    loaded: tuple[str, ...]
    elements: tuple[tuple[str, tuple[str, ...], int], ...]

    def load(self, machine: Engine | Reference) -> None:
        for graph in GRAPHS:
            machine.insert("\n".join(self.loaded), at_ms=-10, graph=graph)

    def expected(self) -> tuple[list[Change], int]:
        reference = Reference()
        self.load(reference)
        query = reference.register(self.query, output=self.output)
        for stream, some_triples, at_ms in self.elements:
            reference.push(stream, "\n".join(some_triples), at_ms=at_ms)
        reference.finish()
        return query.changes, len(reference.late)

    def found(self, feed: Callable[[Engine], None], options: dict[str, bool]) -> tuple[list[tuple[int, int, tuple]], int]:  # type: ignore[type-arg]
        engine = Engine(**options)  # type: ignore[arg-type]
        self.load(engine)
        query = engine.register(self.query, output=self.output)
        feed(engine)
        engine.finish()
        return flat(query.take(), query.variables), engine.stats["late"]


@st.composite
def timelines(draw: st.DrawFn) -> Timeline:
    elements = []
    now = draw(st.integers(-3, 2))
    for _ in range(draw(st.integers(1, 20))):
        now += draw(st.sampled_from([0, 0, 0, 1, 1, 2, 5, *([-1] if draw(st.integers(0, 4)) == 0 else [])]))
        stream = draw(st.sampled_from([STREAMS[0], STREAMS[0], STREAMS[0], STREAMS[1]]))
        elements.append((stream, tuple(draw(st.lists(triples, min_size=1, max_size=3))), now))
    loaded = tuple(draw(st.lists(triples, max_size=2)))
    return Timeline(draw(queries()), draw(OUTPUTS), loaded, tuple(elements))


@some
@given(timelines(), OPTIONS, st.data())
def test_answers_do_not_depend_on_how_tables_and_documents_are_cut(
    timeline: Timeline, options: dict[str, bool], data: st.DataObject
) -> None:
    ways = data.draw(st.lists(st.sampled_from(["push", "table", "record batch", "graphs", "live"]), min_size=1, max_size=20))
    together = data.draw(st.sampled_from([1, 2, 5, 10_000]))
    sizes = data.draw(st.lists(st.integers(1, 8), min_size=len(ways), max_size=len(ways)))

    def feed(engine: Engine) -> None:
        turn = 0
        for stream, run in groupby(timeline.elements, lambda e: e[0]):
            elements = list(run)
            while elements:
                way, size = ways[turn % len(ways)], sizes[turn % len(ways)]
                part, elements = elements[:size], elements[size:]
                turn += 1
                if way == "push":
                    for _, some_triples, at_ms in part:
                        engine.push(stream, "\n".join(some_triples), at_ms=at_ms)
                elif way == "table":
                    engine.push_table(stream, table_of(part))
                elif way == "graphs":
                    with patch("millstream.ingest.readers.gathering.CHUNK_STATEMENTS", together):
                        engine.read(stream, graphs_of(part).encode(), format="trig")
                elif way == "live":
                    engine.read(stream, iter([graphs_of(part)]), format="trig", element="graph")
                else:
                    for batch in table_of(part).to_batches():
                        engine.read(stream, batch)

    emitted, late = timeline.found(feed, options)
    changes, expected_late = timeline.expected()
    assert_same(emitted, changes)
    assert late == expected_late


@st.composite
def lines_at_a_rate(draw: st.DrawFn) -> tuple[Timeline, int]:
    rate = draw(st.sampled_from([200, 1000, 1000, 3000]))
    lines = draw(st.lists(triples, min_size=1, max_size=25))
    elements = tuple((STREAMS[0], (line,), i * 1000 // rate) for i, line in enumerate(lines))
    return Timeline(draw(queries()), draw(OUTPUTS), tuple(draw(st.lists(triples, max_size=2))), elements), rate


@some
@given(
    lines_at_a_rate(),
    OPTIONS,
    st.sampled_from([1, 10, 61, 200, 1 << 21]),
    st.sampled_from(["\n", "\r\n", "\n\n# a comment\n"]),
    st.booleans(),
)
def test_answers_do_not_depend_on_how_bytes_are_cut(
    lines: tuple[Timeline, int], options: dict[str, bool], chunk: int, end: str, by_readers: bool
) -> None:
    timeline, rate = lines
    data = (end.join(text for _, (text,), _ in timeline.elements) + end).encode()
    # Compressed bytes are left to the readers.
    source = gzip.compress(data) if by_readers else data

    def feed(engine: Engine) -> None:
        with patch("millstream.ingest.readers.scanning.CHUNK_BYTES", chunk):
            engine.read(STREAMS[0], source, format="nt", time=f"rate:{rate}")

    emitted, late = timeline.found(feed, options)
    assert_same(emitted, timeline.expected()[0])
    assert late == 0


@pytest.mark.parametrize("window", ["RANGE 3", "TRIPLES 4", "ELEMENTS 3", "EVENT", "RANGE 4 STEP 2", "SESSION 3"])
def test_repeats_within_an_element_of_a_table_count_once(window: str) -> None:
    once = "<http://example.org/a> <http://example.org/p> <http://example.org/b> ."
    other = "<http://example.org/c> <http://example.org/q> <http://example.org/d> ."
    elements = tuple((STREAMS[0], (once, other, once, other), at_ms) for at_ms in (0, 1, 5))
    text = f"SELECT * WHERE {{ STREAM <{STREAMS[0]}> [{window}] {{ ?x <http://example.org/p> ?y }} }}"
    timeline = Timeline(text, "changes", (), elements)
    emitted, _ = timeline.found(lambda engine: engine.push_table(STREAMS[0], table_of(list(elements))), {})
    assert_same(emitted, timeline.expected()[0])


_TEXTS = [pa.string(), pa.large_string()]
_TIMES = [pa.int8(), pa.int32(), pa.int64(), pa.uint16(), pa.uint64()]
_NAMES = [pa.int64(), pa.uint8(), pa.string(), pa.dictionary(pa.int8(), pa.string())]


@pytest.mark.parametrize("in_chunks", [False, True])
@pytest.mark.parametrize(("text", "time", "name"), list(product(_TEXTS, _TIMES, _NAMES)), ids=str)
def test_types_and_chunks_of_a_table_do_not_matter(text: Any, time: Any, name: Any, in_chunks: bool) -> None:
    sizes = (1, 3, 2, 1, 2)
    elements = tuple(
        (STREAMS[0], tuple(_of_three(10 * k + n)[1][0] for n in range(size)), k // 2) for k, size in enumerate(sizes)
    )
    query = f"SELECT ?x ?z WHERE {{ STREAM <{STREAMS[0]}> [RANGE 1] {{ ?x ?p ?y . ?z ?p ?y }} }}"
    timeline = Timeline(query, "changes", (), elements)
    table = table_of(list(elements))
    names = table["element"].cast(pa.string() if pa.types.is_dictionary(name) else name)
    types = {"s": text, "p": text, "o": text, "at_ms": time}
    columns = {column: table[column].cast(kind) for column, kind in types.items()}
    columns["element"] = names.dictionary_encode() if pa.types.is_dictionary(name) else names
    typed = pa.table(columns)
    if in_chunks:
        typed = pa.concat_tables([typed.slice(0, 2), typed.slice(2, 3), typed.slice(5)])
    emitted, _ = timeline.found(lambda engine: engine.push_table(STREAMS[0], typed), {})
    assert_same(emitted, timeline.expected()[0])


def _of_three(number: int) -> tuple[str, tuple[str, ...], int]:
    return STREAMS[0], (f"<http://example.org/{number}> <http://example.org/p> <http://example.org/b> .",), number


def test_what_comes_before_a_fault_is_taken_where_engines_are_strict() -> None:
    engine = Engine(strict=True)
    query = engine.register(f"SELECT * WHERE {{ STREAM <{STREAMS[0]}> [RANGE 9] {{ ?x <http://example.org/p> ?y }} }}")
    first, second, third = (graphs_of([_of_three(number)]).replace("g:0", f"g:{number}") for number in range(3))
    with pytest.raises(DataError):
        engine.read(STREAMS[0], (first + second + "<g:x> { no triple }\n" + third).encode(), format="trig")
    assert len(query.take()) == 2


def test_an_element_loses_only_the_triple_that_the_engine_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (
        Triple(NamedNode(f"http://example.org/{s}"), NamedNode("http://example.org/p"), Literal("v")) for s in "ab"
    )
    nested = Triple(one.subject, one.predicate, other)
    found = [(one,), (other,), (one, nested), (one,)]
    groups = [Group([Quad(t.subject, t.predicate, t.object) for t in some], 1, at_ms) for at_ms, some in enumerate(found)]
    monkeypatch.setattr("millstream.ingest.readers.dispatch.announced", lambda events: (events, False))
    monkeypatch.setattr("millstream.ingest.readers.dispatch.groups_of_events", lambda *_, **__: iter(groups))
    engine = Engine()
    query = engine.register(f"SELECT * WHERE {{ STREAM <{STREAMS[0]}> [RANGE 9] {{ ?x <http://example.org/p> ?y }} }}")
    engine.read(STREAMS[0], b"", format="jsonlines")
    assert {answer.at_ms for answer in query.take()} >= {0, 1}
    assert engine.stats["elements"] == 4
    assert ["RDF 1.2" in rejected.reason for rejected in engine.rejected()] == [True]
    with pytest.raises(DataError):
        Engine(strict=True).read(STREAMS[0], b"", format="jsonlines")
