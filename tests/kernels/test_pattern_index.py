"""The scan against a double loop over triples and patterns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.kernels.matching.pattern_index import PatternIndex
from millstream.kernels.matching.patterns import Patterns
from tests.kernels.programs import program_of

ids = st.integers(0, 4)
patterns = st.tuples(ids, st.sampled_from(["so", "s", "o", "same"]), ids)


def pattern_row(predicate, shape, constant):
    return (constant if shape == "o" else -1, predicate, constant if shape == "s" else -1)


def matched(shape, constant, s, o):
    """What a pattern's variables are bound to, None where it does not match."""
    match shape:
        case "so":
            return s, o
        case "s":
            return (s, -1) if o == constant else None
        case "o":
            return (o, -1) if s == constant else None
        case _:
            return (s, -1) if s == o else None


@given(st.lists(patterns, max_size=12), st.lists(st.tuples(ids, ids, ids), max_size=30))
def test_rows_are_those_of_a_double_loop(chosen, triples):
    index = PatternIndex([pattern_row(*p) for p in chosen], [shape == "same" for _, shape, _ in chosen])
    expected = [
        (i, view, *found)
        for i, (s, p, o) in enumerate(triples)
        for view, (predicate, shape, constant) in enumerate(chosen)
        if p == predicate and (found := matched(shape, constant, s, o)) is not None
    ]
    table = np.array(triples, np.int64).reshape(-1, 3)
    for _ in range(2):
        columns = index.match(*(np.ascontiguousarray(table[:, c]) for c in range(3)))
        assert list(zip(*(c.tolist() for c in columns), strict=True)) == expected


@pytest.mark.parametrize("pattern", [(1, 2, 3), (-1, -1, 3), (-2, 1, -1)])
def test_patterns_without_predicate_or_variable_are_refused(pattern):
    with pytest.raises(ValueError):
        PatternIndex([pattern])


def test_columns_of_different_length_are_refused():
    one, two = np.zeros(1, np.int64), np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="length"):
        PatternIndex([(-1, 0, -1)]).match(one, two, one)


places = st.tuples(*[st.one_of(st.just(-1), ids)] * 3)
equal_places = st.sampled_from([[], [(0, 1)], [(0, 2)], [(1, 2)], [(0, 1), (0, 2)]])


@given(
    st.lists(st.tuples(places, equal_places), max_size=10),
    st.lists(st.tuples(ids, ids, ids), max_size=30),
    st.dictionaries(st.integers(0, 9), st.integers(0, 2), max_size=3),
)
def test_patterns_of_any_kind_are_those_of_a_double_loop(chosen, triples, tested):
    tests = [(number, place, program_of(1, lambda ids: ids[0] % 2 == 0)) for number, place in tested.items()]
    patterns = Patterns([(number, *pattern) for number, pattern in enumerate(chosen)], tests)
    expected = [
        (i, number)
        for i, triple in enumerate(triples)
        for number, (constants, equal) in enumerate(chosen)
        if all(c in (-1, x) for c, x in zip(constants, triple, strict=True))
        and all(triple[a] == triple[b] for a, b in equal)
        and (number not in tested or triple[tested[number]] % 2 == 0)
    ]
    table = np.array(triples, np.int64).reshape(-1, 3)
    for _ in range(2):
        row, pattern = patterns.match(table)
        assert list(zip(row.tolist(), pattern.tolist(), strict=True)) == expected
    assert patterns.numbers.tolist() == list(range(len(chosen)))
