"""Solutions, truth values and triples in the SPARQL 1.1 result formats and in those of RDF, piece by piece."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, serialize

from millstream.output.delimited import CsvSink, TsvSink
from millstream.output.terms import XSD_STRING, term_json
from millstream.server.one_off.negotiation import CSV, TSV

Term = NamedNode | BlankNode | Literal | Triple
Row = Sequence[Term | None]

_XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head>'


def solutions(media_type: str, variables: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """The document of a SELECT."""
    if media_type in (CSV, TSV):
        return _delimited(media_type, variables, rows)
    return _xml(variables, rows) if "xml" in media_type else _json(variables, rows)


def truth(media_type: str, value: bool) -> str:
    """The document of an ASK."""
    if "xml" in media_type:
        return f"{_XML_HEAD}</head><boolean>{str(value).lower()}</boolean></sparql>\n"
    return json.dumps({"head": {}, "boolean": value}) + "\n"


def triples(media_type: str, found: Iterable[Triple]) -> bytes:
    """The document of a CONSTRUCT, a DESCRIBE or a graph."""
    format = RdfFormat.N_TRIPLES if media_type == "text/plain" else RdfFormat.from_media_type(media_type)
    assert format is not None, media_type
    return serialize(found, format=format) or b""


def _json(variables: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    yield f'{{"head": {json.dumps({"vars": list(variables)}, ensure_ascii=False)}, "results": {{"bindings": ['
    separator = "\n"
    for row in rows:
        found = {name: term_json(term) for name, term in zip(variables, row, strict=True) if term is not None}
        yield separator + json.dumps(found, ensure_ascii=False)
        separator = ",\n"
    yield "\n]}}\n"


def _xml(variables: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    names = "".join(f"<variable name={quoteattr(name)}/>" for name in variables)
    yield f"{_XML_HEAD}{names}</head><results>\n"
    for row in rows:
        cells = "".join(
            f"<binding name={quoteattr(name)}>{_xml_term(term)}</binding>"
            for name, term in zip(variables, row, strict=True)
            if term is not None
        )
        yield f"<result>{cells}</result>\n"
    yield "</results></sparql>\n"


def _xml_term(term: Term) -> str:
    match term:
        case NamedNode():
            return f"<uri>{_text(term.value)}</uri>"
        case BlankNode():
            return f"<bnode>{_text(term.value)}</bnode>"
        case Triple():
            parts = (("subject", term.subject), ("predicate", term.predicate), ("object", term.object))
            return "<triple>" + "".join(f"<{name}>{_xml_term(part)}</{name}>" for name, part in parts) + "</triple>"
    attribute = ""
    if term.language is not None:
        attribute = f" xml:lang={quoteattr(term.language)}"
    elif term.datatype.value != XSD_STRING:
        attribute = f" datatype={quoteattr(term.datatype.value)}"
    return f"<literal{attribute}>{_text(term.value)}</literal>"


def _text(value: str) -> str:
    # XML has no way to write other control characters, not even as references.
    plain = "".join(ch if ch >= " " or ch in "\t\n\r" else "\ufffd" for ch in value)
    return escape(plain, {"\r": "&#13;"})


def _delimited(media_type: str, variables: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    # The rules of cells and lines are those of files of answers.
    sink: Any = (CsvSink if media_type == CSV else TsvSink)("-", ("at_ms", "weight", *variables))
    yield sink.line(map(sink.name, variables))
    for row in rows:
        yield sink.line(sink.cell(None if term is None else str(term)) for term in row)
