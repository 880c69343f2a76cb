"""Canonical N-Triples text of terms as the SPARQL 1.1 result formats write them."""

from __future__ import annotations

from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from millstream.kernels.emission.terms import term_of
from millstream.rdf import parse_term

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
XSD_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


def json_term(term: str) -> dict[str, Any]:
    """The object that stands for a term in SPARQL's JSON results.

    >>> json_term('"1"^^<http://www.w3.org/2001/XMLSchema#integer>')
    {'type': 'literal', 'value': '1', 'datatype': 'http://www.w3.org/2001/XMLSchema#integer'}
    """
    return term_json(parse_term(term) if term.startswith("<<") else term_of(term))


def term_json(term: NamedNode | BlankNode | Literal | Triple) -> dict[str, Any]:
    """The same for a term."""
    match term:
        case NamedNode():
            return {"type": "uri", "value": term.value}
        case BlankNode():
            return {"type": "bnode", "value": term.value}
        case Triple():
            parts = {"subject": term.subject, "predicate": term.predicate, "object": term.object}
            return {"type": "triple", "value": {name: term_json(part) for name, part in parts.items()}}
    found = {"type": "literal", "value": term.value}
    if term.language is not None:
        found["xml:lang"] = term.language
    elif term.datatype.value != XSD_STRING:
        found["datatype"] = term.datatype.value
    return found
