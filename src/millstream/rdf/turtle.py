"""The reader of Turtle and TriG.

The text is cut into sentences, and the sentences of a graph are parsed together, behind the prefixes and base in force,
with a mark after each to tell whose quads are whose. Where the parser objects, each sentence is parsed alone, so that
exactly the bad ones are set aside. Memory holds a chunk of text, whatever the length of the file.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from typing import NamedTuple

from pyoxigraph import BlankNode, NamedNode, Quad, RdfFormat, parse

from millstream.errors import OptionError
from millstream.rdf.blanks import BlankScope
from millstream.rdf.element import Rejections
from millstream.rdf.faults import fault_of
from millstream.rdf.lines import ByteSource
from millstream.rdf.nesting import TOO_DEEP, triple_terms_too_deep
from millstream.rdf.sentences import Kind, Sentence, next_sentence
from millstream.rdf.statements import Event, Mark, Statement

CHUNK = 1 << 18

# Random, so that no data can contain it.
_MARK = NamedNode(f"x-mark:{secrets.token_hex(16)}")
_MARK_TEXT = f"\n{_MARK}{_MARK}{_MARK}.\n".encode()
_VERSION = re.compile(rb"""@?version\s*["'](?P<label>[^"']*)["']""", re.IGNORECASE)
_MESSAGE = re.compile(rb"@message[\s]*\.")
_LABEL = re.compile(
    rb"(?P<before>.*?)(?P<word>\bgraph\b)?\s*(?P<label><[^<>\s]*>|\[\s*\]|[^\s\[\]()<>]+)?\Z", re.I | re.S
)
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
) -> Iterator[Event]:
    """The statements of a Turtle text, or with `graphs` of a TriG text: a statement ends with a `.`."""
    try:
        list(parse(input=b"", format=RdfFormat.TURTLE, base_iri=base))
    except ValueError as error:
        raise OptionError(f"base: {error}") from None
    return _TurtleReader(source, scope, rejections, graphs, base, messages, chunk).read()


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
    ) -> None:
        self._source = source
        self._source_scope = scope
        self._scope = scope.next_document() if messages else scope
        self._rejections = rejections
        self._graphs = graphs
        self._messages = messages
        self._chunk = chunk
        self._begun = False
        # The prefixes as one line of text, and the base.
        self._prologue = b"\n"
        self._base = base
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
        wanted = self._chunk
        while True:
            sentence = next_sentence(
                self._buffer, self._position, ended=ended, in_graph=self._in_graph, graphs=self._graphs
            )
            match sentence.kind:
                case Kind.MORE:
                    yield from self._flush()
                    self._forget()
                    # Twice as much each time, or a long string would be scanned over and over.
                    piece = self._source.read(wanted)
                    wanted *= 2
                    ended = not piece
                    self._buffer += piece
                    continue
                case Kind.END:
                    yield from self._flush()
                    if self._in_graph:
                        self._rejections.reject("the text ends before the graph's }", line=self._line)
                    return
            wanted = self._chunk
            self._line += self._buffer.count(b"\n", self._position, sentence.start)
            yield from self._take(sentence)
            self._line += self._buffer.count(b"\n", sentence.start, sentence.end)
            self._position = sentence.end

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
            parser = parse(input=self._prologue + text, format=RdfFormat.TURTLE, base_iri=self._base)
            quads = list(parser)
        except (SyntaxError, ValueError) as error:
            self._reject_fault(error, item)
            return
        if quads:
            self._reject("not a directive", item)
            return
        self._base = parser.base_iri
        pairs = (f"@prefix {name}: <{iri}> . " for name, iri in parser.prefixes.items())
        self._prologue = "".join(pairs).encode() + b"\n"
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
        match = _LABEL.match(plain)
        assert match is not None  # it matches anything
        if before := match["before"].strip():
            # As after a forgotten dot: what stands before the name is no part of it.
            self._rejections.reject(
                "a graph's name must stand alone", line=item.line, column=self._at(item), text=before
            )
            self._graph = _LOST
        label = match["label"]
        if label is None and match["word"] is not None:
            # `GRAPH {` lacks a name, unless GRAPH itself was meant as one, which is no name either.
            self._graph = _LOST
            self._reject("a graph needs a name after GRAPH", item)
        elif label is not None:
            self._graph = self._named(label, item)

    def _named(self, label: bytes, item: _Item) -> GraphName | _Lost:
        if label.startswith(b"["):
            return self._scope.anonymous()
        text = self._prologue + label + b" <x:p> <x:o> ."
        try:
            quads = list(parse(input=text, format=RdfFormat.TURTLE, base_iri=self._base))
        except (SyntaxError, ValueError) as error:
            self._reject_fault(error, item)
            return _LOST
        subject = self._scope.rename(quads, text)[0].subject
        assert isinstance(subject, NamedNode | BlankNode)  # a label holds no triple term
        return subject

    # Triples

    def _flush(self) -> Iterator[Event]:
        """The statements that wait, parsed together if they are all good."""
        items, self._waiting = self._waiting, []
        if len(items) < 2 or isinstance(self._graph, _Lost):
            for item in items:
                yield from self._read_alone(item)
            return
        parts = [self._sentence_text(item) for item in items]
        text = self._prologue + _MARK_TEXT.join(parts)
        if not triple_terms_too_deep(text):
            try:
                quads = list(parse(input=text, format=RdfFormat.TURTLE, base_iri=self._base))
            except (SyntaxError, ValueError):
                quads = []
            groups = _split(self._scope.rename(quads, text))
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
        text = self._sentence_text(item)
        if triple_terms_too_deep(text):
            self._reject(TOO_DEEP, item)
            return
        try:
            quads = list(parse(input=self._prologue + text, format=RdfFormat.TURTLE, base_iri=self._base))
        except (SyntaxError, ValueError) as error:
            self._reject_fault(error, item)
            return
        yield from self._statement(self._scope.rename(quads, text), item)

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

    def _column_at(self, position: int) -> int:
        line_start = self._buffer.rfind(b"\n", 0, position) + 1
        before = self._column if line_start == 0 else 0
        return before + len(self._buffer[line_start:position].decode("utf-8", "replace"))

    def _at(self, item: _Item) -> int:
        return self._column_at(item.start) + 1

    def _reject(self, reason: str, item: _Item) -> None:
        text = self._buffer[item.start : item.end]
        self._rejections.reject(reason, line=item.line, column=self._at(item), text=text)

    def _reject_fault(self, error: Exception, item: _Item) -> None:
        fault = fault_of(error)
        line, column = item.line, self._at(item)
        if fault.line is not None and fault.line >= 2:  # the prologue is line 1
            below = min(fault.line - 2, self._buffer.count(b"\n", item.start, item.end))
            line += below
            column = (fault.column or 1) if below else column + (fault.column or 1) - 1
        text = self._buffer[item.start : item.end]
        self._rejections.reject(fault.reason, line=line, column=column, text=text)


def _split(quads: list[Quad]) -> list[list[Quad]]:
    groups: list[list[Quad]] = [[]]
    for quad in quads:
        if quad.predicate == _MARK:
            groups.append([])
        else:
            groups[-1].append(quad)
    return groups
