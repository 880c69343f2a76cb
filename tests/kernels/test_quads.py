"""Rows of a pattern over named graphs, against matching all quads again after every change."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.quads import QuadRows
from tests.operators.deltas_model import consistent, difference, listed

SHAPES: list[tuple[list[bool], list[int], list[int]]] = [
    ([False] * 4, [0, 1, 2, 3], [0, 1, 2, 3]),
    ([False, True, False, False], [0, 1, 2, 3], [3, 0]),
    ([False] * 4, [0, 1, 0, 3], [0, 1]),
    ([False] * 4, [0, 1, 2, 0], [0, 2]),
    ([True, False, False, False], [0, 1, 2, 3], []),
]
"""Which terms are constants, which is the first that is the same, and which are columns."""


class Driven:
    def __init__(self, constant: list[bool], first: list[int], places: list[int]) -> None:
        self.dictionary = Dictionary()
        self.ids = self.dictionary.encode([f"<urn:{name}>" for name in "abc"]).tolist()
        self.dictionary.hold(np.array(self.ids, np.int64))
        self.constants = [self.ids[0] if fixed else -1 for fixed in constant]
        self.first, self.places = first, places
        self.rows = self.made()

    def made(self) -> QuadRows:
        return QuadRows(self.dictionary, self.constants, self.first, self.places)

    def matched(self, quads: set[tuple[int, ...]]) -> Counter[Any]:
        found = [q for q in quads if all(c in (-1, q[i]) and q[i] == q[self.first[i]] for i, c in enumerate(self.constants))]
        return Counter(tuple(q[place] for place in self.places) for q in found)


@settings(deadline=None, max_examples=150)
@given(st.data(), st.sampled_from(SHAPES))
def test_rows_are_those_of_matching_all_quads_again(data: st.DataObject, shape: Any) -> None:
    driven = Driven(*shape)
    names = st.sampled_from(driven.ids)
    quads: set[tuple[int, ...]] = set()
    found, expected = [], []
    for change in range(data.draw(st.integers(1, 12))):
        at, before = (change // 3, change), driven.matched(quads)
        for _ in range(data.draw(st.integers(1, 3))):
            graph, op = data.draw(names), data.draw(st.sampled_from([1, 1, -1]))
            some = data.draw(st.sets(st.tuples(names, names, names), max_size=4))
            triples = {t for t in some if ((*t, graph) in quads) == (op < 0)}
            quads = quads | {(*t, graph) for t in triples} if op > 0 else quads - {(*t, graph) for t in triples}
            driven.rows.feed(graph, np.array(sorted(triples), np.int64).reshape(-1, 3), op, *at)
        expected += difference(at, before, driven.matched(quads))
        if data.draw(st.booleans()):
            drained = driven.rows.drain()
            assert consistent(drained)
            found += listed(drained)
        if data.draw(st.integers(0, 5)) == 0:
            found += listed(driven.rows.drain())
            again = driven.made()
            again.load(*driven.rows.counted())
            driven.rows.close(change)
            driven.rows = again
    assert [*found, *listed(driven.rows.drain())] == expected
    columns, weight = driven.rows.counted()
    assert Counter(dict(zip(map(tuple, columns.tolist()), weight.tolist(), strict=True))) == driven.matched(quads)


def test_names_of_graphs_are_kept_while_a_row_has_them() -> None:
    driven = Driven(*SHAPES[0])
    name = driven.dictionary.encode_one("<urn:graph>")
    a, b, c = driven.ids

    def held() -> int:
        ids, _, _, holds = driven.dictionary.dump()
        return dict(zip(ids.tolist(), holds.tolist(), strict=True)).get(name, 0)

    driven.rows.feed(name, np.array([[a, b, c], [a, a, a]]), 1, 1, 1)
    driven.rows.feed(name, np.array([[a, b, c]]), -1, 2, 2)
    assert held() == 1
    driven.rows.feed(name, np.array([[a, a, a]]), -1, 3, 3)
    assert held() == 0
    driven.rows.feed(name, np.array([[a, a, a]]), 1, 4, 4)
    driven.rows.close(5)
    assert held() == 0


@pytest.mark.parametrize(
    ("constants", "first", "places"),
    [
        ([-1] * 3, [0, 1, 2], [0]),
        ([-1] * 4, [0, 1, 2, 4], [0]),
        ([-1] * 4, [0, 1, 2, 3], [-1]),
        ([-1] * 4, [0, 1, 2, 3], [0] * 5),
    ],
)
def test_what_is_no_quad_is_refused(constants: list[int], first: list[int], places: list[int]) -> None:
    with pytest.raises(ValueError, match="term"):
        QuadRows(Dictionary(), constants, first, places)


def test_what_is_no_triple_is_refused() -> None:
    driven = Driven(*SHAPES[0])
    with pytest.raises(ValueError, match="triples"):
        driven.rows.feed(0, np.zeros((1, 2), np.int64), 1, 0, 0)
    with pytest.raises(ValueError, match="columns"):
        driven.rows.load(np.zeros((1, 2), np.int64), np.ones(1, np.int64))
