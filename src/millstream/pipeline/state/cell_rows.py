"""The rows of a cell, before they are handed to the query: columns by name."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.pipeline.exchange.blobs import TERMS
from millstream.pipeline.job.specification import JobSpec

Ids = npt.NDArray[np.int64]
Rows: TypeAlias = dict[str, Ids]
COLUMNS = ("at_ms", "source", "part", "element", "row", "pattern", "op", "graph", *TERMS)

_ORDER = ("at_ms", "source", "part", "element", "pattern", "row")


def no_rows() -> Rows:
    return {name: np.empty(0, np.int64) for name in COLUMNS}


def picked(rows: Rows, which: npt.NDArray[Any]) -> Rows:
    return {name: column[which] for name, column in rows.items()}


def joined(parts: list[Rows]) -> Rows:
    parts = [part for part in parts if len(part["at_ms"])] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS}


def ids(rows: Rows) -> Ids:
    return np.column_stack([rows[name] for name in TERMS])


def in_order(rows: Rows) -> Rows:
    """By time, source, part, element, pattern; rows that are in order already, as those of one file are, stay."""
    keys = [rows[name] for name in _ORDER]
    # Only where all keys so far are equal does the next one count.
    tied = np.arange(len(keys[0]) - 1) if len(keys[0]) else np.empty(0, np.int64)
    for key in keys:
        step = np.diff(key) if key is keys[0] else key[tied + 1] - key[tied]
        if len(step) and step.min() < 0:
            return picked(rows, np.lexsort(keys[::-1]))
        tied = tied[step == 0]
        if not len(tied):
            break
    return rows


def begins_of(rows: Rows) -> npt.NDArray[np.bool_]:
    """Which rows begin an element."""
    begins = np.ones(len(rows["at_ms"]), np.bool_)
    begins[1:] = False
    for name in ("source", "part", "element"):
        begins[1:] |= rows[name][1:] != rows[name][:-1]
    return begins


class Constants:
    """The constants of patterns, as ids of a cell: they do not travel."""

    def __init__(self, spec: JobSpec, dictionary: Dictionary) -> None:
        self._constants: list[list[tuple[str, int]]] = []
        for pattern in spec.patterns:
            terms = (pattern.triple.subject, pattern.triple.predicate, pattern.triple.object)
            known = [(name, term) for name, term in zip(TERMS, terms, strict=True) if term not in pattern.variables]
            ids = [(name, dictionary.encode_one(str(term))) for name, term in known]
            dictionary.hold(np.array([i for _, i in ids], np.int64))
            self._constants.append(ids)

    def fill(self, rows: Rows) -> None:
        for number, constants in enumerate(self._constants):
            if constants:
                ours = rows["pattern"] == number
                for name, constant in constants:
                    rows[name][ours] = constant
