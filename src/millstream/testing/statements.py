"""The statements of a SPEC: a line that begins at its margin, with the indented lines behind it, read word by word.

Invariant: every complaint is a DataError with the file, the line and the column that it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, NoReturn

from millstream.errors import DataError, OptionError, QueryError

_WORD = re.compile(r'[ \t]*("[^"]*"|[^\s]+)')
_NOTHING = re.compile(r"\s*(#.*)?")
# The parts of Turtle inside of which white space does not end a term.
_STRINGS = r'"""(?:[^"\\]|\\.|"(?!""))*"""|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\''
_PART = re.compile(rf"{_STRINGS}|<[^>\s]*>|\s+(?P<end>#|\?\w+\s*=)|.")
_NAME = re.compile(r"\s*\?(\w+)\s*=\s*")


class Text(NamedTuple):
    """A stretch of a SPEC and where it stands."""

    text: str
    line: int
    column: int

    @property
    def padded(self) -> str:
        """With as many spaces in front that columns are those of the SPEC."""
        return " " * (self.column - 1) + self.text


class Statement:
    """One statement, read from its first word on."""

    def __init__(self, source: str, line: int, lines: list[str]) -> None:
        self._source = source
        self._lines = lines
        self._column = 0
        self.line = line

    # Reading ----------------------------------------------------------------------------------------------------------

    def word(self, expected: str) -> Text:
        """The next word of the first line."""
        match = _WORD.match(self._lines[0], self._column)
        if match is None or match[1].startswith("#"):
            self.complain(f"found the end of the line, expected {expected}", self.here)
        self._column = match.end()
        return Text(match[1], self.line, match.start(1) + 1)

    def has_more(self) -> bool:
        """Whether more stands on the first line."""
        return _NOTHING.fullmatch(self._lines[0], self._column) is None

    def takes(self, word: str) -> bool:
        """Whether the next word is this one, which is then read."""
        match = _WORD.match(self._lines[0], self._column)
        if match is None or match[1].lower() != word:
            return False
        self._column = match.end()
        return True

    def end(self) -> None:
        """Nothing else may follow."""
        if self.has_more():
            found = self.word("")
            self.complain(f"found `{found.text}`, expected the end of the line", found)
        for number, line in enumerate(self._lines[1:], 1):
            if not _NOTHING.fullmatch(line):
                at = Text("", self.line + number, len(line) - len(line.lstrip()) + 1)
                self.complain(f"an indented line, but `{self._lines[0].split()[0]}` takes none", at)

    def rest(self) -> Text:
        """What is left, with the indented lines."""
        first = self._lines[0][self._column :]
        return Text("\n".join([first, *self._lines[1:]]), self.line, self._column + 1)

    def indented(self) -> Text:
        """The indented lines alone; the first line must end here."""
        if self.has_more():
            found = self.word("")
            self.complain(f"found `{found.text}`, expected the end of the line", found)
        return Text("\n".join(self._lines[1:]), self.line + 1, 1)

    def answers(self) -> Iterator[Text]:
        """What is left of each line that says something."""
        for number, line in enumerate(self._lines):
            column = self._column if number == 0 else 0
            if not _NOTHING.fullmatch(line, column):
                column += len(line[column:]) - len(line[column:].lstrip())
                yield Text(line[column:].rstrip(), self.line + number, column + 1)

    @property
    def here(self) -> Text:
        return Text("", self.line, self._column + 1)

    # Complaints -------------------------------------------------------------------------------------------------------

    def complain(self, reason: str, at: Text) -> NoReturn:
        """Complaints of parsers may lie behind what they were given, at a dot that was put there."""
        line = min(at.line, self.line + len(self._lines) - 1)
        text = self._lines[line - self.line]
        raise DataError(reason, source=self._source, line=line, column=min(at.column, len(text) + 1), text=text)

    @contextmanager
    def placed(self, at: Text) -> Iterator[None]:
        """Places what is wrong with a text, which was read with its padding, in the SPEC."""
        try:
            yield
        except (DataError, QueryError) as error:
            reason = error.reason if isinstance(error, DataError) else error.message
            if isinstance(error, DataError) and error.source:
                reason = f"{error.source}: {reason}"
            line = at.line if error.line is None else at.line + error.line - 1
            column = at.column if error.column is None else max(error.column, at.column if line == at.line else 1)
            self.complain(reason, Text("", line, column))
        except OptionError as error:
            self.complain(str(error), at)


def statements(text: str, source: str) -> Iterator[Statement]:
    """The statements of a SPEC."""
    begun: tuple[int, list[str]] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.rstrip("\r")
        if not stripped.strip() or stripped.startswith("#"):
            if begun is not None:
                begun[1].append("")
        elif stripped[0] in " \t":
            if begun is None:
                column = len(stripped) - len(stripped.lstrip()) + 1
                reason = "an indented line belongs to a statement above it, and there is none"
                raise DataError(reason, source=source, line=number, column=column, text=stripped)
            begun[1].append(stripped)
        else:
            if begun is not None:
                yield Statement(source, *begun)
            begun = (number, [stripped])
    if begun is not None:
        yield Statement(source, *begun)


def bindings(answer: Text) -> Iterator[tuple[Text, Text]]:
    """The variables of `?room=:lab ?degrees=35` with the texts of their terms; what is none of that ends it, named ``."""
    place, text = 0, answer.text
    while place < len(text):
        name = _NAME.match(text, place)
        if name is None:
            if _NOTHING.fullmatch(text, place):
                return
            place += len(text[place:]) - len(text[place:].lstrip())
            yield Text("", answer.line, answer.column + place), Text(text[place:], answer.line, answer.column + place)
            return
        end = name.end()
        while end < len(text) and (part := _PART.match(text, end)) is not None and part["end"] is None:
            end = part.end()
        yield (
            Text(name[1], answer.line, answer.column + name.start(1) - 1),
            Text(text[name.end() : end].rstrip(), answer.line, answer.column + name.end()),
        )
        place = end
