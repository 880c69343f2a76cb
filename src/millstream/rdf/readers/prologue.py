"""Prefixes and a base, as text to put before a statement that is parsed alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, NamedNode, Quad, RdfFormat, parse

from millstream.errors import DataError
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf.blanks import BlankScope
from millstream.rdf.readers.bounds import too_long
from millstream.rdf.readers.faults import fault_of
from millstream.rdf.readers.parsing import quads_of

# No server takes a longer one, and every name in a text is as long as its prefix once it is written out.
LONGEST_PREFIX = 4096
# Each but the first of the triples of a sentence has one of these before it.
_BEFORE_TRIPLES = b",;.[({~"
# What a text may become without a closer look, whatever the limit: it is an upper bound, and a crude one.
_HARMLESS = 16 << 20
_NAMES = re.compile(rb"<[^<>]*+>|[^\x00-\x20<>\"'(){}\[\];,]++")


@dataclass(slots=True)
class Prologue:
    """The prefixes and base in force at a place of a Turtle-like text."""

    base: str | None = None
    limits: Limits = DEFAULT_LIMITS
    prefixes: dict[str, str] = field(default_factory=dict)
    text: bytes = b"\n"
    longest: int = 0
    """The length of the longest prefix or base."""

    def obey(self, directive: bytes) -> None:
        """Take a directive into force; a malformed one is a DataError and changes nothing."""
        try:
            parser = parse(input=self.text + directive, format=RdfFormat.TURTLE, base_iri=self.base)
            quads = list(parser)
        except BaseException as error:
            raise _placed(fault_of(error)) from None
        if quads:
            raise DataError("not a directive")
        if any(len(iri) > LONGEST_PREFIX for iri in (parser.base_iri or "", *parser.prefixes.values())):
            raise DataError(f"the IRI of a prefix or base has more than {LONGEST_PREFIX} characters")
        self.base = parser.base_iri
        self._set(parser.prefixes)

    def drop(self, prefix: str) -> None:
        """Forget a prefix."""
        self._set({name: iri for name, iri in self.prefixes.items() if name != prefix})

    def statement(self, sentence: bytes, scope: BlankScope) -> list[Quad]:
        """The quads of one sentence; the line of a DataError counts from 1 at the sentence."""
        return self.statements((sentence,), b"", scope)

    def statements(self, sentences: Iterable[bytes], between: bytes, scope: BlankScope) -> list[Quad]:
        """The quads of several sentences with something between them."""
        text = between.join(sentences)
        self._check_size(text, max(map(len, sentences), default=0))
        try:
            quads = quads_of(self.text + text, RdfFormat.TURTLE, base=self.base, limits=self.limits)
        except DataError as error:
            raise _placed(error) from None
        return scope.rename(quads, text)

    def _check_size(self, text: bytes, longest: int) -> None:
        """Refuses a text of which the parser could make too much: names that prefixes make long, and subjects repeated."""
        if len(text) > self.limits.statement_bytes:
            raise DataError(too_long(self.limits))
        most = max(self.limits.statement_bytes, _HARMLESS)
        # Two bytes to a name at least; only what is still too much is looked at more closely.
        if 2 * len(text) * (self.longest + longest) <= most:
            return
        names = 3 * (1 + sum(text.count(sign) for sign in _BEFORE_TRIPLES))
        if names * (self.longest + longest) <= most:
            return
        longest = max((match.end() - match.start() for match in _NAMES.finditer(text)), default=0)
        if names * (self.longest + longest) > most:
            reason = f"a statement that becomes more than {most} bytes when its names are written out"
            raise DataError(f"{reason} (limit statement_bytes)")

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
        self.longest = max(map(len, (self.base or "", *self.prefixes.values())))


def place_of(fault: DataError, sentence: bytes, line: int, column: int) -> tuple[int, int]:
    """Where the fault of a sentence is, which begins at a line and column."""
    if fault.line is None:
        return line, column
    below = min(fault.line - 1, sentence.count(b"\n"))
    return line + below, (fault.column or 1) if below else column + (fault.column or 1) - 1


def _placed(error: DataError) -> DataError:
    # The prologue is one line, the first.
    line = error.line - 1 if error.line is not None and error.line > 1 else None
    return DataError(error.reason, line=line, column=error.column if line is not None else None)
