"""Blank nodes: labels written in a text mean nodes of that text only.

A `BlankScope` is one call, message, document or file. It turns labels into labels no other scope has; the same label
within one scope always gives the same node. For texts read piece by piece nothing is remembered, so that a scope costs
no memory however long its text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator

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

    def next_document(self) -> BlankScope:
        """The scope of the next message or document within this source."""
        self._documents += 1
        return BlankScope(f"{self.prefix}d{self._documents}")

    def rename(self, quads: list[Quad], text: bytes) -> list[Quad]:
        """The quads of a piece of text, with the labels of this scope; labels the text lacks must not recur later."""
        if not any(sign in text for sign in _SIGNS):
            return quads
        names: dict[str, BlankNode] = {}
        # Once for all nodes: a text can have as many as it has brackets.
        written = {label.decode() for label in _WRITTEN.findall(text)}

        def name(node: BlankNode) -> BlankNode:
            found = names.get(node.value)
            if found is None:
                found = names[node.value] = self._fresh(node.value, written)
            return found

        return [_renamed(quad, name) for quad in quads]

    def rename_document(self, quads: Iterable[Quad]) -> Iterator[Quad]:
        """The quads of a whole document whose text is not at hand, numbering its nodes as they appear."""
        names: dict[str, BlankNode] = {}

        def name(node: BlankNode) -> BlankNode:
            found = names.get(node.value)
            if found is None:
                found = names[node.value] = self.anonymous()
            return found

        for quad in quads:
            yield _renamed(quad, name)

    def node(self, label: str) -> BlankNode:
        """The node that a label written in the text means."""
        return BlankNode(f"{self.prefix}l{label}")

    def anonymous(self) -> BlankNode:
        """A node that no label in the text means."""
        self._generated += 1
        return BlankNode(f"{self.prefix}g{self._generated}")

    def _fresh(self, label: str, written: set[str]) -> BlankNode:
        if _GENERATED.fullmatch(label) and label not in written:
            return self.anonymous()
        return self.node(label)


def _renamed(quad: Quad, name: Callable[[BlankNode], BlankNode]) -> Quad:
    subject, obj, graph = quad.subject, quad.object, quad.graph_name
    if not isinstance(subject, BlankNode) and isinstance(obj, NamedNode | Literal) and not isinstance(graph, BlankNode):
        return quad
    return Quad(
        name(subject) if isinstance(subject, BlankNode) else subject,
        quad.predicate,
        _renamed_term(obj, name),
        name(graph) if isinstance(graph, BlankNode) else graph,
    )


def _renamed_term(term: Term, name: Callable[[BlankNode], BlankNode]) -> Term:
    if isinstance(term, BlankNode):
        return name(term)
    if isinstance(term, Triple):
        subject = term.subject
        return Triple(
            name(subject) if isinstance(subject, BlankNode) else subject,
            term.predicate,
            _renamed_term(term.object, name),
        )
    return term
