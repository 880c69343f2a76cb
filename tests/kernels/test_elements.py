"""Batches of a stream made from the columns of a source: checked against a loop over its elements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.ingest.columns import Columns
from millstream.kernels.matching.elements import Elements

relaxed = settings(deadline=None)  # other work on the machine must not fail a test


@relaxed
@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.booleans(), st.booleans(), st.data())
def test_a_part_has_the_elements_between_two_places(
    sizes: list[int], single: bool, sparse: bool, data: st.DataObject
) -> None:
    sizes = [min(size, 1) if single else size for size in sizes]
    element = np.repeat(np.arange(len(sizes)), sizes)
    triples = np.arange(3 * len(element)).reshape(-1, 3)
    at_ms = np.cumsum(data.draw(st.lists(st.integers(0, 5), min_size=len(sizes), max_size=len(sizes))))
    first = data.draw(st.integers(0, len(sizes) - 1))
    last = data.draw(st.integers(first + 1, len(sizes)))
    columns = Columns(triples, element, len(sizes), at_ms, None if single else np.array(sizes))
    batch = Elements.part("s:s", columns, first, last, 7, 3, sparse)
    shown = [place for place in range(first, last) if not (single and sparse) or sizes[place] or place in (first, last - 1)]
    assert batch.times.tolist() == at_ms[shown].tolist()
    assert batch.triples.tolist() == [row for row, at in zip(triples.tolist(), element, strict=True) if first <= at < last]
    assert batch.places.tolist() == [shown.index(at) for at in element if first <= at < last]
    counts = [1] * len(sizes) if single else sizes
    assert batch.total_triples.tolist() == [7 + sum(counts[first : place + 1]) for place in shown]
    assert (batch.triples_before, batch.first_element, batch.rows) == (7, 3, sum(sizes[first:last]))


@pytest.mark.parametrize("element", [[1, 0], [0, 0, 0]])
def test_columns_that_do_not_fit_together_are_refused(element: list[int]) -> None:
    columns = Columns(np.zeros((2, 3), np.int64), np.array(element), 2, np.zeros(2, np.int64))
    with pytest.raises(ValueError, match=r"elements are not in order|columns differ in length"):
        Elements.part("s:s", columns, 0, 2, 0, 1)
