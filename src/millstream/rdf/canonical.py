"""Canonical N-Triples text back to terms: for text that this program wrote, so nothing is checked and nothing renamed."""

from __future__ import annotations

import re

from pyoxigraph import BlankNode, Literal, NamedNode

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_SHORT = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}


def term_of(text: str) -> NamedNode | BlankNode | Literal:
    r"""The term that a canonical text stands for; a blank node keeps its label.

    >>> term_of(r'"a\n"@en').value
    'a\n'
    """
    if text[0] == "<":
        return NamedNode(text[1:-1])
    if text[0] == "_":
        return BlankNode(text[2:])
    end = text.rindex('"')
    lexical, suffix = unescaped(text[1:end]), text[end + 1 :]
    if not suffix:
        return Literal(lexical)
    if suffix[0] == "@":
        return Literal(lexical, language=suffix[1:])
    return Literal(lexical, datatype=NamedNode(suffix[3:-1]))


def lexical_of(text: str) -> str:
    r"""The lexical form of a literal, the IRI, or a blank node as it is.

    >>> lexical_of(r'"a\"b"@en'), lexical_of("<http://e/x>"), lexical_of("_:b")
    ('a"b', 'http://e/x', '_:b')
    """
    if text[0] == "<":
        return text if text.startswith("<<") else text[1:-1]
    return text if text[0] == "_" else unescaped(text[1 : text.rindex('"')])


def unescaped(text: str) -> str:
    """What stands between the quotes of a literal, as it is meant."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _SHORT.get(match[3], match[3])
