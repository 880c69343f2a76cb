"""Rows of ids to rows of terms, and canonical text to terms, against reading the text with pyoxigraph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.emission.decoding import Decoding
from millstream.kernels.emission.terms import lexical_of, term_of, unescaped
from millstream.kernels.flow.deltas import Deltas

TEXTS = [
    "<http://e/x>",
    "_:b",
    '"plain"',
    '""',
    r'"a\n\"b\"\\"@en-GB',
    r'"\u0001\U0001F600"^^<http://e/type>',
    '"12"^^<http://www.w3.org/2001/XMLSchema#integer>',
    '"2020-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_the_term_that_a_parser_reads(text: str) -> None:
    line = f"<http://e/s> <http://e/p> {text} ."
    (triple,) = ox.parse(line, format=ox.RdfFormat.N_TRIPLES)
    found = term_of(text)
    assert type(found) is type(triple.object)
    assert found == triple.object or isinstance(found, ox.BlankNode)
    assert found.value == triple.object.value or isinstance(found, ox.BlankNode)


def test_a_blank_node_keeps_its_label() -> None:
    assert term_of("_:b12") == ox.BlankNode("b12")


def test_lexical_forms_have_no_quotes_and_brackets() -> None:
    assert [lexical_of(text) for text in (r'"a\"b"@en', "<http://e/x>", "_:b")] == ['a"b', "http://e/x", "_:b"]
    assert unescaped(r"\t\u0041\\n") == "\tA\\n"


@dataclass(frozen=True, slots=True)
class Found:
    at_ms: int
    weight: int
    terms: dict[str, Any]
    kind: str


def rows_of(columns: list[list[int]], width: int, ticks: list[int], weights: list[int]) -> Deltas:
    rows = np.array(columns, np.int64).reshape(-1, width)
    return Deltas(rows, np.array(ticks, np.int64), np.zeros(len(rows), np.int64), np.array(weights, np.int64))


def test_objects_have_the_terms_of_their_rows_and_no_unbound_ones() -> None:
    dictionary = Dictionary()
    a, b, one = (dictionary.encode_one(text) for text in ("<http://e/a>", '"b"@en', TEXTS[6]))
    decoding = Decoding(dictionary, ["x", "y"])
    rows = rows_of([[a, b], [a, -1], [one, b]], 2, [4 * 7 + 1, 4 * 7 + 1, -4 * 3 + 2], [1, -1, 1])
    found = decoding.objects(rows, Found, ("at_ms", "weight", "terms", "kind"), "all", list)
    with pytest.raises(TypeError, match="expected a class of lists"):
        decoding.objects(rows, Found, ("at_ms", "weight", "terms", "kind"), "all", tuple)  # type: ignore[type-var]
    x, y, number = ox.NamedNode("http://e/a"), ox.Literal("b", language="en"), ox.Literal(12)
    assert found == [
        Found(7, 1, {"x": x, "y": y}, "all"),
        Found(7, -1, {"x": x}, "all"),
        Found(-3, 1, {"x": number, "y": y}, "all"),
    ]
    assert found[0].terms["x"] is found[1].terms["x"]


def test_bindings_come_as_often_as_weights_say() -> None:
    dictionary = Dictionary()
    a = dictionary.encode_one("<http://e/a>")
    decoding = Decoding(dictionary, ["x"])
    assert decoding.bindings(rows_of([[a], [-1]], 1, [0, 0], [2, 1])) == [{"x": ox.NamedNode("http://e/a")}] * 2 + [{}]


def test_an_id_whose_term_is_gone_is_no_other_term() -> None:
    dictionary = Dictionary()
    decoding = Decoding(dictionary, ["x"])
    old = dictionary.encode_one("<http://e/old>")
    assert decoding.bindings(rows_of([[old]], 1, [0], [1])) == [{"x": ox.NamedNode("http://e/old")}]
    dictionary.forget_before(100)
    dictionary.settle()
    dictionary.sweep(1 << 20)
    with pytest.raises(Exception, match="names no term"):
        decoding.bindings(rows_of([[old]], 1, [0], [1]))


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 1, 5, 15, 16, 17, 100, 240, 255, 256, 257, 1_024, 1_025, 3_000]), st.integers(1, 4))
    ),
    st.integers(0, 2**32),
)
def test_columns_are_the_terms_of_ids_one_by_one(lengths: list[tuple[int, int]], seed: int) -> None:
    """Terms of all lengths, unbound and inlined ones between them, in runs of some."""
    rng = np.random.default_rng(seed)
    dictionary = Dictionary()
    known = [-1, dictionary.encode_one(TEXTS[6]), dictionary.encode_one(TEXTS[7])]
    ids = list[int]()
    for length, run in lengths:
        known.append(dictionary.encode_one(f'"{"é" * (length // 2)}{"x" * (length % 2)}{rng.integers(3)}"'))
        ids += [known[rng.integers(len(known))]] * run
    expected = [None if one < 0 else dictionary.decode_one(one) for one in ids]
    rows = Deltas(np.array([ids, ids[::-1]], np.int64).T, *(np.zeros(len(ids), np.int64) for _ in range(3)))
    columns = Decoding(dictionary, ["a", "b"]).columns(rows)
    for column in columns:
        column.validate(full=True)
    assert [column.to_pylist() for column in columns] == [expected, expected[::-1]]
    assert dictionary.decode(np.array(ids, np.int64)[::-1]).to_pylist() == expected[::-1]


def test_rows_must_have_as_many_columns_as_there_are_names() -> None:
    decoding = Decoding(Dictionary(), ["x"])
    with pytest.raises(ValueError, match="columns"):
        decoding.bindings(rows_of([], 2, [], []))
