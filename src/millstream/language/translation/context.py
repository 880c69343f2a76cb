"""What the translation of one query shares: its text, names, windows, fresh variables, warnings and errors."""

from __future__ import annotations

import re
from collections import Counter

from pyoxigraph import BlankNode, Variable

from millstream.errors import Place, QuerySyntaxError, UnsupportedQueryError
from millstream.language import algebra as a
from millstream.language.printer import Printer
from millstream.language.syntax import tree as s
from millstream.language.translation.iris import Names
from millstream.windows.durations import Duration, format_duration, parse_duration
from millstream.windows.kinds import StreamWindow, window_of
from millstream.windows.window import Clause, Takes, WindowKind

_VARIABLE = re.compile(r"[?$](\w+)")


class Context:
    """One query on its way from syntax to algebra."""

    def __init__(self, text: str, names: Names) -> None:
        self.text = text
        self.names = names
        self.warnings: list[a.Warning] = []
        self.named_windows: dict[str, StreamWindow] = {}
        self.used_windows: dict[StreamWindow, None] = {}
        self._taken = frozenset(_VARIABLE.findall(text))
        self._counts: Counter[str] = Counter()
        self._labels: dict[str, BlankNode] = {}

    @property
    def printer(self) -> Printer:
        return Printer(self.names.prefixes)

    def error(self, message: str, place: Place | None, suggestion: str | None = None) -> QuerySyntaxError:
        return QuerySyntaxError(message, text=self.text, place=place, suggestion=suggestion)

    def unsupported(self, what: str, place: Place | None, instead: str) -> UnsupportedQueryError:
        return UnsupportedQueryError(what, instead=instead, text=self.text, place=place)

    def warn(self, message: str, place: Place | None, legal: str = "") -> None:
        self.warnings.append(a.Warning(message, legal, place))

    # Names made here are numbered as they are needed, so that queries of the same structure have equal algebra.

    def fresh_blank_node(self, stem: str) -> BlankNode:
        """A variable no text can name: labels of the text begin with `b_`, those of templates with `t_`."""
        self._counts[stem] += 1
        return BlankNode(f"{stem}{self._counts[stem]}")

    def blank_node(self, label: str, prefix: str) -> BlankNode:
        """The blank node of a label in the text; brackets and collections, whose labels are made up, are numbered."""
        key = prefix + label
        if key not in self._labels:
            named = label.startswith("_:")
            self._labels[key] = (
                BlankNode(prefix + label[2:]) if named else self.fresh_blank_node("anon" if prefix == "b_" else "tanon")
            )
        return self._labels[key]

    def fresh_variable(self, stem: str) -> Variable:
        """A variable that the text does not use."""
        while True:
            self._counts[stem] += 1
            name = f"{stem}{self._counts[stem]}"
            if name not in self._taken:
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
        word, past, grid = clause.kind, clause.kind == "PAST", clause.grid
        if clause.until_past:
            raise self.unsupported(
                "A window that ends in the past (TO NOW - ...)", clause.place, "Let it end now: [NOW - 10s]."
            )
        if clause.count is not None:
            if clause.count < 1:
                raise self.error(f"{of}: {word} must be at least 1, got {clause.count}.", clause.place)
            return self._made(Clause(word, Takes.COUNT), clause, clause.count)
        if clause.length is None:
            return self._made(Clause(word, Takes.NOTHING), clause)
        lengths = [self._length(clause.length, "NOW -" if past else word, of, past)]
        if grid == "TUMBLING":
            lengths, grid = lengths * 2, "STEP"
        elif clause.grid_length is not None:
            lengths.append(self._length(clause.grid_length, grid or "", of, past))
        return self._made(Clause("RANGE" if past else word, Takes.LENGTH, grid), clause, *lengths)

    def _made(self, how: Clause, clause: s.WindowClause, *given: int) -> WindowKind:
        window = window_of(how, given)
        if window is None:
            alone, ranging = window_of(how._replace(grid=None), given[:1]), window_of(how._replace(word="RANGE"), given)
            instead = f"Write [{alone}], which answers on every change, or [{ranging}]."
            raise self.unsupported(f"{how.word} with {clause.grid}", clause.place, instead)
        return window

    def _length(self, written: s.DurationText, word: str, of: str, spelt_out: bool = False) -> int:
        """The milliseconds of a duration; only SPARQLstream spells its units out."""
        try:
            duration: Duration = parse_duration(written.text)
        except ValueError as error:
            shown = written.text if len(written.text) < 40 else written.text[:40] + "..."
            raise self.error(f"{of}: {word} {shown}: {error}.", written.place) from None
        if duration.ms < 1:
            raise self.error(f"{of}: {word} must be longer than 0, got {written.text}.", written.place)
        short = format_duration(duration.ms)
        if duration.rounded:
            self.warn(f"{written.text} is rounded up to whole milliseconds.", written.place, f"{word} {short}")
        elif duration.spelt_out and not spelt_out:
            self.warn(f"`{written.text}` is not a duration of these languages.", written.place, f"{word} {short}")
        return duration.ms
