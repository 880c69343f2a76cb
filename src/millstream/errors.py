"""Everything millstream raises on purpose.

    MillstreamError
    ├── QueryError                  something is wrong with a query; has its place
    │   ├── QuerySyntaxError        the text is not a query
    │   └── UnsupportedQueryError   it is a query, but millstream does not run it
    ├── DataError                   input that cannot be read; has source and place
    ├── LateElementError            an element came too late, where lateness is strict
    ├── PendingLimitError           emissions nobody took would exceed `max_pending`
    ├── ChangeLimitError            a query makes too many rows of what comes at once
    ├── SnapshotError               bytes that are not a snapshot of this version
    ├── StorageError                output, checkpoint or state that could not be written: a full disk
    ├── ConnectError                a broker or server that does not answer, or lacks what is asked of it
    ├── JavaMissingError            Spark is to be started, and there is no Java for it
    └── OptionError                 an argument or option with a value it cannot have

Each names the thing, what was found, where, and what to do about it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a text: offsets for programs, line and column (from 1) for people."""

    start: int
    end: int
    line: int
    column: int


class MillstreamError(Exception):
    """The root of all errors raised on purpose."""


class QueryError(MillstreamError):
    """Something is wrong with a query, at a place in its text."""

    def __init__(self, message: str, *, text: str = "", place: Place | None = None) -> None:
        self.message = message
        self.place = place
        self.line = place.line if place else None
        self.column = place.column if place else None
        self.source_line = _line_of(text, place.line) if place else ""
        super().__init__(self._render())

    def _render(self) -> str:
        if self.place is None:
            return self.message
        head = f"line {self.place.line}, column {self.place.column}: {self.message}"
        if not self.source_line.strip():
            return head
        # Tabs are kept in front of the caret, so that it stands below the right character however wide they are.
        indent = "".join("\t" if c == "\t" else " " for c in self.source_line[: self.place.column - 1])
        return f"{head}\n  {self.source_line}\n  {indent}^"


class QuerySyntaxError(QueryError):
    """The text is not a query; `expected` lists what could have stood at the place, `suggestion` the likely fix."""

    def __init__(
        self,
        message: str,
        *,
        text: str = "",
        place: Place | None = None,
        expected: tuple[str, ...] = (),
        suggestion: str | None = None,
    ) -> None:
        self.expected = expected
        self.suggestion = suggestion
        super().__init__(message, text=text, place=place)


class UnsupportedQueryError(QueryError):
    """A legal query that millstream does not run: `what` is refused, `instead` says what to write."""

    def __init__(self, what: str, *, instead: str, text: str = "", place: Place | None = None) -> None:
        self.what = what
        self.instead = instead
        super().__init__(f"{what} is not supported. {instead}", text=text, place=place)


class DataError(MillstreamError):
    """Input that cannot be read."""

    def __init__(
        self, reason: str, *, source: str = "", line: int | None = None, column: int | None = None, text: str = ""
    ) -> None:
        self.reason = reason
        self.source = source
        self.line = line
        self.column = column
        self.text = text
        place = [source] if source else []
        if line is not None:
            place.append(f"line {line}" if column is None else f"line {line}, column {column}")
        super().__init__(": ".join([*place, reason]))


class LateElementError(MillstreamError):
    """An element or change came at or before a time that had already passed, and lateness is strict."""


class PendingLimitError(MillstreamError):
    """A call would have left more answers waiting than `max_pending`; it changed nothing."""


class ChangeLimitError(MillstreamError):
    """A query made more rows of what came at once than `change_rows`; if not while it was registered, the engine stops."""


class SnapshotError(MillstreamError):
    """The bytes given to restore are not a snapshot that this version can read."""


class StorageError(MillstreamError):
    """Something could not be written, mostly because the disk is full; nothing that was written in part counts."""


class ConnectError(MillstreamError):
    """A broker or server does not answer, refuses, or no longer has what is to be read next."""


class JavaMissingError(MillstreamError):
    """Spark was to be started, and no Java that it can run on was found."""


class OptionError(MillstreamError, ValueError):
    """An argument or option was given a value it cannot have."""


def _line_of(text: str, line: int) -> str:
    lines = text.split("\n")
    return lines[line - 1].rstrip("\r") if 0 < line <= len(lines) else ""
