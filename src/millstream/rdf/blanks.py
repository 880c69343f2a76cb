"""Blank nodes: labels written in a text mean nodes of that text only.

A `BlankScope` is one call, message, document or file. It turns labels into labels no other scope has; the same label
within one scope always gives the same node. For texts read piece by piece nothing is remembered, so that a scope costs
no memory however long its text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

Term = NamedNode | BlankNode | Literal | Triple

# What can bring a blank node into a Turtle family text; a text without any of it needs no renaming.
_SIGNS = (b"_:", b"[", b"(", b"<<", b"{|", b"~")
# The parser's own labels for nodes without one: 128 random bits in hexadecimal, leading zeros dropped, a letter first.
_GENERATED = re.compile(r"[a-f][0-9a-f]{15,31}")
_WRITTEN = re.compile(rb"_:([a-f][0-9a-f]{15,31})")


class BlankScope:
    """Renames blank nodes of one text.

    With a `prefix` given, the new labels are a function of the prefix and the text, so that reading the same file twice
    gives the same nodes; otherwise the prefix is random.
    """

    __slots__ = ("_documents", "_generated", "prefix")

    def __init__(self, prefix: str | None = None) -> None:
        self.prefix = "m" + os.urandom(8).hex() if prefix is None else prefix
        self._generated = 0
        self._documents = 0

    def next_document(self, steps: int = 1) -> BlankScope:
        """The scope of the next message or document within this source, or of one some steps further on."""
        self._documents += steps
        return BlankScope(f"{self.prefix}d{self._documents}")

    def rename(self, quads: list[Quad], text: bytes) -> list[Quad]:
        """The quads of a piece of text, with the labels of this scope; labels the text lacks must not recur later."""
        if not any(sign in text for sign in _SIGNS):
            return quads
        # Once for all nodes: a text can have as many as it has brackets.
        written = {label.decode() for label in _WRITTEN.findall(text)}

        def name(label: str) -> BlankNode:
            return self.anonymous() if _GENERATED.fullmatch(label) and label not in written else self.node(label)

        names = _Names(name)
        return [_renamed(quad, names) for quad in quads]

    def rename_document(self, quads: Iterable[Quad]) -> Iterator[Quad]:
        """The quads of a whole document whose text is not at hand, numbering its nodes as they appear."""
        names = _Names(lambda label: self.anonymous())
        return (_renamed(quad, names) for quad in quads)

    def node(self, label: str) -> BlankNode:
        """The node that a label written in the text means."""
        return BlankNode(f"{self.prefix}l{label}")

    def anonymous(self) -> BlankNode:
        """A node that no label in the text means."""
        self._generated += 1
        return BlankNode(f"{self.prefix}g{self._generated}")


class _Names(dict[str, BlankNode]):
    """Nodes by the labels that the parser gave them, each made when it is first asked for."""

    def __init__(self, make: Callable[[str], BlankNode]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, label: str) -> BlankNode:
        self[label] = found = self._make(label)
        return found


def _renamed(quad: Quad, names: _Names) -> Quad:
    subject, obj, graph = quad.subject, quad.object, quad.graph_name
    if not isinstance(subject, BlankNode) and isinstance(obj, NamedNode | Literal) and not isinstance(graph, BlankNode):
        return quad
    return Quad(_renamed_term(subject, names), quad.predicate, _renamed_term(obj, names), _renamed_term(graph, names))


def _renamed_term(term: Any, names: _Names) -> Any:
    if isinstance(term, BlankNode):
        return names[term.value]
    if isinstance(term, Triple):
        return Triple(_renamed_term(term.subject, names), term.predicate, _renamed_term(term.object, names))
    return term
