"""The order of terms: the kernel against the definition by value, that against `<` and against pyoxigraph's ORDER BY."""

import itertools
import random

import numpy as np
import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.operators.expressions.values import comparison
from millstream.operators.expressions.values.values import ExpressionError, read_term
from millstream.operators.ordering import Ordering, order_key, packed, term_key
from tests import reference
from tests.operators.ordered_terms import ALL, BOOLEANS, MOMENTS, NAMES, NUMBERS, TEXTS, maybe_terms, typed

VALUES = [None, *(read_term(text) for text in ALL)]


def sign(x, y):
    return (x > y) - (x < y)


def all_pairs(terms):
    dictionary = Dictionary()
    ids = [-1 if t is None else dictionary.encode_one(t) for t in terms]
    pairs = np.array(list(itertools.product(ids, ids)), np.int64)
    return dictionary, pairs[:, 0], pairs[:, 1]


def test_the_kernel_orders_solutions_as_values_do():
    dictionary, left, right = all_pairs([None, *ALL])
    keys = [order_key(v) for v in VALUES]
    expected = [sign(x, y) for x, y in itertools.product(keys, keys)]
    assert Ordering(dictionary).kernel.compared(left, right, terms=False).tolist() == expected


def test_the_kernel_orders_terms_as_values_do():
    dictionary, left, right = all_pairs([None, *ALL])
    keys = [term_key(v) for v in VALUES]
    expected = [sign(x, y) for x, y in itertools.product(keys, keys)]
    assert Ordering(dictionary).kernel.compared(left, right, terms=True).tolist() == expected


def test_the_kernel_packs_keys_as_values_do():
    dictionary = Dictionary()
    ids, kernel = dictionary.encode(ALL), Ordering(dictionary).kernel
    assert kernel.order_keys(ids).tolist() == [packed(order_key(v)) for v in VALUES[1:]]
    assert kernel.term_keys(ids).tolist() == [packed(term_key(v)) for v in VALUES[1:]]


def near(chance):
    """Numbers around powers of two and midpoints between doubles, with few or many digits, some of them not in ids."""
    scale = chance.choice((0, 0, 1, 3, 15, 17, 18, 19, 25))
    power = chance.choice((1, 10, 50, 51, 52, 53, 54, 57, 58, 64, 90))
    number = chance.choice((1, -1)) * ((1 << power) + chance.randint(-3, 3))
    digits = f"{abs(number):0{scale + 1}d}"
    whole, fraction = digits[: len(digits) - scale], digits[len(digits) - scale :]
    minus = "-" if number < 0 else chance.choice(("", "", "+", "0"))
    text = minus + (f"{whole}.{fraction}" if scale else whole)
    return typed(text, "decimal" if scale else chance.choice(("integer", "decimal")))


@pytest.mark.parametrize("seed", range(20))
def test_numbers_that_are_near_each_other_are_ordered_as_values_are(seed):
    chance = random.Random(seed)
    texts = list({near(chance) for _ in range(100)})
    dictionary, left, right = all_pairs(texts)
    kernel, values = Ordering(dictionary).kernel, [read_term(text) for text in texts]
    ids = dictionary.encode(texts)
    for key, terms, keys in ((order_key, False, kernel.order_keys(ids)), (term_key, True, kernel.term_keys(ids))):
        expected = [sign(key(x), key(y)) for x, y in itertools.product(values, values)]
        assert kernel.compared(left, right, terms=terms).tolist() == expected
        assert keys.tolist() == [packed(key(v)) for v in values]


@pytest.mark.parametrize("key", [order_key, term_key])
def test_packed_keys_never_contradict_an_order(key):
    ordered = [packed(k) for k in sorted(key(v) for v in VALUES)]
    assert ordered == sorted(ordered)


def test_no_two_terms_tie_in_term_order():
    keys = [term_key(v) for v in VALUES]
    assert len(set(keys)) == len(keys)


def test_less_in_a_filter_is_before_in_the_solution_order():
    for x, y in itertools.product(VALUES[1:], VALUES[1:]):
        try:
            found = comparison.order(x, y)
        except ExpressionError:
            continue
        # Numbers of single precision are not ordered transitively beside others.
        if found == -1 and "#float" not in x.datatype + y.datatype:
            assert order_key(x) < order_key(y), (x, y)


def test_equal_values_tie():
    for texts in (
        [typed("1", "integer"), typed("1.0", "decimal"), typed("1e0", "double"), typed("1", "float"), typed("01", "byte")],
        [typed("0.1", "decimal"), typed("0.1", "double"), typed("0.10", "decimal")],
        [typed("true", "boolean"), typed("1", "boolean")],
        [typed("2020-01-01T00:00:00Z", "dateTime"), typed("2020-01-01T01:00:00+01:00", "dateTime")],
        [typed("P1Y", "duration"), typed("P12M", "duration")],
    ):
        assert len({order_key(read_term(text)) for text in texts}) == 1


def test_the_term_order_is_the_references():
    def parsed(text):
        return None if text is None else next(iter(ox.parse(f"<a:s> <a:p> {text} .", format=ox.RdfFormat.N_TRIPLES))).object

    # The outside engine has no integers beyond 64 bits, no years or numbers spelled so, and NaN nowhere in particular.
    strange = ("NaN", "000000000000", "9223372036854775808", "-0")
    some = [None, *(t for t in ALL if not any(s in t for s in strange) and not t.startswith("_"))]
    expected = sorted(some, key=lambda text: reference.term_key(parsed(text)))
    assert sorted(some, key=lambda text: term_key(None if text is None else read_term(text))) == expected


def ordered_outside(terms):
    rows = "".join(f"({'UNDEF' if t is None else t} {i}) " for i, t in enumerate(terms))
    found = ox.Store().query(f"SELECT ?x ?i {{ VALUES (?x ?i) {{ {rows} }} }} ORDER BY ?x ?i")
    return [int(solution["i"].value) for solution in found]


def plain_numbers():
    strange = ("NaN", "000000000000", "9223372036854775808", "9007199254740993", "0.10000000000000000001", "#float")
    return [t for t in NUMBERS if not any(s in t for s in strange)]


zoned = [t for t in MOMENTS if "Z" in t or "+01" in t]
strings = [t for t in TEXTS if "XMLSchema" not in t]


@settings(deadline=None, max_examples=40)
@pytest.mark.parametrize("space", [plain_numbers(), strings, zoned, BOOLEANS, [n for n in NAMES if n[0] == "<"]])
@given(seed=st.integers(0, 1 << 30))
def test_an_outside_engine_orders_one_space_alike(space, seed):
    terms = [None, *space]
    random.Random(seed).shuffle(terms)
    keys = [order_key(None if t is None else read_term(t)) for t in terms]
    assert ordered_outside(terms) == sorted(range(len(terms)), key=lambda i: (keys[i], i))


@given(st.lists(maybe_terms, min_size=1, max_size=20))
def test_the_order_does_not_depend_on_ids(texts):
    orders = []
    for attempt in (texts, texts[::-1]):
        dictionary = Dictionary()
        ids = {t: -1 if t is None else dictionary.encode_one(t) for t in attempt}
        kernel = Ordering(dictionary).kernel
        column = np.array([ids[t] for t in texts], np.int64)
        orders.append([kernel.compared(column, np.roll(column, 1), terms=t).tolist() for t in (False, True)])
    assert orders[0] == orders[1]
