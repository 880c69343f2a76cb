"""Columns as plain values that outlive a dictionary: for checkpoints, and logs of what was taken."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from millstream.ingest.columns import Columns
from millstream.kernels.dictionary.dictionary import Dictionary

_NUMBERS = ("element", "at_ms", "sizes", "sign")


def plain(columns: Columns, dictionary: Dictionary) -> dict[str, Any]:
    """Columns with their terms written out."""
    found: dict[str, Any] = {"elements": columns.elements, "first": columns.first}
    found |= {name: getattr(columns, name).tolist() for name in _NUMBERS if getattr(columns, name) is not None}
    found["terms"] = dictionary.texts(columns.triples.ravel())
    if columns.graph is not None:
        found["graph"] = dictionary.texts(columns.graph)
    if columns.rate is not None:
        found["rate"] = str(columns.rate)
    return found


def columns_of(state: dict[str, Any], dictionary: Dictionary) -> Columns:
    """What `plain` was given; nobody holds its terms yet."""
    import pyarrow as pa

    numbers = {name: np.array(state[name], np.int64) for name in _NUMBERS if name in state}
    return Columns(
        dictionary.encode_column(pa.array(state["terms"], pa.string())).reshape(-1, 3),
        numbers["element"],
        state["elements"],
        numbers.get("at_ms"),
        numbers.get("sizes"),
        dictionary.encode_column(pa.array(state["graph"], pa.string())) if "graph" in state else None,
        numbers.get("sign"),
        Fraction(state["rate"]) if "rate" in state else None,
        state["first"],
    )
