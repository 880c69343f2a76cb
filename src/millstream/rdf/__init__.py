"""RDF at the edge of the system: terms, XSD values, formats, and readers that turn input into stream elements."""

from millstream.rdf.blanks import BlankScope, Term
from millstream.rdf.element import OnRejected, Rejected, Rejections, StreamElement
from millstream.rdf.terms import coerce_triples, parse_term, term_text, triple_text
from millstream.rdf.times import time_ms

__all__ = [
    "BlankScope",
    "OnRejected",
    "Rejected",
    "Rejections",
    "StreamElement",
    "Term",
    "coerce_triples",
    "parse_term",
    "term_text",
    "time_ms",
    "triple_text",
]
