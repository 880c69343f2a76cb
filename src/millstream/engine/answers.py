"""Answers: what a query emitted, still as ids until somebody looks, the answer set as it stands, and how much may wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from millstream.errors import PendingLimitError
from millstream.kernels.dictionary import Dictionary
from millstream.language.algebra import Form, Query
from millstream.operators.expressions.python_values import python_of
from millstream.operators.rows import FOREVER, Column, Deltas
from millstream.rdf.canonical import term_of

if TYPE_CHECKING:
    import pyarrow as pa

Bindings = Mapping[str, NamedNode | BlankNode | Literal]

_SURPRISE = 4
_ALWAYS_POSSIBLE = 16
_CALLED_BACK = 1 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """One solution that appeared (weight 1) or disappeared (-1) at a time; unbound variables are absent."""

    at_ms: int
    weight: int
    bindings: Bindings
    form: Form = field(default=Form.SELECT, repr=False, compare=False)
    """What kind of query gave it."""

    def python(self) -> Any:
        """Python values: a dictionary by variable, a tuple of three for CONSTRUCT, a bool for ASK."""
        found = {name: python_of(term) for name, term in self.bindings.items()}
        match self.form:
            case Form.CONSTRUCT:
                return tuple(found.values())
            case Form.ASK:
                return found["boolean"]
        return found

    @property
    def triple(self) -> Triple:
        """The triple of a CONSTRUCT."""
        return triple_of(self.bindings)

    @property
    def boolean(self) -> bool:
        """What an ASK has become, or (weight -1) no longer is."""
        return truth_of(self.bindings)


def triple_of(bindings: Bindings) -> Triple:
    """The triple whose places are bound."""
    return Triple(*cast("Any", (bindings["subject"], bindings["predicate"], bindings["object"])))


def truth_of(bindings: Bindings) -> bool:
    return bindings["boolean"].value == "true"


@dataclass(frozen=True, slots=True)
class Emission:
    """Rows emitted together, in order; weights are 1 and -1."""

    columns: npt.NDArray[np.int64]
    at_ms: Column
    weight: Column

    def __len__(self) -> int:
        return len(self.at_ms)

    @staticmethod
    def joined(emissions: Sequence[Emission]) -> Emission:
        """Several, in order, as one."""
        return Emission(
            np.concatenate([e.columns for e in emissions]),
            np.concatenate([e.at_ms for e in emissions]),
            np.concatenate([e.weight for e in emissions]),
        )


class Holding:
    """Keeps the terms of rows that wait for somebody, from the first housekeeping that finds them waiting.

    So what is taken soon costs nothing, and what is never taken does not keep the dictionary from forgetting other terms.
    """

    __slots__ = ("_columns", "_dictionary")

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._columns: list[npt.NDArray[np.int64]] = []

    def hold(self, parts: Sequence[Emission | Deltas]) -> None:
        """Holds what came since the last call; `parts` is all that waits, in order."""
        known = len(self._columns)
        self.remember(parts)
        self._call(self._dictionary.hold, self._columns[known:])

    def remember(self, parts: Sequence[Emission | Deltas]) -> None:
        """As `hold`, for a restored dictionary, which holds them already."""
        self._columns.extend(part.columns for part in parts[len(self._columns) :])

    def release(self) -> None:
        """Nothing waits any more; terms stay known until the next housekeeping, so that they can still be read."""
        self._call(lambda ids: self._dictionary.release(ids, -FOREVER), self._columns)
        self._columns = []

    def _call(self, do: Callable[[Column], None], columns: list[npt.NDArray[np.int64]]) -> None:
        if columns:
            do(np.concatenate(columns).ravel())


def consolidate(columns: npt.NDArray[np.int64], weight: Column) -> tuple[npt.NDArray[np.int64], Column]:
    """Equal rows summed, zeros dropped, the rest ordered by their values."""
    if len(weight) < 2:
        keep = weight != 0
        return columns[keep], weight[keep]
    if columns.shape[1] == 0:
        total = weight.sum(keepdims=True)
        return (columns[:1], total) if total[0] else (columns[:0], total[:0])
    order = np.lexsort(columns.T[::-1])
    columns, weight = columns[order], weight[order]
    first = np.concatenate([[True], (columns[1:] != columns[:-1]).any(axis=1)])
    starts = np.flatnonzero(first)
    sums = np.add.reduceat(weight, starts)
    keep = sums != 0
    return columns[starts[keep]], sums[keep]


class AnswerSet:
    """A multiset of rows kept up to date by deltas, consolidated now and then."""

    def __init__(self, width: int) -> None:
        self._columns = np.empty((0, width), np.int64)
        self._weight = np.empty(0, np.int64)
        self._pending: list[tuple[npt.NDArray[np.int64], Column]] = []
        self._pending_rows = 0

    def apply(self, columns: npt.NDArray[np.int64], weight: Column) -> None:
        if len(weight):
            self._pending.append((columns, weight))
            self._pending_rows += len(weight)
            if self._pending_rows > max(1 << 12, 2 * len(self._weight)):
                self.rows()

    def rows(self) -> tuple[npt.NDArray[np.int64], Column]:
        """Distinct rows and how often each stands in the set."""
        if self._pending:
            columns = np.concatenate([self._columns, *(c for c, _ in self._pending)])
            weight = np.concatenate([self._weight, *(w for _, w in self._pending)])
            self._columns, self._weight = consolidate(columns, weight)
            self._pending, self._pending_rows = [], 0
        return self._columns, self._weight


class Decoder:
    """Rows of ids to terms."""

    def __init__(self, dictionary: Dictionary, query: Query) -> None:
        self._dictionary = dictionary
        self._names = tuple(variable.value for variable in query.columns)
        self._form = query.form

    def bindings(self, columns: npt.NDArray[np.int64]) -> list[Bindings]:
        distinct, inverse = np.unique(columns, return_inverse=True)
        texts = self._dictionary.texts(distinct)
        terms = [None if text is None else term_of(text) for text in texts]
        table = cast("list[list[int]]", np.asarray(inverse).reshape(columns.shape).tolist())
        return [
            {name: term for name, i in zip(self._names, row, strict=True) if (term := terms[i]) is not None} for row in table
        ]

    def answers(self, emission: Emission) -> list[Answer]:
        found = self.bindings(emission.columns)
        return [
            Answer(at_ms, weight, bindings, self._form)
            for at_ms, weight, bindings in zip(emission.at_ms.tolist(), emission.weight.tolist(), found, strict=True)
        ]

    def answers_of(self, table: pa.Table) -> list[Answer]:
        """The answers in a table that `table` made."""
        rows: list[dict[str, str | None]] = table.drop_columns(["at_ms", "weight"]).to_pylist()
        found = [{name: term_of(text) for name, text in row.items() if text is not None} for row in rows]
        times, weights = (table[name].to_numpy().tolist() for name in ("at_ms", "weight"))
        return [Answer(*answer, self._form) for answer in zip(times, weights, found, strict=True)]

    def table(self, emissions: list[Emission]) -> pa.Table:
        import pyarrow as pa

        width = len(self._names)
        columns = np.concatenate([np.empty((0, width), np.int64), *(e.columns for e in emissions)])
        arrays = [
            pa.array(np.concatenate([np.empty(0, np.int64), *(e.at_ms for e in emissions)])),
            pa.array(np.concatenate([np.empty(0, np.int64), *(e.weight for e in emissions)])),
            *(self._dictionary.decode(np.ascontiguousarray(columns[:, i])) for i in range(width)),
        ]
        return pa.table(arrays, names=["at_ms", "weight", *self._names])


class Pending:
    """Counts what queries keep until it is taken, and tells when the next call might bring more than may wait.

    Trying a call out costs as much as the engine holds, so it is only done near the limit: where the call would bring too
    many if it brought several times what any call has brought so far.
    """

    __slots__ = ("_brought", "_largest", "_refuses", "limit", "waiting")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.waiting = 0
        self._refuses = False
        self._brought = 0
        self._largest = _ALWAYS_POSSIBLE

    def refuse(self) -> None:
        """From now on the answer that exceeds the limit raises, at once: on copies, which nobody needs then."""
        self._refuses = True
        self._brought = 0

    def keep(self, count: int) -> None:
        """Answers that wait until they are taken."""
        self.waiting += count
        self._brought += count
        if self._refuses:
            self.check(0)

    def pass_on(self, count: int) -> None:
        """Answers for callbacks: they wait as well, but no longer than the call that brings them."""
        self._brought += count
        if self._refuses and self._brought > max(self.limit, _CALLED_BACK):
            raise PendingLimitError(
                f"one call would bring more than {max(self.limit, _CALLED_BACK)} answers; "
                "raise max_pending, or keep times far ahead out with max_jump_ms."
            )

    def release(self, count: int) -> None:
        self.waiting -= count

    def may_overflow(self) -> bool:
        """Whether the next call might bring too many; asked before every call, so that it knows what each has brought."""
        brought, self._brought = self._brought, 0
        if brought > self._largest:
            self._largest = brought
        return self.waiting + _SURPRISE * self._largest > self.limit

    def may_exceed(self, more: int) -> bool:
        """Whether so many more might be too many."""
        return self.waiting + more > self.limit

    def check(self, more: int) -> None:
        """Raises if so many more may not wait."""
        waiting = self.waiting + more
        if waiting > self.limit:
            raise PendingLimitError(
                f"{waiting} answers would wait to be taken, max_pending is {self.limit}; "
                "take those that wait, give register an on_answer, or raise max_pending."
            )
