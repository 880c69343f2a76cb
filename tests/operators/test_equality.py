"""Keys of terms that `=` may find equal: the kernel has those of the definition, and equal terms never differ in theirs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.operators.equality import equality_key, key_of
from millstream.operators.expressions.values import comparison
from millstream.operators.expressions.values.values import ExpressionError, read_term
from tests.operators.deltas_model import buffers, deltas, listed
from tests.operators.ordered_terms import ALL, typed
from tests.operators.test_group_by import FAMILIES

MOMENTS = [
    typed(f"{year}-{month}-01T05:00:{second}{zone}", "dateTime")
    for year in ("0001", "1969", "1970", "2020", "9999")
    for month in ("01", "06")
    for second in ("00", "00.5", "00.120", "59.999", "00.001", "00.0001")
    for zone in ("", "Z", "+05:00", "-13:45", "+00:07")
]
TERMS = list(dict.fromkeys([*ALL, *MOMENTS, *(text for family in FAMILIES.values() for text in family if text)]))


def keys_of(texts: list[str]) -> list[str | None]:
    """As the operator has them."""
    dictionary = Dictionary()
    operator = equality_key(buffers(2), 3, 1, dictionary, TermReferences(dictionary))
    ids = dictionary.encode(texts).tolist()
    found = listed(operator.run(deltas(2, [((0, n), {(7, i): 2}) for n, i in enumerate(ids)])))
    assert [(row[:2], *more) for row, *more in found] == [((7, i), 0, n, 2) for n, i in enumerate(ids)]
    return [None if row[2] < 0 else dictionary.decode_one(row[2]) for row, *_ in found]


def defined(text: str) -> str | None:
    value = read_term(text)
    if not value.is_literal or value.language or text.endswith('"'):
        return text
    key = key_of(value)
    return None if key is None else key.text()


def test_keys_are_those_of_the_definition() -> None:
    for text, key in zip(TERMS, keys_of(TERMS), strict=True):
        assert key == defined(text), text


integers = st.integers(-(10**20), 10**20).map(lambda n: typed(str(n), "integer"))
decimals = st.decimals(allow_nan=False, allow_infinity=False, places=6).map(lambda n: typed(f"{n:f}", "decimal"))
doubles = st.floats().map(lambda n: typed(repr(n).replace("inf", "INF").replace("nan", "NaN"), "double"))
moments = st.datetimes().map(lambda at: typed(at.isoformat(), "dateTime"))


@settings(deadline=None, max_examples=300)
@given(st.lists(st.one_of(integers, decimals, doubles, moments), min_size=1))
def test_keys_of_any_numbers_and_moments_are_those_of_the_definition(texts: list[str]) -> None:
    assert keys_of(texts) == [defined(text) for text in texts]


def test_equal_terms_share_a_key_or_have_none() -> None:
    keys = dict(zip(TERMS, keys_of(TERMS), strict=True))
    for one, other in itertools.combinations(TERMS, 2):
        try:
            is_equal = comparison.compare("=", read_term(one), read_term(other))
        except ExpressionError:
            continue
        if is_equal:
            assert None in (keys[one], keys[other]) or keys[one] == keys[other], (one, other)


def test_keys_are_kept_while_a_row_has_them() -> None:
    dictionary = Dictionary()
    operator = equality_key(buffers(1), 2, 0, dictionary, TermReferences(dictionary))
    one, also, moment = dictionary.encode([typed("1", "integer"), typed("1.0", "decimal"), MOMENTS[0]]).tolist()

    def held() -> int:
        return int(np.count_nonzero(dictionary.dump()[3]))

    operator.run(deltas(1, [((0, 0), {(one,): 1, (also,): 1, (moment,): 1, (-1,): 1})]))
    assert held() == 2
    operator.run(deltas(1, [((1, 1), {(one,): -1, (moment,): -1})]))
    assert held() == 1
    operator.close(2)
    assert held() == 0


@pytest.mark.parametrize(("place", "width"), [(-1, 2), (1, 2), (0, 3)])
def test_columns_that_are_not_there_are_refused(place: int, width: int) -> None:
    dictionary = Dictionary()
    with pytest.raises(ValueError, match="column"):
        equality_key(buffers(1), width, place, dictionary, TermReferences(dictionary))
