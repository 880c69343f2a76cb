"""Streams on disk come back as they were written, elements whole, up to any time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.peers import ours
from benchmarks.peers.contents import Element, summarised
from benchmarks.peers.question import Question
from benchmarks.peers.spooled import Stream
from benchmarks.workloads import social, spool
from benchmarks.workloads.elements import as_table

PATTERNS = [("?x", "<p:1>", "?y"), ("?y", "<p:2>", '"1 2"')]


def lines(element: Element) -> tuple[int, str]:
    return element.at_ms, "".join(f"{s} {p} {o} .\n" for s, p, o in element.triples)


triples = st.tuples(
    st.sampled_from(["<a:b>", "_:x"]),
    st.sampled_from(["<p:1>", "<p:2>", "<p:3>"]),
    st.sampled_from(["<o:1>", '"1 2"', '" ."@en']),
)
streams = st.lists(st.lists(triples, min_size=1, max_size=4), min_size=1, max_size=12).map(
    lambda some: [Element(3 * number, found) for number, found in enumerate(some)]
)


@settings(max_examples=50, deadline=None)
@given(streams, st.integers(1, 9), st.integers(1, 40))
def test_a_stream_comes_back_whole_and_up_to_any_time(
    tmp_path_factory: pytest.TempPathFactory, elements: list[Element], rows: int, before_ms: int
) -> None:
    path = tmp_path_factory.mktemp("spool") / "stream.arrow"
    assert spool.write(path, map(lines, elements), rows) == sum(len(e.triples) for e in elements)
    assert list(Stream(path).elements()) == elements
    early = [element for element in elements if element.at_ms < before_ms]
    assert list(Stream(path, before_ms).elements()) == early
    question = Question(PATTERNS)
    assert list(Stream(path).elements(question)) == summarised(elements, question)


def test_tables_of_a_stream_are_those_of_its_elements(tmp_path: Path) -> None:
    made = list(social.elements(2_000))
    path = tmp_path / "stream.arrow"
    spool.write(path, ((element.at_ms, element.text) for element in made), rows=300)
    tables = list(Stream(path).tables())
    assert len(tables) > 5
    rows = [row for table in tables for row in table.to_pylist()]
    assert rows == as_table(made).to_pylist()


def test_answers_do_not_depend_on_whether_a_stream_comes_in_tables(tmp_path: Path) -> None:
    made = [(number, element.text) for number, element in enumerate(social.elements(3_000))]
    path = tmp_path / "stream.arrow"
    spool.write(path, made, rows=200)
    whole = ours.as_table(list(Stream(path).elements()))
    query = Question(social.PATTERNS["star"]).over(ours.STREAM, "RANGE 50ms")
    tables = list(Stream(path).tables())
    assert ours.answer_in_tables(query, tables)[1] == ours.answer(query, whole)[1] > 0
    instants = [10, 100, 200]
    assert ours.solutions_after(query, tables, instants) == ours.solutions_after(query, whole, instants)
    assert ours.appeared(query, tables) == ours.appeared(query, whole)
