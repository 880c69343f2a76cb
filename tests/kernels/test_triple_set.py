"""A set of triples beside Python's own."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.windows.triple_set import TripleSet

TERMS = [f"<http://e/{n}>".encode() for n in range(4)]
_PLACE = st.integers(0, 3)
_CHANGES = st.lists(st.tuples(st.booleans(), st.lists(st.tuples(_PLACE, _PLACE, _PLACE), max_size=6)), max_size=20)


@given(_CHANGES)
def test_what_really_changes_is_told_once(changes):
    dictionary = Dictionary()
    ids = np.array([dictionary.encode_one(term) for term in TERMS], np.int64)
    graph, model = TripleSet(dictionary), set()
    for insert, triples in changes:
        rows = ids[np.array(triples, np.intp).reshape(-1, 3)]
        found = graph.insert(rows) if insert else graph.delete(rows, 0)
        distinct = dict.fromkeys(map(tuple, rows.tolist()))
        assert list(map(tuple, found.tolist())) == [t for t in distinct if (t in model) != insert]
        model = model | distinct.keys() if insert else model - distinct.keys()
        assert {tuple(t) for t in graph.triples().tolist()} == model
        assert graph.size == len(model) == len(graph.triples())


def test_terms_stay_while_a_triple_has_them():
    dictionary = Dictionary()
    ids = np.array([[dictionary.encode_one(term) for term in TERMS[:3]]], np.int64)
    graph = TripleSet(dictionary)
    graph.insert(ids)
    dictionary.forget_before(10)
    dictionary.settle()
    dictionary.sweep(100)
    assert dictionary.stats()["live"] == 3
    graph.delete(ids, 5)
    dictionary.settle()
    dictionary.sweep(100)
    assert dictionary.stats()["live"] == 0
