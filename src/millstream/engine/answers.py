"""Answers: what a query emitted, in words once somebody looks, and how much may wait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from millstream.errors import PendingLimitError
from millstream.kernels.decoding import Decoding
from millstream.kernels.deltas import Deltas
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.terms import term_of
from millstream.language.algebra import Form, Query
from millstream.operators.expressions.python_values import python_of

if TYPE_CHECKING:
    import pyarrow as pa

Bindings = Mapping[str, NamedNode | BlankNode | Literal]

_ATTRIBUTES = ("at_ms", "weight", "bindings", "form")
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


class Decoder:
    """Rows of ids to terms."""

    def __init__(self, dictionary: Dictionary, query: Query) -> None:
        names = [variable.value for variable in query.columns]
        self._dictionary = dictionary
        self._decoding = Decoding(dictionary, names)
        self._form = query.form
        self._names = ["at_ms", "weight", *names]
        self.bindings = self._decoding.bindings

    def answers(self, rows: Deltas) -> list[Answer]:
        """The answers that emitted rows are."""
        return self._decoding.objects(rows, Answer, _ATTRIBUTES, self._form)

    def answers_of(self, table: pa.Table) -> list[Answer]:
        """The answers in a table that `table` made."""
        rows: list[dict[str, str | None]] = table.drop_columns(["at_ms", "weight"]).to_pylist()
        found = [{name: term_of(text) for name, text in row.items() if text is not None} for row in rows]
        times, weights = (table[name].to_numpy().tolist() for name in ("at_ms", "weight"))
        return [Answer(*answer, self._form) for answer in zip(times, weights, found, strict=True)]

    def table(self, rows: Deltas) -> pa.Table:
        """Emitted rows as Arrow."""
        import pyarrow as pa

        columns = [self._dictionary.decode(column) for column in rows.columns.T]
        return pa.Table.from_arrays([pa.array(rows.tick >> 2), pa.array(rows.weight), *columns], self._names)


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
