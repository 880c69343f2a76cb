"""Terms read from N-Triples text, one at a time."""

from __future__ import annotations

import re

from pyoxigraph import RdfFormat

from millstream.errors import DataError
from millstream.rdf.blanks import BlankScope, Term
from millstream.rdf.element import bounded
from millstream.rdf.readers.parsing import quads_of

# One term each, so that three strings cannot be cut into terms differently than passed.
IRI = r"<[^\x00-\x20<>\"{}|^`]*>"
LITERAL = rf'"(?:[^"\\\n\r]|\\.)*"(?:@[A-Za-z0-9-]+|\^\^{IRI})?'
BLANK = r"_:[^\s<>\"]+"
_TERM = re.compile(rf"{IRI}|{BLANK}|{LITERAL}|<<\(.*\)>>")


def parse_term(text: str, *, scope: BlankScope | None = None) -> Term:
    """The term that an N-Triples text means; a blank-node label gets a fresh node unless a scope is given.

    >>> parse_term('"1"^^<http://www.w3.org/2001/XMLSchema#integer>').value
    '1'
    """
    stripped = text.strip(" \t")
    if not is_one_term(stripped):
        raise DataError(
            'not one N-Triples term (write <iri>, _:label or "text"^^<datatype>; for other text pyoxigraph.Literal)',
            source="term",
            text=bounded(text),
        )
    line = f"<x:s> <x:p> {stripped} .".encode("utf-8", "surrogatepass")
    try:
        quads = quads_of(line, RdfFormat.N_TRIPLES, any_terms=True)
    except DataError as error:
        raise DataError(error.reason, source="term", text=bounded(line)) from None
    if len(quads) != 1:
        raise DataError("not one N-Triples statement", source="term", text=bounded(line))
    return (scope or BlankScope()).rename(quads, line)[0].object


def is_one_term(text: str) -> bool:
    """Whether a text looks like exactly one N-Triples term, which then still has to be parsed."""
    return _TERM.fullmatch(text) is not None
