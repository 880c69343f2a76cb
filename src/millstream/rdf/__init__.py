"""RDF at the edge of the system: terms, XSD values, formats, and readers that turn input into stream elements."""

from millstream.rdf.blanks import BlankScope, Term
from millstream.rdf.element import OnRejected, Rejected, Rejections, StreamElement
from millstream.rdf.formats import Format, format_of_path, named_format
from millstream.rdf.statements import Change
from millstream.rdf.terms import parse_term
from millstream.rdf.times import time_ms
from millstream.rdf.timing import parse_time_option

__all__ = [
    "BlankScope",
    "Change",
    "Format",
    "OnRejected",
    "Rejected",
    "Rejections",
    "StreamElement",
    "Term",
    "format_of_path",
    "named_format",
    "parse_term",
    "parse_time_option",
    "time_ms",
]
