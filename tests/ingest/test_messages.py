"""Messages to elements: the scanner and the parsers say the same, and a fault stays within its message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.errors import DataError, OptionError
from millstream.ingest.message_reader import MessageReader
from millstream.ingest.messages import Lane, Messages, RejectedMessage, texts_of
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.message_scanner import MessageTexts
from millstream.kernels.scanning.summary import Summary
from millstream.rdf import Rejected

Element = tuple[int, int, frozenset[tuple[str, ...]]]


def messages(
    values: Sequence[bytes | None],
    at_ms: Sequence[int] | None = None,
    headers: Sequence[Sequence[tuple[str, bytes | None]]] | None = None,
) -> Messages:
    """Messages of one lane, at offsets from 100 on."""
    count = len(values)
    return Messages(
        [Lane("t", 0)],
        np.zeros(count, np.int64),
        np.arange(100, 100 + count),
        list(values),
        np.array(range(count) if at_ms is None else at_ms, np.int64),
        lambda place: b"key",
        lambda place: [] if headers is None else headers[place],
    )


def read(
    reader: MessageReader, given: Messages, summary: Summary | None = None
) -> tuple[list[Element], list[int], list[Rejected]]:
    """For each element its message, time and triples; how many triples each had; and what was set aside."""
    dictionary, rejected = Dictionary(), []
    columns, origin = reader.encode(given, dictionary, summary, rejected.append)
    assert len(origin) == columns.elements
    found: list[set[tuple[str, ...]]] = [set() for _ in range(columns.elements)]
    for place, triple in zip(columns.element.tolist(), columns.triples, strict=True):
        row = tuple(dictionary.texts(triple))
        assert row not in found[place]
        found[place].add(row)
    times, sizes = columns.times().tolist(), [1] * columns.elements if columns.sizes is None else columns.sizes.tolist()
    elements = [(int(o), t, frozenset(f)) for o, t, f in zip(origin, times, found, strict=True)]
    return elements, sizes, rejected


TERMS = st.sampled_from(["<http://e/a>", "<http://e/b>", "_:x", "_:y"])
LINES = st.tuples(TERMS, st.sampled_from(["<http://e/p>", "<http://e/q>"]), TERMS | st.just('"1"')).map(
    lambda t: " ".join(t) + " ."
)
BAD = st.sampled_from(["<http://e/a> <http://e/p> .", "nonsense", '<http://e/a> "1" <http://e/b> .'])
TEXTS = st.lists(LINES | st.just("") | st.just("# a comment") | BAD, max_size=4).map("\n".join)
VALUES = st.lists(
    st.none() | st.builds(lambda text, end: (text + end).encode(), TEXTS, st.sampled_from(["", "\n", "\r\n"])), max_size=6
)


@settings(max_examples=300)
@given(VALUES, st.sampled_from(["message", "line"]))
def test_scanner_and_parser_agree(values: list[bytes | None], element: str) -> None:
    """The same messages by the scanner, and by the line parser that a time in the data asks for."""
    at_ms = list(range(len(values)))
    scanned = read(MessageReader("ntriples", "timestamp", element), messages(values, at_ms))
    reader = MessageReader("ntriples", "timestamp", element)
    reader._scan = lambda *args: None  # type: ignore[method-assign]
    parsed = read(reader, messages(values, at_ms))
    assert scanned[:2] == parsed[:2]
    assert [(r.source, r.line) for r in scanned[2]] == [(r.source, r.line) for r in parsed[2]]


@settings(max_examples=100)
@given(VALUES, st.data())
def test_any_cut_gives_the_same(values: list[bytes | None], data: st.DataObject) -> None:
    reader, whole = MessageReader("ntriples"), messages(values)
    expected = read(MessageReader("ntriples"), whole)[0]
    cut = data.draw(st.integers(0, len(values)))
    first = read(reader, whole.pick(np.arange(cut)))[0]
    second = [(o + cut, t, f) for o, t, f in read(reader, whole.pick(np.arange(cut, len(values))))[0]]
    assert first + second == expected


@settings(max_examples=100, deadline=None)
@given(VALUES, st.integers(0, 3))
def test_texts_in_a_buffer_are_read_where_they_are(values: list[bytes | None], before: int) -> None:
    """As a slice of a column, the texts of which need not begin the buffer."""
    column = pa.array([b"other"] * before + values, pa.large_binary()).slice(before)
    given = messages(values)
    one, other = (
        read(MessageReader("ntriples"), given),
        read(MessageReader("ntriples"), replace(given, values=texts_of(column))),
    )
    assert one == other
    assert list(texts_of(column)) == values


def test_texts_that_do_not_fit_their_buffer_are_refused() -> None:
    for offsets in ([0, 9], [-1, 2], [2, 1], [0]):
        with pytest.raises(ValueError, match="offsets of texts"):
            MessageTexts(np.zeros(3, np.uint8), np.array(offsets, np.int64), np.ones(1, np.uint8))
    with pytest.raises(ValueError, match="go back"):
        MessageTexts(np.zeros(3, np.uint8), np.array([0, 2, 1], np.int64), np.ones(2, np.uint8))
    with pytest.raises(IndexError):
        texts_of(pa.array([b"x"], pa.large_binary()))[1]


def test_labels_are_of_their_message() -> None:
    text = b"_:x <http://e/p> _:x ."
    found = read(MessageReader("ntriples"), messages([text, text]))[0]
    [one], [other] = (list(triples) for _, _, triples in found)
    assert one[0] == one[2] != other[0] == other[2]
    turtle = read(MessageReader("turtle"), messages([text, text]))[0]
    assert turtle == found
    assert Lane("t", 0).scope(7) != Lane("t", 1).scope(7) != Lane("t.0", 1).scope(7)


def test_a_message_with_a_fault_is_set_aside_whole() -> None:
    good, bad = b"<http://e/a> <http://e/p> <http://e/b> .", b"<http://e/a> <http://e/p> <http://e/c> .\nnonsense\n"
    elements, _, rejected = read(MessageReader("ntriples"), messages([good, bad, good]))
    assert [origin for origin, _, _ in elements] == [0, 2]
    [only] = rejected
    assert (only.source, only.line) == ("t/0 at offset 101", 2)
    assert isinstance(only, RejectedMessage)
    assert (only.message.offset, only.message.key, only.message.value) == (101, b"key", bad)
    lines, _, rejected = read(MessageReader("ntriples", element="line"), messages([good, bad, good]))
    assert [origin for origin, _, _ in lines] == [0, 1, 2]
    assert len(rejected) == 1


def test_strict_readers_take_what_comes_before_a_fault() -> None:
    good = b"<http://e/a> <http://e/p> <http://e/b> ."
    for format in ("ntriples", "turtle"):
        columns, origin = MessageReader(format).encode(messages([good, b"nonsense", good]), Dictionary(), None, None)
        assert origin.tolist() == [0]
        assert isinstance(columns.fault, DataError)
        assert columns.fault.source == "t/0 at offset 101"


def test_the_content_type_tells_the_format() -> None:
    types = [b"application/n-triples", b"text/turtle; charset=utf-8", b"application/ld+json", b"image/png", None]
    values = [
        b"<http://e/a> <http://e/p> <http://e/b> .",
        b"@prefix e: <http://e/> . e:a e:p e:b .",
        b'{"@id": "http://e/a", "http://e/p": {"@id": "http://e/b"}}',
        b"x",
        b"y",
    ]
    headers = [[] if each is None else [("Content-Type", each)] for each in types]
    elements, _, rejected = read(MessageReader(), messages(values, headers=headers))
    assert [triples for _, _, triples in elements] == [elements[0][2]] * 3
    assert ["image/png" in r.reason or "content-type" in r.reason for r in rejected] == [True, True]


def test_times_of_headers() -> None:
    values = [b"<http://e/a> <http://e/p> <http://e/b> ."] * 4
    headers = [[("at", b"17")], [("at", b"1970-01-01T00:00:02Z")], [("other", b"1")], [("at", b"soon")]]
    elements, _, rejected = read(MessageReader("ntriples", "header:at"), messages(values, headers=headers))
    assert [at_ms for _, at_ms, _ in elements] == [17, 2000]
    assert ["header at" in r.reason for r in rejected] == [True, True]


def test_graphs_of_a_message_are_elements() -> None:
    text = b"""
        <http://e/a> <http://e/p> "1" <http://e/g> .
        <http://e/a> <http://e/p> "2" <http://e/h> .
        <http://e/g> <http://www.w3.org/ns/prov#generatedAtTime> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .
        <http://e/h> <http://www.w3.org/ns/prov#generatedAtTime> "6"^^<http://www.w3.org/2001/XMLSchema#integer> .
    """
    elements, _, rejected = read(MessageReader("nquads", "prov", "graph"), messages([text]))
    assert [(origin, at_ms, len(triples)) for origin, at_ms, triples in elements] == [(0, 5, 1), (0, 6, 1)]
    assert not rejected


def test_messages_without_statements_are_signs_of_life() -> None:
    for format in ("ntriples", "turtle"):
        elements, sizes, _ = read(MessageReader(format), messages([b"", None, b"# nothing\n"], at_ms=[5, 6, 7]))
        assert elements == [(0, 5, frozenset()), (1, 6, frozenset()), (2, 7, frozenset())]
        assert sizes == [0, 0, 0]


def test_a_version_is_no_fault() -> None:
    text = b'VERSION "1.2"\n<http://e/a> <http://e/p> <http://e/b> .\n'
    elements, _, rejected = read(MessageReader("ntriples"), messages([text]))
    assert [len(triples) for _, _, triples in elements] == [1]
    assert not rejected


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"format": "csv"}, "not read from messages"),
        ({"format": "ntriples", "time": "rate:5"}, "not for messages"),
        ({"format": "ntriples", "time": "arrival"}, "not for messages"),
        ({"format": "ntriples", "element": "file"}, "not for messages"),
    ],
)
def test_options_that_cannot_be(options: dict[str, str], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        MessageReader(**options)
