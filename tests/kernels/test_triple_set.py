"""A set of triples beside Python's own."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.intake import Intake
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
        for asked in ([0], [1, 0, 1], [2, 3]):
            found = [tuple(t) for t in graph.triples_of(ids[asked].tolist()).tolist()]
            assert sorted(found) == sorted(t for t in model if t[1] in ids[asked])
            # One predicate after the other.
            assert list(dict.fromkeys(p for _, p, _ in found)) == [
                p for p in dict.fromkeys(ids[asked].tolist()) if any(t[1] == p for t in model)
            ]


@given(st.integers(0, 2**32), st.integers(0, 3), st.booleans())
def test_signed_changes_in_bulk_are_those_one_by_one(seed, few, as_intake):
    """Longer than what is looked at together, so that a triple comes and goes within that and across it."""
    rng = np.random.default_rng(seed)
    dictionary = Dictionary()
    ids = np.array([dictionary.encode_one(f"<http://e/{n}>".encode()) for n in range(2 + 8 * few)], np.int64)
    graph, model = TripleSet(dictionary), set()
    for _ in range(4):
        size = int(rng.integers(0, 150))
        rows, op = ids[rng.integers(0, len(ids), (size, 3))], rng.choice([-1, 1], size)
        if as_intake:
            op[:] = rng.choice([-1, 1])
            found = graph.changed(Intake(rows), int(op[0]) if size else 1, 0).triples.tolist()
        else:
            found = rows[graph.change_where(rows, op, np.zeros(size, np.int64))].tolist()
        expected = []
        for row, sign in zip(rows.tolist(), op.tolist(), strict=True):
            if (tuple(row) in model) != (sign > 0):
                expected.append(row)
                (model.add if sign > 0 else model.remove)(tuple(row))
        assert found == expected
        assert {tuple(t) for t in graph.triples().tolist()} == model


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


def test_the_triples_of_a_predicate_are_found_among_many():
    dictionary = Dictionary()
    ids = np.array([dictionary.encode_one(f"<http://e/{n}>".encode()) for n in range(3_000)], np.int64)
    graph, model = TripleSet(dictionary), {}
    rng = np.random.default_rng(5)
    for _ in range(6):
        rows = ids[np.column_stack([rng.integers(0, 3_000, 4_000), rng.integers(0, 50, 4_000), rng.integers(0, 9, 4_000)])]
        graph.insert(rows)
        model |= dict.fromkeys(map(tuple, rows.tolist()))
        gone = [t for t in model if rng.random() < 0.4 or t[1] == ids[7]]
        graph.delete(np.array(gone, np.int64), 0)
        model = {t: None for t in model if t not in set(gone)}
        for predicate in ids[[0, 7, 49]].tolist():
            found = map(tuple, graph.triples_of([predicate]).tolist())
            assert sorted(found) == sorted(t for t in model if t[1] == predicate)
    assert sorted(map(tuple, graph.triples().tolist())) == sorted(model)
