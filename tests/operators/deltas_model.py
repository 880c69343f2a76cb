"""Deltas as plain data: a change is {row: weight}, a multiset a counter, and a model recomputes after every change."""

from collections import Counter
from itertools import pairwise

import numpy as np

from millstream.operators.ticks import Deltas

UNBOUND = -1


def deltas(width, changes):
    """Deltas of [((tick, change), {row: weight})]."""
    rows = [(row, *at, weight) for at, members in changes for row, weight in members.items()]
    columns = np.array([row[0] for row in rows], np.int64).reshape(len(rows), width)
    return Deltas(columns, *(np.array([row[i] for row in rows], np.int64) for i in (1, 2, 3)))


def buffers(*widths):
    """Empty inputs for an operator."""
    return [Deltas(width=width) for width in widths]


def begun(operator, at_tick, change):
    """What an operator gives before its inputs hold anything."""
    operator.begin(at_tick, change)
    return operator.out.copy()


def listed(given):
    """Rows of deltas as (row, tick, change, weight)."""
    return [
        (tuple(row), *more)
        for row, *more in zip(
            given.columns.tolist(), given.tick.tolist(), given.change.tolist(), given.weight.tolist(), strict=True
        )
    ]


def consistent(given):
    """Whether deltas keep the contract: in order, every change consolidated."""
    rows = listed(given)
    ordered = all(a[1:3] <= b[1:3] for a, b in pairwise(rows))
    return ordered and len({row[:3] for row in rows}) == len(rows) and all(row[3] for row in rows)


def difference(at, before, after):
    """What turns one multiset into another, ordered by row as operators write it."""
    changed = {row: after[row] - before[row] for row in before.keys() | after.keys()}
    return [(row, *at, weight) for row, weight in sorted(changed.items()) if weight]


def recomputed(inputs, model):
    """The deltas of model(*multisets), recomputed after every change of any input."""
    held = [Counter() for _ in inputs]
    before, out = model(*held), []
    for at in sorted({at for changes in inputs for at, _ in changes}):
        for multiset, changes in zip(held, inputs, strict=True):
            for when, members in changes:
                if when == at:
                    for row, weight in members.items():
                        multiset[row] += weight
        after = model(*(Counter({row: n for row, n in multiset.items() if n}) for multiset in held))
        out += difference(at, before, after)
        before = after
    return out


def applied(operator, widths, inputs, cuts):
    """What an operator gives for its inputs, cut between changes at these places."""
    times = sorted({at for changes in inputs for at, _ in changes})
    out, first = [], 0
    for last in [*sorted(cuts), len(times)]:
        part = set(times[first:last])
        given = operator.run(
            *(
                deltas(width, [change for change in changes if change[0] in part])
                for width, changes in zip(widths, inputs, strict=True)
            )
        )
        assert consistent(given)
        out += listed(given)
        first = max(first, last)
    return out
