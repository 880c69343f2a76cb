"""Windows that count, fed in batches of any size, beside a list that is searched from end to end."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import millstream as ms
from millstream.engine.windows.window_operators import CountOperator
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.elements import Elements as Batch
from millstream.kernels.matching.patterns import Patterns
from millstream.kernels.windows.window_changes import ContentChanges
from millstream.windows.kinds import Elements, Triples
from tests.kernels.programs import program_of

Change = tuple[int, int, tuple[int, ...]]
"""Element, op, and pattern with triple."""


def two_patterns() -> Patterns:
    """All triples match the first, those with an even subject the second too."""
    everything = (-1, -1, -1)
    return Patterns([(0, everything, []), (1, everything, [])], [(1, 0, program_of(1, lambda ids: ids[0] % 2 == 0))])


class Fed:
    """A window that counts, and what has become of its content."""

    def __init__(self, window: Triples | Elements) -> None:
        self.operator = CountOperator(window.count, window.counts_triples, two_patterns(), Dictionary())
        self._changes = ContentChanges()

    def take(self, batch: Batch) -> list[Change]:
        self._changes.windows = {batch.stream: [self.operator]}
        self._changes.take(batch, batch.last_tick)
        rows = self._changes.number()
        if rows is None:
            return []
        columns = (rows.now, rows.op, rows.pattern, rows.triples)
        found = zip(*(column.tolist() for column in columns), strict=True)
        return [(now >> 2, op, (pattern, *triple)) for now, op, pattern, triple in found]


def batch_of(elements: list[list[int]], first: int, triples_before: int) -> Batch:
    sizes = np.array([len(e) for e in elements], np.int64)
    subjects = np.array([s for e in elements for s in e], np.int64)
    triples = np.column_stack([subjects, subjects * 0, subjects * 0]) + INLINED
    return Batch(
        "s",
        np.arange(first, first + len(elements)),
        triples,
        np.repeat(np.arange(len(elements)), sizes),
        triples_before + 1 + np.arange(len(subjects)),
        triples_before + np.cumsum(sizes),
        triples_before,
        first + 1,
    )


# Ids that no dictionary has to know: whole numbers are in the id itself.
INLINED = Dictionary().encode_one(b'"0"^^<http://www.w3.org/2001/XMLSchema#integer>')


def searched(window: Triples | Elements, elements: list[list[int]]) -> list[Change]:
    """What enters and leaves at each element, by looking at all rows each time."""
    changes: list[Change] = []
    live: list[tuple[int, tuple[int, ...]]] = []
    total = 0
    for place, element in enumerate(elements):
        for s in element:
            total += 1
            number = total if isinstance(window, Triples) else place + 1
            for pattern in (0, 1) if s % 2 == 0 else (0,):
                key = (pattern, s + INLINED, INLINED, INLINED)
                live = [(n, k) for n, k in live if k != key] + [(number, key)]
                changes.append((place, 1, key))
        reached = total if isinstance(window, Triples) else place + 1
        changes.extend((place, -1, key) for n, key in live if n + window.count <= reached)
        live = [(n, key) for n, key in live if n + window.count > reached]
    return sorted(changes)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([Triples, Elements]),
    st.integers(1, 12),
    st.lists(st.lists(st.integers(0, 9), max_size=4, unique=True), min_size=1, max_size=60),
    st.data(),
)
def test_rows_leave_when_enough_has_followed_unless_they_came_again(
    kind: type[Triples | Elements], count: int, elements: list[list[int]], data: st.DataObject
) -> None:
    elements = [[2 * s if s < 5 else s for s in element] for element in elements]
    elements = [list(dict.fromkeys(element)) for element in elements]
    window = kind(count)
    fed = Fed(window)
    found: list[Change] = []
    at = triples = 0
    while at < len(elements):
        size = data.draw(st.integers(1, len(elements) - at), label="elements of the batch")
        some = elements[at : at + size]
        found.extend(fed.take(batch_of(some, at, triples)))
        at += size
        triples += sum(map(len, some))
        if data.draw(st.booleans(), label="restored"):
            state = fed.operator.dump()
            fed = Fed(window)
            fed.operator.load(state)
    assert sorted(found) == searched(window, elements)


@pytest.mark.parametrize("kind", [Triples, Elements])
def test_what_comes_again_and_again_is_kept_once(kind: type[Triples | Elements]) -> None:
    fed = Fed(kind(1_000_000))
    for i in range(20):
        fed.take(batch_of([[k % 3] for k in range(500)], 500 * i, 500 * i))
    assert len(fed.operator.dump()) == 5
    assert fed.operator.queued < 2000


_NODES = st.sampled_from([f"<http://e/{n}>" for n in range(4)])
_TRIPLE = st.tuples(_NODES, st.sampled_from([f"<http://e/{p}>" for p in "pqx"]), _NODES)
_WINDOWS = st.sampled_from(["TRIPLES 1", "TRIPLES 3", "TRIPLES 7", "ELEMENTS 1", "ELEMENTS 3", "RANGE 3"])


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(st.lists(_TRIPLE, max_size=3), st.integers(0, 2)), max_size=30),
    st.tuples(_WINDOWS, _WINDOWS),
    st.sampled_from(["istream", "dstream", "changes"]),
)
def test_elements_pushed_one_by_one_are_those_of_a_table(elements, windows, output):
    patterns = (f"STREAM <http://e/s> [{windows[0]}] {{ ?a <http://e/p> ?b }}", f"[{windows[1]}] {{ ?b <http://e/q> ?c }}")
    query = f"SELECT * {{ {patterns[0]} STREAM <http://e/s> {patterns[1]} }}"
    one_by_one, at_once = ms.Engine(), ms.Engine()
    answers = [engine.register(query, output=output) for engine in (one_by_one, at_once)]
    rows, at_ms = [], 0
    for number, (triples, later) in enumerate(elements):
        at_ms += later
        one_by_one.push("http://e/s", "".join(f"{s} {p} {o} .\n" for s, p, o in triples), at_ms=at_ms)
        rows += [(*triple, at_ms, number) for triple in triples]
    # An element without triples cannot stand in a table.
    assume(all(triples for triples, _ in elements))
    columns = list(zip(*rows, strict=True)) or [()] * 5
    types = [pa.string()] * 3 + [pa.int64()] * 2
    arrays = [pa.array(column, type) for column, type in zip(columns, types, strict=True)]
    at_once.push_table("http://e/s", pa.table(arrays, names=["s", "p", "o", "at_ms", "element"]))
    for engine in (one_by_one, at_once):
        engine.finish()
    found = [sorted(map(str, query.take_table().to_pylist())) for query in answers]
    assert found[0] == found[1]
    stored = [engine.stats["stored"] for engine in (one_by_one, at_once)]
    assert stored[0] == stored[1]
