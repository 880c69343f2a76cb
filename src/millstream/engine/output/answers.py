"""Answers: what a query emitted, in words once somebody looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.emission.decoding import Decoding
from millstream.kernels.emission.terms import term_of
from millstream.kernels.flow.deltas import Deltas
from millstream.language.algebra import Form, Query
from millstream.operators.expressions.values.python_values import python_of

if TYPE_CHECKING:
    import pyarrow as pa

Bindings = Mapping[str, NamedNode | BlankNode | Literal]

_ATTRIBUTES = ("at_ms", "weight", "bindings", "form")


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


class Answers(list[Answer]):
    """What a query emitted, in order: a list that notebooks show as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from millstream.engine.output.notebook import answers_html

        return answers_html(self)


def triple_of(bindings: Bindings) -> Triple:
    """The triple whose places are bound."""
    return Triple(*cast("Any", (bindings["subject"], bindings["predicate"], bindings["object"])))


def truth_of(bindings: Bindings) -> bool:
    return bindings["boolean"].value == "true"


class Decoder:
    """Rows of ids to terms."""

    def __init__(self, dictionary: Dictionary, query: Query) -> None:
        names = [variable.value for variable in query.columns]
        self._decoding = Decoding(dictionary, names)
        self._form = query.form
        self._names = ["at_ms", "weight", *names]
        self.bindings = self._decoding.bindings

    def answers(self, rows: Deltas) -> Answers:
        """The answers that emitted rows are."""
        return self._decoding.objects(rows, Answer, _ATTRIBUTES, self._form, Answers)

    def answers_of(self, table: pa.Table) -> Answers:
        """The answers in a table that `table` made."""
        rows: list[dict[str, str | None]] = table.drop_columns(["at_ms", "weight"]).to_pylist()
        found = [{name: term_of(text) for name, text in row.items() if text is not None} for row in rows]
        times, weights = (table[name].to_numpy().tolist() for name in ("at_ms", "weight"))
        return Answers(Answer(*answer, self._form) for answer in zip(times, weights, found, strict=True))

    def table(self, rows: Deltas) -> pa.Table:
        """Emitted rows as Arrow."""
        import pyarrow as pa

        columns = self._decoding.columns(rows)
        return pa.Table.from_arrays([pa.array(rows.tick >> 2), pa.array(rows.weight), *columns], self._names)
