"""Names to IRIs: relative references (RFC 3986, section 5.2) and prefixes."""

from __future__ import annotations

import difflib
import re

from pyoxigraph import NamedNode

from millstream.errors import QuerySyntaxError
from millstream.language.syntax import tree

DEFAULT_BASE = "http://millstream.local/"
"""What `<taxi>` is resolved against where neither the query nor the caller gives a base."""

WELL_KNOWN = {
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "prov": "http://www.w3.org/ns/prov#",
    "qb": "http://purl.org/linked-data/cube#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "schema": "http://schema.org/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "ssn": "http://www.w3.org/ns/ssn/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}

_PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


class Names:
    """The base and prefixes in force; later declarations win."""

    def __init__(self, text: str, base: str | None) -> None:
        self.text = text
        self.base = base or DEFAULT_BASE
        self.prefixes: dict[str, str] = {}

    def declare(self, prologue: tree.Prologue) -> None:
        for declaration in prologue:
            if isinstance(declaration, tree.BaseDeclaration):
                self.base = self._reference(declaration.iri)
            else:
                self.prefixes[declaration.prefix] = self._reference(declaration.iri)

    def resolve(self, iri: tree.IRI) -> NamedNode:
        value = self._reference(iri) if isinstance(iri, tree.IRIReference) else self._expand(iri)
        try:
            return NamedNode(value)
        except ValueError as error:
            raise QuerySyntaxError(f"<{value}> is not an IRI: {error}.", text=self.text, place=iri.place) from None

    def _reference(self, iri: tree.IRIReference) -> str:
        return resolve(self.base, iri.value)

    def _expand(self, name: tree.PrefixedName) -> str:
        try:
            return self.prefixes[name.prefix] + name.local
        except KeyError:
            raise self._unknown(name) from None

    def _unknown(self, name: tree.PrefixedName) -> QuerySyntaxError:
        close = difflib.get_close_matches(name.prefix, list(self.prefixes), n=1, cutoff=0.7)
        if name.prefix in WELL_KNOWN:
            suggestion = f"declare it: PREFIX {name.prefix}: <{WELL_KNOWN[name.prefix]}>"
        elif close:
            suggestion = f"did you mean {close[0]}:?"
        else:
            suggestion = f"declare it: PREFIX {name.prefix}: <...>"
        return QuerySyntaxError(
            f"prefix `{name.prefix}:` is not declared; {suggestion}.",
            text=self.text,
            place=name.place,
            suggestion=suggestion,
        )


def resolve(base: str, reference: str) -> str:
    """A reference seen from a base.

    >>> resolve("http://a/b/c/d;p?q", "../g")
    'http://a/b/g'
    """
    match, found = _PARTS.fullmatch(reference), _PARTS.fullmatch(base)
    assert match is not None
    assert found is not None
    absolute, authority, path, query, fragment = match.groups()
    if absolute is not None:
        # An absolute IRI is taken as written: removing its dot segments would change a name somebody chose.
        return reference
    scheme, base_authority, base_path, base_query, _ = found.groups()
    if authority is None:
        authority = base_authority
        if not path:
            path, query = base_path, base_query if query is None else query
        elif path.startswith("/"):
            path = _without_dots(path)
        else:
            folder = "/" if authority is not None and not base_path else base_path[: base_path.rfind("/") + 1]
            path = _without_dots(folder + path)
    else:
        path = _without_dots(path)
    parts = ((scheme, "{}:"), (authority, "//{}"), (path, "{}"), (query, "?{}"), (fragment, "#{}"))
    return "".join(form.format(part) for part, form in parts if part is not None)


def _without_dots(path: str) -> str:
    output: list[str] = []
    segments = path.split("/")
    for i, segment in enumerate(segments):
        last = i == len(segments) - 1
        if segment == ".":
            if last:
                output.append("")
        elif segment == "..":
            if len(output) > 1 or (output and output[0]):
                output.pop()
            if last:
                output.append("")
        else:
            output.append(segment)
    return "/".join(output)
