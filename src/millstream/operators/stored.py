"""Values of a snapshot, checked where they come back: what kernels and operators index with must be what they expect.

Each gives the value as its caller needs it, or raises ValueError; whoever restores makes a SnapshotError of that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from millstream.kernels.containers.tuples import TUPLE
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.operators.ticks import FOREVER, Column

MOST_WEIGHT = 1 << 40
"""More than that is no count of rows, and sums of such still fit."""


def whole(value: Any, least: int = -(1 << 63), most: int = (1 << 63) - 1) -> int:
    """A whole number within bounds."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{value!r} is not a whole number from {least} to {most}")
    return value


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is neither true nor false")
    return value


def text(value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a text")
    return value


def items(value: Any, count: int | None = None) -> list[Any]:
    """A list, of so many if that is known."""
    if not isinstance(value, list) or (count is not None and len(value) != count):
        raise ValueError(f"a list of {'some' if count is None else count} was expected")
    return value


def column(value: Any, length: int | None = None, least: int = -(1 << 63), most: int = (1 << 63) - 1) -> Column:
    """Numbers within bounds, of a length if that is known."""
    found = _numbers(value, 1)
    if length is not None and len(found) != length:
        raise ValueError(f"a column has {len(found)} rows where others have {length}")
    if len(found) and (found.min() < least or found.max() > most):
        raise ValueError(f"a column has numbers that are not from {least} to {most}")
    return found


def table(value: Any, width: int, length: int | None = None) -> npt.NDArray[np.int64]:
    """Rows of a width."""
    found = _numbers(value, 2)
    if found.shape[1] != width or (length is not None and len(found) != length):
        raise ValueError(f"a table of {found.shape} where {length or 'some'} rows of {width} were expected")
    return found


def triples(value: Any, dictionary: Dictionary, length: int | None = None) -> npt.NDArray[np.int64]:
    """Rows of three ids that name terms."""
    found = table(value, 3, length)
    dictionary.check(found.ravel())
    return found


def rows(value: Any, width: int, dictionary: Dictionary, length: int | None = None) -> npt.NDArray[np.int64]:
    """Rows of ids that name terms, or of -1 where nothing is bound."""
    found = table(value, width, length)
    dictionary.check(found.ravel(), True)
    return found


def counted(value: Any, width: int, dictionary: Dictionary) -> tuple[npt.NDArray[np.int64], Column]:
    """Different rows, and how often each is there."""
    columns, weight = items(value, 2)
    weights = column(weight, least=1, most=MOST_WEIGHT)
    found = rows(columns, width, dictionary, len(weights))
    if len(found) > 1 and (not width or len(np.unique(found, axis=0)) != len(found)):
        raise ValueError("a row is there twice")
    return found, weights


def weighted(value: Any, length: int) -> Column:
    """Weights, none of them 0."""
    found = column(value, length, -MOST_WEIGHT, MOST_WEIGHT)
    if not found.all():
        raise ValueError("a weight is 0")
    return found


def ends(value: Any, length: int | None = None) -> Column:
    """Ticks, or FOREVER."""
    return column(value, length, -FOREVER, FOREVER)


def ticks(value: Any, length: int | None = None) -> Column:
    """Ticks that come."""
    return column(value, length, -FOREVER, FOREVER - 1)


def one_of(found: Column, known: Sequence[int] | Column) -> Column:
    """Numbers that are known."""
    if not np.isin(found, known).all():
        raise ValueError("a number stands for nothing")
    return found


def _numbers(value: Any, dimensions: int) -> npt.NDArray[np.int64]:
    if not isinstance(value, np.ndarray) or value.dtype != np.int64 or value.ndim != dimensions:
        raise ValueError(f"{type(value).__name__} where whole numbers in {dimensions} dimensions were expected")
    # Read-only or not, big-endian or not: kernels want neither to matter.
    return np.array(value, np.dtype(np.int64), order="C")


def pairs(value: Sequence[Any], views: Mapping[int, int], dictionary: Dictionary) -> tuple[Column, Column, Column, Column]:
    """Rows of a join: of views that there are, by how many variables their patterns have; terms are kept as long as rows."""
    columns = items(value, 4)
    view = one_of(column(columns[0]), list(views))
    a, b, until = column(columns[1], len(view)), column(columns[2], len(view)), ends(columns[3], len(view))
    variables = np.array([views[v] for v in view.tolist()], np.int64)
    # Moments are ids as large as those of tuples.
    if (a[variables == 3] < TUPLE).any() or ((b == -1) != (variables == 1)).any():
        raise ValueError("a row is not of its pattern")
    for used, ids in ((variables < 3, a), (variables > 1, b)):
        dictionary.check(ids[used])
        # What has no known end is held by whoever has it.
        finite = used & (until < FOREVER)
        dictionary.touch(ids[finite], until[finite])
    return view, a, b, until
