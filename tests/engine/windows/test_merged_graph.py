"""A default graph put together from windows and a graph, beside all that its parts were told, searched from end to end."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Variable

from millstream.engine.windows.merged_graph import MergedGraph
from millstream.engine.windows.window_operators import TimeOperator
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.elements import Elements
from millstream.kernels.matching.intake import Intake
from millstream.kernels.matching.patterns import Patterns
from millstream.kernels.windows.window_changes import ContentChanges
from millstream.language.algebra import TriplePattern
from millstream.operators.leaves.matching import Matcher
from millstream.operators.ticks import ELEMENT, EXPIRY, FOREVER, tick
from millstream.plan.conjunction import GraphSource, SourcedPattern
from millstream.windows.kinds import Range

RANGES = 3, 5
GRAPH = len(RANGES)
INLINED = Dictionary().encode_one(b'"0"^^<http://www.w3.org/2001/XMLSchema#integer>')
EVERYTHING = SourcedPattern(TriplePattern(Variable("s"), Variable("p"), Variable("o")), GraphSource(None))


class Union:
    """Two windows and a graph as one content, and until when it was told to show each triple."""

    def __init__(self) -> None:
        self.dictionary = Dictionary()
        self.patterns = Patterns([(0, (-1, -1, -1), [])])
        self.merged = MergedGraph(len(RANGES) + 1)
        self.changes = ContentChanges()
        self.operators = [TimeOperator(Range(ms), self.patterns, self.dictionary, 0) for ms in RANGES]
        for part, operator in enumerate(self.operators):
            operator.source = part
        self.changes.windows = {str(part): [operator] for part, operator in enumerate(self.operators)}
        self.changes.unions = {part: (self.merged, part) for part in range(GRAPH + 1)}
        self.until: dict[int, int] = {}

    def element(self, part: int, subjects: list[int], at_ms: int) -> None:
        triples, places = self.triples(subjects), np.zeros(len(subjects), np.int64)
        numbers = np.arange(1, len(subjects) + 1)
        batch = Elements(str(part), np.array([at_ms]), triples, places, numbers, np.array([len(subjects)]), 0, 1)
        self.changes.take(batch, batch.last_tick)

    def edit(self, subjects: list[int], op: int, at_ms: int) -> None:
        self.changes.graph_changed(self.patterns, GRAPH, Intake(self.triples(subjects)), tick(at_ms, ELEMENT), op)

    @staticmethod
    def triples(subjects: list[int]) -> Any:
        return np.array([[s, 0, 0] for s in subjects], np.int64).reshape(-1, 3) + INLINED

    def shown(self, now: int) -> dict[int, int]:
        """Each triple that is seen, by its subject, and until when."""
        rows = self.changes.number()
        if rows is not None:
            told = zip(rows.triples[:, 0] - INLINED, rows.until, rows.op, rows.now, strict=True)
            for subject, until, op, at_tick in told:
                if op < 0:
                    # What ends was there, and was to last as long as is said.
                    assert self.until.pop(subject) == until > at_tick
                else:
                    assert self.until.get(subject, -FOREVER) < until
                    self.until[subject] = until
        return {subject: until for subject, until in self.until.items() if until > now}


_SUBJECTS = st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True)
_STEPS = st.lists(st.tuples(st.integers(0, 3), _SUBJECTS, st.integers(0, 4)), max_size=30)


@pytest.mark.parametrize("restored", [False, True])
@settings(max_examples=300, deadline=None)
@given(_STEPS)
def test_a_triple_is_seen_while_some_part_has_it(restored, steps):
    union = Union()
    ends: dict[int, dict[int, int]] = defaultdict(dict)
    at_ms = 0
    for kind, subjects, later in steps:
        at_ms += later
        now = tick(at_ms, ELEMENT)
        for subject in subjects:
            if kind < GRAPH:
                until = tick(at_ms + RANGES[kind], EXPIRY)
                ends[subject][kind] = max(ends[subject].get(kind, 0), until)
            elif kind == GRAPH:
                ends[subject][GRAPH] = FOREVER
            else:
                ends[subject].pop(GRAPH, None)
        if kind < GRAPH:
            union.element(kind, subjects, at_ms)
        else:
            union.edit(subjects, 1 if kind == GRAPH else -1, at_ms)
        expected = {s: latest for s, parts in ends.items() if (latest := max(parts.values(), default=0)) > now}
        assert union.shown(now) == expected
        if restored:
            again = MergedGraph(len(RANGES) + 1)
            again.load(union.merged.dump(now), Matcher([0], [EVERYTHING], union.dictionary, {}), union.dictionary)
            union.merged = again
            union.changes.unions = {part: (again, part) for part in range(GRAPH + 1)}


def test_rows_that_have_ended_are_forgotten():
    union = Union()
    for at_ms in range(2_000):
        union.element(at_ms % 2, [at_ms], at_ms)
        union.shown(tick(at_ms, ELEMENT))
    assert len(union.merged.held()) < 20


def test_parts_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="belongs to a part that is there"):
        MergedGraph(2).hold(np.zeros(4, np.int64), 2, 5)
    with pytest.raises(ValueError, match="belongs to a part that is there"):
        MergedGraph(2).hold(np.zeros(3, np.int64), 1, 5)
