r"""XPath's regular expressions (fn:matches, fn:replace), parsed.

`\s \d \w \i \c \p{..}` and their opposites are XPath's sets of characters (`\w` is without the underscore); classes may be
subtracted, `[a-z-[aeiou]]`; the flag x removes white space outside of classes; `{,3}`, `*+`, lookaround, inline flags and
unknown escapes are errors. `(?:...)` and the flag q are taken from XPath 3, `\b` and `\B` from everybody else. Blocks such
as `\p{IsGreek}` are errors.

All sets are ranges of characters here, with subtraction and the flag i worked out as F&O 5.6.1.1 has it: the flag adds
case variants to characters and ranges as written, not to `\p{Lu}`, and before a class is negated. So no engine needs to
know anything of XPath, Unicode or case, and all agree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import TypeAlias

from millstream.operators.expressions.regex import characters
from millstream.operators.expressions.regex.characters import Ranges, complement
from millstream.operators.expressions.values.values import ExpressionError

DEEPEST = 200
"""How deep groups and classes nest at most, so that walks over a pattern may recurse."""

LONGEST = 50_000
"""How many characters a pattern has at most."""


class Place(IntEnum):
    """Where a match may be, without taking a character."""

    START = 0
    END = 1
    LINE_START = 2
    """Behind a newline as well, unless it is the last character."""
    LINE_END = 3
    WORD_EDGE = 4
    NO_WORD_EDGE = 5


@dataclass(frozen=True, slots=True)
class Set:
    """One character of these."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class At:
    place: Place


@dataclass(frozen=True, slots=True)
class Reference:
    """What a group took, nothing if it took no part."""

    group: int
    any_case: bool


@dataclass(frozen=True, slots=True)
class Group:
    inner: Node
    number: int
    """0 for one that is not captured."""


@dataclass(frozen=True, slots=True)
class Repeat:
    inner: Node
    least: int
    most: int | None
    lazy: bool


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    branches: tuple[Node, ...]


Node: TypeAlias = Set | At | Reference | Group | Repeat | Sequence | Choice


@dataclass(frozen=True, slots=True)
class Pattern:
    node: Node
    groups: int


_SINGLE = {"n": "\n", "r": "\r", "t": "\t"} | {c: c for c in "\\|.-^?*+{}()[]$"}
_QUANTITY = re.compile(r"\{([0-9]{1,9})(?:(,)([0-9]{0,9}))?\}")
_CATEGORY = re.compile(r"\{([A-Z][a-z]?)\}")
_DIGITS = frozenset("0123456789")
_NOT_NEWLINE = complement(((10, 10),))
_ANYTHING = complement(())


def parse(pattern: str, flags: str) -> Pattern:
    """The pattern; an ExpressionError for what XPath does not allow."""
    if set(flags) - set("smixq") or len(pattern) > LONGEST:
        raise ExpressionError
    if "q" in flags:
        return Pattern(Sequence(tuple(_single(c, "i" in flags) for c in pattern)), 0)
    return _Parser(pattern, flags).result()


@lru_cache(maxsize=4096)
def _single(char: str, any_case: bool) -> Set:
    own = ((ord(char), ord(char)),)
    return Set(characters.with_case_variants(own) if any_case else own)


class _Open:
    """A group that is not closed yet."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.branches: list[Node] = []
        self.parts: list[Node] = []

    def node(self) -> Node:
        last = Sequence(tuple(self.parts))
        return Choice((*self.branches, last)) if self.branches else last


class _Parser:
    """One pass over a pattern."""

    def __init__(self, pattern: str, flags: str) -> None:
        self.pattern = pattern
        self.flags = flags
        self.any_case = "i" in flags
        self.at = 0
        self.groups = 0
        self.open = [_Open(0)]
        self.closed: set[int] = set()

    def result(self) -> Pattern:
        while self.at < len(self.pattern):
            self._piece()
        (whole,) = self.open if len(self.open) == 1 else (None,)
        if whole is None:
            raise ExpressionError
        return Pattern(whole.node(), self.groups)

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _piece(self) -> None:
        char = self.pattern[self.at]
        self.at += 1
        multiline = "m" in self.flags
        match char:
            case " " | "\t" | "\n" | "\r" if "x" in self.flags:
                pass
            case "(":
                self._open_group()
            case ")":
                if len(self.open) == 1:
                    raise ExpressionError
                closed = self.open.pop()
                self.closed.add(closed.number)
                self._add(Group(closed.node(), closed.number))
            case "|":
                branch = self.open[-1]
                branch.branches.append(Sequence(tuple(branch.parts)))
                branch.parts = []
            case "^":
                self._add_place(Place.LINE_START if multiline else Place.START)
            case "$":
                self._add_place(Place.LINE_END if multiline else Place.END)
            case "?" | "*" | "+" | "{" | "}" | "]":
                raise ExpressionError
            case ".":
                self._add(Set(_ANYTHING if "s" in self.flags else _NOT_NEWLINE))
            case "[":
                self._add(Set(self._class(1)))
            case "\\":
                self._escape()
            case _:
                self._add(_single(char, self.any_case))

    def _add(self, node: Node) -> None:
        """Adds what may have a quantifier."""
        self.open[-1].parts.append(self._quantified(node))

    def _add_place(self, place: Place) -> None:
        self.open[-1].parts.append(At(place))

    def _open_group(self) -> None:
        if len(self.open) > DEEPEST:
            raise ExpressionError
        if self._peek() == "?":
            if self.pattern[self.at : self.at + 2] != "?:":
                raise ExpressionError
            self.at += 2
            self.open.append(_Open(0))
            return
        self.groups += 1
        self.open.append(_Open(self.groups))

    def _quantified(self, node: Node) -> Node:
        self._skip_blanks()
        char = self._peek()
        least, most = 0, None
        if char in ("?", "*", "+"):
            self.at += 1
            least, most = int(char == "+"), 1 if char == "?" else None
        elif char == "{":
            found = _QUANTITY.match(self.pattern, self.at)
            if found is None:
                raise ExpressionError
            self.at = found.end()
            least = int(found[1])
            most = int(found[3]) if found[3] else None if found[2] else least
            if most is not None and most < least:
                raise ExpressionError
        else:
            return node
        self._skip_blanks()
        lazy = self._peek() == "?"
        self.at += lazy
        return Repeat(node, least, most, lazy)

    def _skip_blanks(self) -> None:
        while "x" in self.flags and self._peek() in (" ", "\t", "\n", "\r"):
            self.at += 1

    def _escape(self) -> None:
        char = self._peek()
        if char in ("b", "B"):
            self.at += 1
            self._add_place(Place.WORD_EDGE if char == "b" else Place.NO_WORD_EDGE)
        elif char in _DIGITS and char != "0":
            self._add(Reference(self._group_number(), self.any_case))
        else:
            single, ranges = self._escaped()
            self._add(_single(single, self.any_case) if ranges is None else Set(ranges))

    def _group_number(self) -> int:
        """As many digits as there are groups for."""
        end = self.at + 1
        while self.pattern[end : end + 1] in _DIGITS and int(self.pattern[self.at : end + 1]) <= self.groups:
            end += 1
        number = int(self.pattern[self.at : end])
        self.at = end
        if number not in self.closed:
            raise ExpressionError
        return number

    def _escaped(self) -> tuple[str, Ranges | None]:
        """What follows a backslash: one character, or several as ranges."""
        char = self._peek()
        self.at += 1
        if char in _SINGLE:
            return _SINGLE[char], None
        named: Ranges | None = None
        match char.lower():
            case "s":
                named = characters.SPACE
            case "i":
                named = characters.NAME_START
            case "c":
                named = characters.NAME
            case "d":
                named = characters.digit()
            case "w":
                named = characters.word()
            case "p" if found := _CATEGORY.match(self.pattern, self.at):
                named = characters.category(found[1])
                self.at = found.end()
        if named is None:
            raise ExpressionError
        return "", complement(named) if char.isupper() else named

    def _class(self, depth: int) -> Ranges:
        """From behind `[` to behind `]`, without what is subtracted."""
        if depth > DEEPEST:
            raise ExpressionError
        negated = self._peek() == "^"
        self.at += negated
        ranges: list[tuple[int, int]] = []
        subtracted: Ranges = ()
        first = True
        while True:
            char = self._peek()
            if not char:
                raise ExpressionError
            self.at += 1
            if char == "]":
                if first:
                    raise ExpressionError
                break
            if char == "-" and not first and self._peek() == "[":
                self.at += 1
                subtracted = self._class(depth + 1)
                if self._peek() != "]":
                    raise ExpressionError
                self.at += 1
                break
            first = False
            ranges.extend(self._class_member(char))
        found = complement(ranges) if negated else characters.merged(ranges)
        return characters.without(found, subtracted) if subtracted else found

    def _class_member(self, char: str) -> Ranges:
        if char == "[":
            raise ExpressionError
        if char == "\\":
            char, several = self._escaped()
            if several is not None:
                return several
        last = char
        if self._peek() == "-" and self.pattern[self.at + 1 : self.at + 2] not in ("]", "[", ""):
            self.at += 1
            last = self._peek()
            self.at += 1
            if last == "\\":
                last, several = self._escaped()
                if several is not None:
                    raise ExpressionError
        if last < char:
            raise ExpressionError
        ranges = ((ord(char), ord(last)),)
        return characters.with_case_variants(ranges) if self.any_case else ranges
