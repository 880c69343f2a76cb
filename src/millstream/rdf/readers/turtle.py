"""The reader of Turtle and TriG.

The text is cut into sentences, and the sentences of a graph are parsed together, behind the prefixes and base in force,
with a mark after each to tell whose quads are whose. Where the parser objects, each sentence is parsed alone, so that
exactly the bad ones are set aside. Memory holds a chunk of text, whatever the length of the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from pyoxigraph import BlankNode, NamedNode, Quad, RdfFormat, parse

from millstream.errors import DataError, OptionError
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf.blanks import BlankScope
from millstream.rdf.element import Rejections
from millstream.rdf.readers.bounds import SHOWN, ByteSource, too_long
from millstream.rdf.readers.prologue import Prologue, place_of
from millstream.rdf.readers.sentences import Kind, Sentence, next_sentence, skip_space
from millstream.rdf.readers.skipping import SentenceEnd
from millstream.rdf.statements import Event, Mark, Statement

CHUNK = 1 << 18
# An unfinished sentence beyond this is looked at again when it has grown by a quarter: pieces must not cost their square.
_LONG = 1 << 20

# Random, so that no data can contain it.
_MARK = NamedNode(f"x-mark:{os.urandom(16).hex()}")
_MARK_TEXT = f"\n{_MARK}{_MARK}{_MARK}.\n".encode()
_VERSION = re.compile(rb"""@?version\s*["'](?P<label>[^"']*)["']""", re.IGNORECASE)
_MESSAGE = re.compile(rb"@message[\s]*\.")
_LABEL = re.compile(rb"(?P<word>\bgraph\b)?\s*+(?P<label><[^<>\s]*+>|\[\s*+\]|[^\s\[\]()<>]++)\Z", re.I)
_WORD_ONLY = re.compile(rb"graph\Z", re.I)
# No name is longer, and looking for one in a long text that lacks its dot would take very long.
_MAX_LABEL = 8192
_COMMENT = re.compile(rb"(<[^<>\s]*>)|#[^\r\n]*")

GraphName = NamedNode | BlankNode


class _Lost:
    """The graph of a block whose name could not be read."""


_LOST = _Lost()


class _Item(NamedTuple):
    start: int
    end: int
    line: int


def read_turtle(
    source: ByteSource,
    scope: BlankScope,
    rejections: Rejections,
    *,
    graphs: bool,
    base: str | None = None,
    messages: bool = False,
    chunk: int = CHUNK,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Event]:
    """The statements of a Turtle text, or with `graphs` of a TriG text: a statement ends with a `.`."""
    try:
        list(parse(input=b"", format=RdfFormat.TURTLE, base_iri=base))
    except ValueError as error:
        raise OptionError(f"base: {error}") from None
    return _TurtleReader(source, scope, rejections, graphs, base, messages, chunk, limits).read()


class _TurtleReader:
    def __init__(
        self,
        source: ByteSource,
        scope: BlankScope,
        rejections: Rejections,
        graphs: bool,
        base: str | None,
        messages: bool,
        chunk: int,
        limits: Limits,
    ) -> None:
        self._source = source
        self._source_scope = scope
        self._scope = scope.next_document() if messages else scope
        self._rejections = rejections
        self._graphs = graphs
        self._messages = messages
        self._chunk = chunk
        self._begun = False
        self._limits = limits
        self._prologue = Prologue(base, limits)
        # The block that is open, if any, and the graph it names; sentences wait until one of another graph comes.
        self._in_graph = False
        self._graph: GraphName | _Lost | None = None
        self._waiting: list[_Item] = []
        # `_line` is the line at `_position`; `_column` the characters of that line that the buffer no longer has.
        self._buffer = b""
        self._position = 0
        self._line = 1
        self._column = 0

    def read(self) -> Iterator[Event]:
        if self._messages:
            yield Mark.MESSAGES
        ended = False
        while True:
            sentence = next_sentence(self._buffer, self._position, ended=ended, in_graph=self._in_graph, graphs=self._graphs)
            match sentence.kind:
                case Kind.MORE:
                    yield from self._flush()
                    self._forget()
                    if sentence.end == sentence.start and len(self._buffer) > self._limits.statement_bytes:
                        ended = self._pass_over()
                        continue
                    if sentence.end > sentence.start:
                        self._forget_space()
                    ended = self._read_more(len(self._buffer) // 4 if len(self._buffer) > _LONG else 1)
                    continue
                case Kind.END:
                    yield from self._flush()
                    if self._in_graph:
                        self._rejections.reject("the text ends before the graph's }", line=self._line)
                    return
            self._line += self._buffer.count(b"\n", self._position, sentence.start)
            yield from self._take(sentence)
            self._line += self._buffer.count(b"\n", sentence.start, sentence.end)
            self._position = sentence.end

    def _read_more(self, least: int = 1) -> bool:
        """Adds so many bytes to the buffer at least; whether the text has ended instead."""
        pieces = [self._buffer]
        while least > 0 and (piece := self._source.read(self._chunk)):
            pieces.append(piece)
            least -= len(piece)
        self._buffer = b"".join(pieces)
        return least > 0

    def _pass_over(self) -> bool:
        """Sets aside a sentence that is too long, without holding it; whether the text has ended."""
        self._move(skip_space(self._buffer, 0))
        line, column, text = self._line, self._column_at(0) + 1, self._buffer[:SHOWN]
        end = SentenceEnd(graphs=self._graphs, in_graph=self._in_graph)
        ended = False
        while True:
            kind, size = end.find(self._buffer, ended=ended)
            self._move(size)
            if kind is not None:
                break
            ended = self._read_more()
        self._rejections.reject(too_long(self._limits), line=line, column=column, text=text)
        if kind is Kind.OPEN:
            self._in_graph, self._graph = True, _LOST
        return ended

    def _take(self, sentence: Sentence) -> Iterator[Event]:
        item = _Item(sentence.start, sentence.end, self._line)
        match sentence.kind:
            case Kind.TRIPLES:
                self._waiting.append(item)
                return
            case Kind.UNFINISHED:
                yield from self._flush()
                yield from self._read_alone(item)
                return
        yield from self._flush()
        text = self._buffer[item.start : item.end]
        match sentence.kind:
            case Kind.DIRECTIVE if _MESSAGE.fullmatch(text) is None:
                yield from self._obey(item, text)
            case Kind.DIRECTIVE | Kind.MESSAGE:
                yield from self._end_message(item)
            case Kind.OPEN:
                self._open(item, text)
            case Kind.CLOSE:
                if not self._in_graph:
                    self._reject("a } without its {", item)
                self._in_graph, self._graph = False, None

    # Directives

    def _obey(self, item: _Item, text: bytes) -> Iterator[Event]:
        if self._in_graph:
            self._reject("a directive cannot stand inside a graph", item)
            return
        try:
            self._prologue.obey(text)
        except DataError as error:
            self._reject_fault(error, item)
            return
        version = _VERSION.match(text)
        if version is None or not version["label"].endswith(b"-messages") or self._messages:
            return
        if self._begun:
            self._reject("an RDF Message Log is announced before the first statement", item)
            return
        self._messages = True
        self._scope = self._source_scope.next_document()
        yield Mark.MESSAGES

    def _end_message(self, item: _Item) -> Iterator[Event]:
        if self._in_graph:
            self._reject("a message cannot end inside a graph", item)
        elif not self._messages:
            self._reject('MESSAGE stands only in an RDF Message Log, which begins with VERSION "1.2-messages"', item)
        else:
            self._begun = True
            self._scope = self._source_scope.next_document()
            yield Mark.END

    # Graphs

    def _open(self, item: _Item, text: bytes) -> None:
        if self._in_graph:
            self._reject("a graph begins before the } of the one before it", item)
        self._in_graph, self._graph = True, None
        plain = _COMMENT.sub(lambda found: found[1] or b" ", text[:-1]).strip()
        if not plain:
            return
        if _WORD_ONLY.fullmatch(plain):
            self._graph = _LOST
            self._reject("a graph needs a name after GRAPH", item)
            return
        match = _LABEL.search(plain, max(0, len(plain) - _MAX_LABEL))
        if before := plain[: match.start()].strip() if match else plain:
            # As after a forgotten dot: what stands before the name is no part of it.
            self._rejections.reject("a graph's name must stand alone", line=item.line, column=self._at(item), text=before)
        self._graph = self._named(match["label"], item) if match else _LOST

    def _named(self, label: bytes, item: _Item) -> GraphName | _Lost:
        if label.startswith(b"["):
            return self._scope.anonymous()
        try:
            return self._prologue.graph_name(label, self._scope)
        except DataError as error:
            self._reject_fault(error, item)
            return _LOST

    # Triples

    def _flush(self) -> Iterator[Event]:
        """The statements that wait, parsed together if they are all good."""
        items, self._waiting = self._waiting, []
        if len(items) < 2 or isinstance(self._graph, _Lost):
            for item in items:
                yield from self._read_alone(item)
            return
        parts = [self._sentence_text(item) for item in items]
        try:
            groups = _split(self._prologue.statements(parts, _MARK_TEXT, self._scope))
        except DataError:
            groups = []
        if len(groups) == len(items):
            for item, group in zip(items, groups, strict=True):
                yield from self._statement(group, item)
            return
        for item in items:
            yield from self._read_alone(item)

    def _read_alone(self, item: _Item) -> Iterator[Event]:
        if isinstance(self._graph, _Lost):
            self._reject("the name of its graph is malformed", item)
            return
        try:
            quads = self._prologue.statement(self._sentence_text(item), self._scope)
        except DataError as error:
            self._reject_fault(error, item)
            return
        yield from self._statement(quads, item)

    def _sentence_text(self, item: _Item) -> bytes:
        text = self._buffer[item.start : item.end]
        # The last triples of a graph need no dot before the brace.
        return text + b"\n." if self._buffer[item.end : item.end + 1] == b"}" and not text.endswith(b".") else text

    def _statement(self, quads: list[Quad], item: _Item) -> Iterator[Event]:
        graph = self._graph
        assert not isinstance(graph, _Lost)
        if graph is not None:
            quads = [Quad(quad.subject, quad.predicate, quad.object, graph) for quad in quads]
        self._begun = True
        yield Statement(quads, item.line)

    # Places

    def _forget(self) -> None:
        """Drop the text that was read, keeping count of the columns of its last line."""
        self._column = self._column_at(self._position)
        self._buffer = self._buffer[self._position :]
        self._position = 0

    def _move(self, size: int) -> None:
        """Drop so much of a buffer that begins where reading is."""
        self._line += self._buffer.count(b"\n", 0, size)
        self._position = size
        self._forget()

    def _forget_space(self) -> None:
        """Drop white space and comments, of which there is nothing else; of a comment that may go on, all but its sign."""
        comment = self._buffer.rfind(b"#", max(self._buffer.rfind(b"\n"), self._buffer.rfind(b"\r")) + 1)
        self._move(len(self._buffer))
        self._buffer = b"#" if comment >= 0 else b""

    def _column_at(self, position: int) -> int:
        line_start = self._buffer.rfind(b"\n", 0, position) + 1
        before = self._column if line_start == 0 else 0
        return before + len(self._buffer[line_start:position].decode("utf-8", "replace"))

    def _at(self, item: _Item) -> int:
        return self._column_at(item.start) + 1

    def _reject(self, reason: str, item: _Item) -> None:
        text = self._buffer[item.start : item.end]
        self._rejections.reject(reason, line=item.line, column=self._at(item), text=text)

    def _reject_fault(self, fault: DataError, item: _Item) -> None:
        text = self._buffer[item.start : item.end]
        line, column = place_of(fault, text, item.line, self._at(item))
        self._rejections.reject(fault.reason, line=line, column=column, text=text)


def _split(quads: list[Quad]) -> list[list[Quad]]:
    groups: list[list[Quad]] = [[]]
    for quad in quads:
        if quad.predicate == _MARK:
            groups.append([])
        else:
            groups[-1].append(quad)
    return groups
