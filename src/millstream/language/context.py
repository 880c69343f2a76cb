"""What the translation of one query shares: its text, names, windows, fresh variables, warnings and errors."""

from __future__ import annotations

from pyoxigraph import BlankNode, Variable

from millstream.errors import Place, QuerySyntaxError, UnsupportedQueryError
from millstream.language import algebra as a
from millstream.language import syntax as s
from millstream.language.iris import Names
from millstream.language.printer import Printer
from millstream.language.windows import (
    All,
    Duration,
    Elements,
    Event,
    Now,
    Range,
    Slide,
    Step,
    StreamWindow,
    Triples,
    WindowKind,
    parse_duration,
)


class Context:
    """One query on its way from syntax to algebra."""

    def __init__(self, text: str, names: Names) -> None:
        self.text = text
        self.names = names
        self.warnings: list[a.Warning] = []
        self.named_windows: dict[str, StreamWindow] = {}
        self.used_windows: dict[StreamWindow, None] = {}
        self._fresh = 0

    @property
    def printer(self) -> Printer:
        return Printer(self.names.prefixes)

    def error(self, message: str, place: Place | None, suggestion: str | None = None) -> QuerySyntaxError:
        return QuerySyntaxError(message, text=self.text, place=place, suggestion=suggestion)

    def unsupported(self, what: str, place: Place | None, instead: str) -> UnsupportedQueryError:
        return UnsupportedQueryError(what, instead=instead, text=self.text, place=place)

    def warn(self, message: str, place: Place | None, legal: str = "") -> None:
        self.warnings.append(a.Warning(message, legal, place))

    def fresh_blank_node(self) -> BlankNode:
        """A variable no text can name."""
        self._fresh += 1
        return BlankNode(f"step{self._fresh}")

    def fresh_variable(self, stem: str) -> Variable:
        """A variable that does not stand in the text."""
        while True:
            self._fresh += 1
            name = f"{stem}{self._fresh}"
            if name not in self.text:
                return Variable(name)

    # Windows --------------------------------------------------------------------------------------------------------

    def window(self, stream: s.IRI, clause: s.WindowClause, name: str | None = None) -> StreamWindow:
        """The window a clause describes, checked."""
        iri = self.names.resolve(stream)
        return StreamWindow(iri, self._kind(clause, f"window <{name}>" if name else f"window on <{iri.value}>"))

    def use(self, window: StreamWindow) -> StreamWindow:
        self.used_windows.setdefault(window)
        return window

    def _kind(self, clause: s.WindowClause, of: str) -> WindowKind:
        match clause.kind:
            case "RANGE" | "PAST":
                return self._range(clause, of)
            case "TRIPLES" | "ELEMENTS":
                assert clause.count is not None
                if clause.count < 1:
                    raise self.error(f"{of}: {clause.kind} must be at least 1, got {clause.count}.", clause.place)
                return Triples(clause.count) if clause.kind == "TRIPLES" else Elements(clause.count)
            case "NOW":
                return Now()
            case "EVENT":
                return Event()
            case _:
                return All()

    def _range(self, clause: s.WindowClause, of: str) -> WindowKind:
        if clause.until_past:
            raise self.unsupported(
                "A window that ends in the past (TO NOW - ...)", clause.place, "Let it end now: [NOW - 10s]."
            )
        assert clause.range is not None
        range_ms = self._length(clause.range, "RANGE", of)
        if clause.grid == "TUMBLING":
            return Step(range_ms, range_ms)
        if clause.grid_length is None:
            return Range(range_ms)
        length_ms = self._length(clause.grid_length, clause.grid or "", of)
        return Slide(range_ms, length_ms) if clause.grid == "SLIDE" else Step(range_ms, length_ms)

    def _length(self, written: s.DurationText, word: str, of: str) -> int:
        try:
            duration: Duration = parse_duration(written.text)
        except ValueError as error:
            raise self.error(f"{of}: {word} {written.text}: {error}.", written.place) from None
        if duration.ms < 1:
            raise self.error(f"{of}: {word} must be longer than 0, got {written.text}.", written.place)
        short = str(Range(duration.ms)).removeprefix("RANGE ")
        if duration.rounded:
            self.warn(f"{written.text} is rounded up to whole milliseconds.", written.place, f"{word} {short}")
        elif duration.spelt_out:
            self.warn(f"`{written.text}` is not a duration of these languages.", written.place, f"{word} {short}")
        return duration.ms
