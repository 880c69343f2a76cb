"""Multisets of terms in order, against sorted lists."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.order.ordered_terms import OrderedTerms
from millstream.operators.ordering import Ordering

XSD = "http://www.w3.org/2001/XMLSchema#"
DICTIONARY = Dictionary()
ORDER = Ordering(DICTIONARY).kernel


def number(lexical, datatype):
    return DICTIONARY.encode_one(f'"{lexical}"^^<{XSD}{datatype}>')


LEXICALS = ["0", "1", "-1", "9", "10", "007", "288230376151711743", "288230376151711742", "-288230376151711743"]
FRACTIONS = [
    "0.0",
    "1",
    "1.0",
    "1.00",
    "-0.5",
    "-0.50",
    "0.000000000000000001",
    "9007199254740.991",
    "0.9007199254740991",
    "9",
]
FRACTIONS += ["0.900719925474099", "90.0"]
NAMES = {DICTIONARY.encode_one(f"<http://x/{name}>"): name for name in ("a", "b", "c")}
NUMBERS = {number(x, "integer"): (x, "integer") for x in LEXICALS} | {
    number(x, "decimal"): (x, "decimal") for x in FRACTIONS
}


def by_value(term_id):
    if term_id in NAMES:
        return (0, NAMES[term_id])
    lexical, datatype = NUMBERS[term_id]
    return (1, Decimal(lexical), lexical, datatype)


def by_term(term_id):
    if term_id in NAMES:
        return (0, NAMES[term_id])
    lexical, datatype = NUMBERS[term_id]
    return (1, float(lexical), lexical, datatype)


KEYS = {True: by_value, False: by_term}
IDS = [*NUMBERS, *NAMES]


@pytest.mark.parametrize("exactly", [True, False])
@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(IDS), st.integers(-3, 3)), max_size=80))
def test_every_place_is_that_of_a_sorted_list(exactly, history):
    ordered, lists = OrderedTerms(ORDER, exactly), [[], [], []]
    for tree, term_id, weight in history:
        held = lists[tree]
        if weight < 0:
            weight = -min(-weight, held.count(term_id))
        for _ in range(-weight):
            held.remove(term_id)
        held.extend([term_id] * weight)
        ordered.add(tree, term_id, weight)
        held.sort(key=KEYS[exactly])
        assert ordered.length(tree) == len(held)
        assert [ordered.at(tree, place) for place in range(-1, len(held) + 1)] == [-1, *held, -1]
    for tree, held in enumerate(lists):
        ids, counts = ordered.items(tree)
        assert np.repeat(ids, counts).tolist() == held


@pytest.mark.parametrize("exactly", [True, False])
def test_any_two_numbers_are_ordered_as_their_keys_are(exactly):
    for left in NUMBERS:
        for right in NUMBERS:
            ordered = OrderedTerms(ORDER, exactly)
            ordered.add(0, left, 1)
            ordered.add(0, right, 1)
            assert [ordered.at(0, 0), ordered.at(0, 1)] == sorted([left, right], key=KEYS[exactly])


def test_a_tree_stays_shallow_whatever_the_order_of_arrival():
    ordered = OrderedTerms(ORDER, True)
    ids = np.array([number(n, "integer") for n in range(20000)])
    for term_id in ids.tolist():
        ordered.add(0, term_id, 1)
    assert ordered.at(0, 12345) == ids[12345]
    for term_id in ids[::-1].tolist():
        ordered.add(0, term_id, -1)
    assert ordered.length(0) == 0
    assert ordered.stats["terms"] == 0


def test_taking_away_what_is_not_there_is_refused():
    ordered = OrderedTerms(ORDER, True)
    ordered.add(0, IDS[0], 1)
    for term_id, weight in ((IDS[1], -1), (IDS[0], -2)):
        with pytest.raises(ValueError, match="left than had entered"):
            ordered.add(0, term_id, weight)
    assert ordered.length(0) == 1


def test_what_is_not_a_multiset_or_a_number_is_refused():
    ordered = OrderedTerms(ORDER, True)
    for tree, term_id in ((-1, IDS[0]), (1 << 40, IDS[0]), (0, (6 << 59) | (31 << 54))):
        with pytest.raises(ValueError):
            ordered.add(tree, term_id, 1)
    assert ordered.at(5, 0) == -1
    assert ordered.length(-5) == 0


def test_a_term_that_cannot_be_compared_leaves_the_multiset_as_it_was():
    ordered, forgotten = OrderedTerms(ORDER, True), 77
    ordered.add(0, IDS[0], 1)
    with pytest.raises(LookupError):
        ordered.add(0, forgotten, 1)
    assert ordered.items(0)[0].tolist() == [IDS[0]]
