"""States of keys as changes, in a cell: what each key states of what the cell has, and what that changes.

Every cell is told of every key. A triple that several keys state goes to the same cells each time, so that each of them can
count for itself.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from millstream.ingest.upserts import Row, Upserts
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.operators.ticks import FOREVER
from millstream.pipeline.exchange.blobs import TERMS
from millstream.pipeline.exchange.packing import BEGINS
from millstream.pipeline.job.specification import JobSpec
from millstream.pipeline.state.cell_rows import Rows, begins_of, in_order, joined, picked

Ids = npt.NDArray[np.int64]
_STATED = ("pattern", "graph", *TERMS)


class KeyedRows:
    """What the keys of each source state."""

    def __init__(self, spec: JobSpec, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        # A graph is a term where any may be read.
        terms = 4 if spec.reads_any_graph else 3
        self._upserts = {number: Upserts(terms) for number, source in enumerate(spec.sources) if source.keyed}

    def is_keyed(self, source: int) -> bool:
        """Whether a source has states of keys."""
        return source in self._upserts

    def changes(self, rows: Rows) -> Rows:
        """Rows in order, with changes in place of states: of an element first what leaves, then what comes."""
        ours = np.isin(rows["source"], list(self._upserts))
        if not ours.any():
            return rows
        states = picked(rows, ours)
        stated = list(map(tuple, np.column_stack([states[name] for name in _STATED]).tolist()))
        is_begin = states["op"] == BEGINS
        found: list[Row] = []
        origin: list[int] = []
        signs: list[int] = []
        for low, high in pairwise([*np.flatnonzero(begins_of(states)).tolist(), len(stated)]):
            begin = low + int(np.argmax(is_begin[low:high]))
            new = frozenset(row for place, row in enumerate(stated[low:high], low) if place != begin)
            leave, come = self._replace(int(states["source"][low]), int(states["s"][begin]), new)
            found += leave + come
            origin += [low] * (len(leave) + len(come))
            signs += [-1] * len(leave) + [1] * len(come)
        changed = picked(states, np.array(origin, np.int64))
        changed["op"] = np.array(signs, np.int64)
        # What leaves and what comes are changes of their own.
        changed["element"] = changed["element"] * 2 + (changed["op"] > 0)
        changed["row"] = np.arange(len(found))
        columns = np.array(found, np.int64).reshape(-1, len(_STATED))
        changed |= {name: columns[:, place] for place, name in enumerate(_STATED)}
        return in_order(joined([picked(rows, ~ours), changed]))

    def _replace(self, source: int, key: int, new: frozenset[Row]) -> tuple[list[Row], list[Row]]:
        upserts, name = self._upserts[source], np.array([key], np.int64)
        was_there = key in upserts
        found = upserts.replace(key, new, self._dictionary)
        if new and not was_there:
            self._dictionary.hold(name)
        elif was_there and not new:
            self._dictionary.release(name, -FOREVER)
        return found

    def dump(self) -> list[Any]:
        """For each source the keys and what they state, in ids."""
        return [
            [number, np.array([(key, *row) for key, rows in upserts.items() for row in sorted(rows)], np.int64)]
            for number, upserts in self._upserts.items()
        ]

    def load(self, state: list[Any]) -> None:
        """What `dump` gave."""
        for number, rows in state:
            stated: dict[int, list[Row]] = {}
            for key, *row in rows.reshape(-1, 1 + len(_STATED)).tolist():
                stated.setdefault(key, []).append(tuple(row))
            for key, some in stated.items():
                self._replace(number, key, frozenset(some))
