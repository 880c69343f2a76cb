"""SPARQL Update data: `INSERT DATA {...}` and `DELETE DATA {...}` with `GRAPH` blocks, `PREFIX` and `BASE`.

Each statement between the braces is a change of its own, so that a malformed one costs nothing else. Plain ones (three
terms in full, which no parser can refuse or understand otherwise) are handed on as they are written, many at a time, where
somebody finds them. Lines of plain words between operations (titles in a log) are passed over unless reading is strict;
other operations are set aside.
Blank-node labels are nodes of their operation; in DELETE DATA they can mean nothing and are refused, as SPARQL does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pyoxigraph import BlankNode, NamedNode

from millstream.errors import DataError
from millstream.limits import Limits
from millstream.rdf.blanks import BlankScope
from millstream.rdf.element import Rejections
from millstream.rdf.readers.prologue import Prologue, place_of
from millstream.rdf.readers.sentences import Kind, Sentence, next_sentence
from millstream.rdf.statements import Change, PlainChanges

_BETWEEN = re.compile(rb"(?:[\s;]++|#[^\r\n]*+)*+")
_OPERATION = re.compile(rb"\b(?P<name>insert|delete)\s++data\s*+\{\Z", re.IGNORECASE)
_GRAPH = re.compile(rb"\bgraph\s++(?P<label><[^<>\s]*+>|[^\s<>{}]++)\s*+\{\Z", re.IGNORECASE)
_KEYWORD = re.compile(
    rb"^[ \t]*(?:insert|delete|load|clear|drop|create|add|move|copy|with|using|prefix|base|where)\b|[{}<>]",
    re.IGNORECASE | re.MULTILINE,
)
_PLAIN_BYTES = 4096
ONLY_DATA = "only INSERT DATA {...} and DELETE DATA {...} are read as changes"


TakePlain = Callable[[bytes, int, int, int, bytes, int], tuple[bytes, bytes, int, int, int, int]]
"""Finds plain statements, as `millstream.kernels.scanning.plain_updates` has it."""


def read_update(
    text: bytes,
    scope: BlankScope,
    rejections: Rejections,
    *,
    base: str | None,
    limits: Limits,
    take_plain: TakePlain | None = None,
) -> Iterator[Change | PlainChanges]:
    """The changes of a SPARQL Update text."""
    return _UpdateReader(text, scope, rejections, Prologue(base, limits), take_plain).read()


def longest_plain(limits: Limits) -> int:
    """How many bytes a statement may have to be plain."""
    return min(_PLAIN_BYTES, limits.statement_bytes, limits.literal_bytes)


def plain_update(text: bytes, limits: Limits, take_plain: TakePlain) -> PlainChanges | None:
    """The changes of a whole text in which nothing but plain statements is; None for any other."""
    if len(text) > limits.document_bytes:
        return None
    lines, signs, position, depth, _, _ = take_plain(text, 0, 0, 1, b"", longest_plain(limits))
    return None if depth or text[position:].strip(b" \t\r\n;") else PlainChanges(lines, signs)


class _UpdateReader:
    def __init__(
        self, text: bytes, scope: BlankScope, rejections: Rejections, prologue: Prologue, take_plain: TakePlain | None
    ) -> None:
        self._take_plain = take_plain
        self._text = text
        self._source_scope = scope
        self._scope = scope
        self._rejections = rejections
        self._prologue = prologue
        self._plain_bytes = longest_plain(prologue.limits)
        self._position = 0
        self._line = 1
        # How many braces are open; within an operation the first is its own and the second a graph's.
        self._depth = 0
        self._insert: bool | None = None
        self._graph: NamedNode | BlankNode | None = None
        self._graph_lost = False

    def read(self) -> Iterator[Change | PlainChanges]:
        while True:
            if self._depth == 0:
                between = _BETWEEN.match(self._text, self._position)
                self._move_to(between.end() if between else self._position)
            before = self._position
            if self._take_plain is not None and self._may_be_plain():
                yield from self._plain(self._take_plain)
            if self._position > before:
                continue
            sentence = next_sentence(self._text, self._position, ended=True, in_graph=self._depth > 0, graphs=True)
            if sentence.kind is Kind.END:
                break
            self._move_to(sentence.start)
            yield from self._take(sentence)
            self._move_to(sentence.end)
        if self._depth:
            self._rejections.reject("the text ends before the } of its operation", line=self._line)

    def _may_be_plain(self) -> bool:
        within = self._insert is not None and not self._graph_lost and not isinstance(self._graph, BlankNode)
        return self._depth == 0 or within

    def _plain(self, take_plain: TakePlain) -> Iterator[PlainChanges]:
        """The plain statements from here on, up to one that is not, or some of them."""
        graph = b"" if self._graph is None else str(self._graph).encode()
        sign = -1 if self._insert is False else 1
        lines, signs, position, self._depth, sign, opened = take_plain(
            self._text, self._position, self._depth, sign, graph, self._plain_bytes
        )
        if self._depth < 2:
            self._graph = None
        self._insert = sign > 0 if self._depth else None
        if opened:
            self._scope = self._source_scope.next_document(opened)
        self._move_to(position)
        if lines:
            yield PlainChanges(lines, signs)

    def _take(self, sentence: Sentence) -> Iterator[Change]:
        text = self._text[sentence.start : sentence.end]
        match sentence.kind:
            case Kind.OPEN if self._depth == 0:
                self._open_operation(text)
            case Kind.OPEN if operation := _OPERATION.search(text):
                yield from self._cut_short(text[: operation.start()].strip())
                self._open_operation(operation[0])
            case Kind.OPEN:
                yield from self._open_graph(text)
            case Kind.CLOSE if self._depth == 0:
                self._reject("a } without its {", text)
            case Kind.CLOSE:
                self._depth -= 1
                self._graph, self._graph_lost = None, False
                if self._depth == 0:
                    self._insert = None
            case _ if self._depth:
                yield from self._statement(text)
            case Kind.DIRECTIVE if not text.startswith(b"@"):
                try:
                    self._prologue.obey(text)
                except DataError as error:
                    self._reject(error.reason, text)
            case _:
                self._outside(text)

    def _open_operation(self, text: bytes) -> None:
        self._depth, self._insert = 1, None
        self._scope = self._source_scope.next_document()
        operation = _OPERATION.search(text)
        if operation is None:
            self._reject(ONLY_DATA, text)
            return
        self._insert = operation["name"].lower() == b"insert"
        before = text[: operation.start()]
        if before.strip():
            self._outside(before)

    def _cut_short(self, rest: bytes) -> Iterator[Change]:
        """An operation whose brace is missing, or hidden behind a `#`, ends where the next begins."""
        kept = list(self._statement(rest)) if rest else []
        yield from kept
        if kept or not rest:
            self._reject("the operation's } is missing", rest)
        self._graph, self._graph_lost = None, False

    def _open_graph(self, text: bytes) -> Iterator[Change]:
        self._depth += 1
        if self._insert is None:
            return
        found = _GRAPH.search(text)
        if found is None or self._depth > 2:
            self._graph_lost = True
            self._reject("a block inside an operation is GRAPH <name> {...}", text)
            return
        # The dot before GRAPH can be left out.
        if before := text[: found.start()].strip():
            yield from self._statement(before + b"\n.")
        try:
            self._graph = self._prologue.graph_name(found["label"], self._scope)
        except DataError as error:
            self._graph_lost = True
            self._reject(error.reason, text)

    def _statement(self, text: bytes) -> Iterator[Change]:
        if self._insert is None or text == b".":
            # Inside an operation that was set aside as a whole; or the dot that may follow a graph's brace.
            return
        try:
            if self._graph_lost:
                raise DataError("the name of its graph is malformed")
            if text.startswith(b"@"):
                raise DataError("a directive cannot stand inside an operation")
            quads = self._prologue.statement(text if text.endswith(b".") else text + b"\n.", self._scope)
            if not self._insert and any(isinstance(t, BlankNode) for quad in quads for t in (quad.subject, quad.object)):
                raise DataError("DELETE DATA cannot name blank nodes")
        except DataError as error:
            self._reject(error, text)
            return
        if quads:
            triples = tuple(dict.fromkeys(quad.triple for quad in quads))
            yield Change(self._insert, triples, self._graph, line=self._line)

    def _outside(self, text: bytes) -> None:
        if self._rejections.receiver is None or _KEYWORD.search(text):
            self._reject(ONLY_DATA, text)

    def _move_to(self, position: int) -> None:
        self._line += self._text.count(b"\n", self._position, position)
        self._position = position

    def _reject(self, fault: DataError | str, text: bytes) -> None:
        start = self._text.rfind(b"\n", 0, self._position) + 1
        column = len(self._text[start : self._position].decode("utf-8", "replace")) + 1
        error = DataError(fault) if isinstance(fault, str) else fault
        line, column = place_of(error, text, self._line, column)
        self._rejections.reject(error.reason, line=line, column=column, text=text)
