"""Triples as callers pass them: N-Triples text, pyoxigraph, rdflib, or tuples of terms and Python values.

Invariant: whatever is passed, the answer is pyoxigraph triples or a DataError that says which item and why. rdflib is
recognised by what its terms offer and never imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeGuard

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple

from millstream.errors import DataError
from millstream.kernels.emission.terms import term_of
from millstream.operators.expressions.values.python_values import literal_text
from millstream.operators.expressions.values.values import string
from millstream.rdf import BlankScope, Term, parse_term
from millstream.rdf.element import bounded, without_repeats
from millstream.rdf.readers.parsing import quads_of
from millstream.rdf.terms import BLANK, IRI, LITERAL

_SUBJECT, _PREDICATE, _OBJECT = (re.compile(t) for t in (rf"{IRI}|{BLANK}", IRI, rf"{IRI}|{BLANK}|{LITERAL}"))
# How strings begin that are terms; all others are plain text where an object stands.
_TERM_BEGINS = ("<", '"', "_:")


def coerce_triples(triples: object, *, scope: BlankScope | None = None) -> tuple[Triple, ...]:
    """The triples that a caller passed, in order, repeats dropped.

    Taken are N-Triples text, or an iterable of pyoxigraph triples or quads (their graph is left out), rdflib triples,
    3-tuples, or N-Triples lines. A place of a tuple is an N-Triples term string or a term; the object may also be a Python
    value, and a string that does not begin like a term is plain text there. Labels in text are nodes of this call only;
    blank-node objects stay the nodes they are.
    """
    scope = scope or BlankScope()
    if isinstance(triples, str | bytes | bytearray | memoryview):
        return _from_text(triples, scope)
    if isinstance(triples, Triple | Quad):
        triples = (triples,)
    if not isinstance(triples, Iterable):
        raise DataError(
            f"triples must be N-Triples text or an iterable of triples, got {type(triples).__name__}",
            text=bounded(_shown(triples)),
        )
    return without_repeats(triple for position, item in enumerate(triples) for triple in _from_item(item, position, scope))


def lines_of(triples: list[object] | tuple[object, ...]) -> str | None:
    """N-Triples of 3-tuples of strings and Python values, a line each, still to be read; None if some are not just that."""
    lines = []
    for item in triples:
        if type(item) is not tuple or len(item) != 3:
            return None
        s, p, o = item
        if not (type(s) is str and type(p) is str and _SUBJECT.fullmatch(s) and _PREDICATE.fullmatch(p)):
            return None
        if type(o) is not str or not _OBJECT.fullmatch(o):
            try:
                o = _value_text(o)
            except ValueError:
                return None
            if o is None:
                return None
        lines.append(f"{s} {p} {o} .\n")
    return "".join(lines)


def _from_text(text: str | bytes | bytearray | memoryview, scope: BlankScope) -> tuple[Triple, ...]:
    encoded = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    try:
        quads = quads_of(encoded, RdfFormat.N_TRIPLES, any_terms=True)
    except DataError as fault:
        lines = encoded.split(b"\n")
        line = lines[fault.line - 1] if fault.line and fault.line <= len(lines) else encoded
        raise DataError(fault.reason, source="triples", line=fault.line, column=fault.column, text=bounded(line)) from None
    return without_repeats(quad.triple for quad in scope.rename(quads, encoded))


def _from_item(item: object, position: int, scope: BlankScope) -> tuple[Triple, ...]:
    where = f"triples[{position}]"
    match item:
        case Triple():
            return (item,)
        case Quad():
            return (item.triple,)
        case str() | bytes() if not _is_rdflib(item):
            try:
                return _from_text(item, scope)
            except DataError as error:
                hint = "" if position > 2 else "; pass one triple as [(s, p, o)]"
                raise DataError(f"{error.reason}{hint}", source=where, text=error.text) from None
    parts = tuple(item) if isinstance(item, tuple | list) else ()
    if len(parts) != 3:
        raise DataError(
            f"a triple is a pyoxigraph or rdflib triple or a tuple of three, got {_described(item)}",
            source=where,
            text=bounded(_shown(item)),
        )
    subject, predicate = (_coerce_term(part, f"{where}.{role}", scope) for part, role in zip(parts, "sp", strict=False))
    obj = _coerce_object(parts[2], f"{where}.o", scope)
    if not isinstance(subject, NamedNode | BlankNode):
        raise DataError(f"a subject is an IRI or a blank node, got {subject}", source=where, text=bounded(str(subject)))
    if not isinstance(predicate, NamedNode):
        raise DataError(f"a predicate is an IRI, got {predicate}", source=where, text=bounded(str(predicate)))
    return (Triple(subject, predicate, obj),)


def _coerce_object(part: object, where: str, scope: BlankScope) -> Term:
    try:
        text = _value_text(part)
        if text is not None:
            return term_of(text)
    except ValueError as error:
        raise DataError(str(error), source=where, text=bounded(_shown(part))) from None
    return _coerce_term(part, where, scope)


def _value_text(value: object) -> str | None:
    """The N-Triples text of a Python value; None for what is, or begins like, a term."""
    if not isinstance(value, str):
        return literal_text(value)
    if _is_rdflib(value) or value.lstrip(" \t").startswith(_TERM_BEGINS):
        return None
    return string(value).text()


def _coerce_term(part: object, where: str, scope: BlankScope) -> Term:
    if isinstance(part, NamedNode | BlankNode | Literal | Triple):
        return part
    try:
        if _is_rdflib(part):
            return _from_rdflib(part)
        if isinstance(part, str):
            return parse_term(part, scope=scope)
    except DataError as error:
        raise DataError(error.reason, source=where, text=error.text) from None
    except ValueError as error:
        raise DataError(str(error), source=where, text=bounded(_shown(part))) from None
    raise DataError(f"not a term: {_described(part)}", source=where, text=bounded(_shown(part)))


def _is_rdflib(part: object) -> TypeGuard[Any]:
    return type(part) is not str and isinstance(part, str) and hasattr(part, "n3")


def _from_rdflib(term: Any) -> Term:
    kinds = {kind.__name__ for kind in type(term).__mro__}
    value = str(term)
    if "Literal" in kinds:
        if term.language:
            return Literal(value, language=str(term.language))
        return Literal(value, datatype=NamedNode(str(term.datatype))) if term.datatype else Literal(value)
    if "BNode" in kinds:
        return BlankNode(value)
    if "URIRef" in kinds:
        return NamedNode(value)
    raise DataError(f"a {type(term).__name__} cannot stand in a triple of data", text=bounded(value))


def _described(item: object) -> str:
    if isinstance(item, tuple | list):
        return f"a {type(item).__name__} of {len(item)}"
    return f"a {type(item).__name__}"


def _shown(item: object) -> str:
    # A caller's repr may itself fail, and must not decide which error is seen.
    try:
        return repr(item)
    except Exception:
        return f"<{type(item).__name__}>"
