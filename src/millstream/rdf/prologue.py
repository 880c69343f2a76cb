"""Prefixes and a base, as text to put before a statement that is parsed alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyoxigraph import BlankNode, NamedNode, Quad, RdfFormat, parse

from millstream.errors import DataError
from millstream.rdf.blanks import BlankScope
from millstream.rdf.faults import fault_of
from millstream.rdf.nesting import TOO_DEEP, triple_terms_too_deep


@dataclass(slots=True)
class Prologue:
    """The prefixes and base in force at a place of a Turtle-like text."""

    base: str | None = None
    prefixes: dict[str, str] = field(default_factory=dict)
    text: bytes = b"\n"

    def obey(self, directive: bytes) -> None:
        """Take a directive into force; a malformed one is a DataError and changes nothing."""
        try:
            parser = parse(input=self.text + directive, format=RdfFormat.TURTLE, base_iri=self.base)
            quads = list(parser)
        except (SyntaxError, ValueError) as error:
            raise _data_error(error) from None
        if quads:
            raise DataError("not a directive")
        self.base = parser.base_iri
        self._set(parser.prefixes)

    def drop(self, prefix: str) -> None:
        """Forget a prefix."""
        self._set({name: iri for name, iri in self.prefixes.items() if name != prefix})

    def statement(self, sentence: bytes, scope: BlankScope) -> list[Quad]:
        """The quads of one sentence; the line of a DataError counts from 1 at the sentence."""
        if triple_terms_too_deep(sentence):
            raise DataError(TOO_DEEP)
        try:
            quads = list(parse(input=self.text + sentence, format=RdfFormat.TURTLE, base_iri=self.base))
        except (SyntaxError, ValueError) as error:
            raise _data_error(error) from None
        return scope.rename(quads, sentence)

    def graph_name(self, label: bytes, scope: BlankScope) -> NamedNode | BlankNode:
        """The graph that a label means."""
        quads = self.statement(label + b" <x:p> <x:o> .", scope)
        if len(quads) != 1 or not isinstance(quads[0].subject, NamedNode | BlankNode):
            raise DataError("a graph's name is an IRI or a blank node")
        return quads[0].subject

    def _set(self, prefixes: dict[str, str]) -> None:
        self.prefixes = dict(prefixes)
        pairs = (f"@prefix {name}: <{iri}> . " for name, iri in self.prefixes.items())
        self.text = "".join(pairs).encode() + b"\n"


def _data_error(error: Exception) -> DataError:
    fault = fault_of(error)
    # The prologue is one line, the first.
    line = fault.line - 1 if fault.line is not None and fault.line > 1 else None
    return DataError(fault.reason, line=line, column=fault.column if line is not None else None)
