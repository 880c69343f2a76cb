"""Regular expressions for the engines that run them: as text of RE2, and as programs of `kernels.rows.backtracking`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from millstream.kernels.rows.backtracking import OPERATIONS, Backtracker
from millstream.operators.expressions.regex.characters import Ranges
from millstream.operators.expressions.regex.syntax import (
    At,
    Choice,
    Group,
    Node,
    Pattern,
    Place,
    Reference,
    Repeat,
    Sequence,
    Set,
)
from millstream.operators.expressions.values.values import ExpressionError

_LINEAR = {
    Place.START: r"\A",
    Place.END: r"\z",
    Place.LINE_START: "(?m:^)",
    Place.LINE_END: "(?m:$)",
    Place.WORD_EDGE: r"\b",
    Place.NO_WORD_EDGE: r"\B",
}
_QUANTITIES = {(0, None): "*", (1, None): "+", (0, 1): "?"}
_SURROGATES = 0xD800, 0xDFFF
_MOST_ROWS = 20_000
_CHAR, _SET, _SPLIT, _JUMP, _SAVE, _AT, _SAME, _ENTER, _MOVED, _MATCH = (
    OPERATIONS[name] for name in ("CHAR", "SET", "SPLIT", "JUMP", "SAVE", "AT", "SAME", "ENTER", "MOVED", "MATCH")
)


def parts(node: Node) -> Iterator[Node]:
    """A node and all below it."""
    yield node
    match node:
        case Group(inner, _) | Repeat(inner):
            yield from parts(inner)
        case Sequence(inside) | Choice(inside):
            for part in inside:
                yield from parts(part)


# As text.


def linear_text(node: Node) -> str:
    r"""A pattern without references in the syntax of RE2.

    Its `\b` and `\B` are those of ASCII, and `^` with the flag m is behind a last newline as well: see `regex`.
    """
    match node:
        case Set(ranges):
            return _set_text(ranges)
        case At(place):
            return _LINEAR[place]
        case Group(inner, number):
            return f"({'' if number else '?:'}{linear_text(inner)})"
        case Repeat(inner, least, most, lazy):
            quantity = _QUANTITIES.get((least, most)) or f"{{{least},{'' if most is None else most}}}"
            return f"(?:{linear_text(inner)}){quantity}{'?' if lazy else ''}"
        case Sequence(inside):
            return "".join(map(linear_text, inside))
        case Choice(branches):
            return f"(?:{'|'.join(map(linear_text, branches))})"
        case Reference():
            raise ValueError("no automaton has references")


def _set_text(ranges: Ranges) -> str:
    inside = "".join(
        _escaped(first) if first == last else f"{_escaped(first)}-{_escaped(last)}" for first, last in _scalar(ranges)
    )
    if not inside:
        return "[^\\x00-\U0010ffff]"
    return inside if len(ranges) == 1 and ranges[0][0] == ranges[0][1] else f"[{inside}]"


def _scalar(ranges: Ranges) -> Iterator[tuple[int, int]]:
    """Without surrogates, which no text has and UTF-8 cannot spell."""
    low, high = _SURROGATES
    for first, last in ranges:
        if last < low or first > high:
            yield first, last
        else:
            if first < low:
                yield first, low - 1
            if last > high:
                yield high + 1, last


def _escaped(point: int) -> str:
    return f"\\x{point:02x}" if point < 0x80 and not chr(point).isalnum() else chr(point)


# As programs.


def bounded_program(pattern: Pattern) -> Backtracker:
    """The program of any pattern; an ExpressionError if it is too long, as numbers behind characters make it."""
    writer = _Writer()
    writer.add(_SAVE, 0)
    writer.write(pattern.node)
    writer.add(_SAVE, 1)
    writer.add(_MATCH)
    program = np.array(writer.rows, np.int32)
    ranges = np.array(writer.ranges, np.int32).reshape(-1, 2)
    return Backtracker(program, ranges, pattern.groups, writer.marks)


class _Writer:
    def __init__(self) -> None:
        self.rows: list[list[int]] = []
        self.ranges: list[tuple[int, int]] = []
        self.marks = 0
        self._visits = 0
        self._sets: dict[Ranges, tuple[int, int]] = {}

    def add(self, operation: int, x: int = 0, y: int = 0) -> int:
        self.rows.append([operation, x, y])
        return len(self.rows) - 1

    def write(self, node: Node) -> None:
        self._visits += 1
        if self._visits > _MOST_ROWS or len(self.rows) > _MOST_ROWS:
            raise ExpressionError
        match node:
            case Set(((first, last),)) if first == last:
                self.add(_CHAR, first)
            case Set(ranges):
                self.add(_SET, *self._set(ranges))
            case At(place):
                self.add(_AT, place)
            case Group(inner, number):
                self._group(inner, number)
            case Repeat(inner, least, most, lazy):
                self._repeat(inner, least, most, lazy)
            case Sequence(inside):
                for part in inside:
                    self.write(part)
            case Choice(branches):
                self._choice(branches)
            case Reference(group, any_case):
                self.add(_SAME, group, any_case)

    def _set(self, ranges: Ranges) -> tuple[int, int]:
        found = self._sets.get(ranges)
        if found is None:
            found = self._sets[ranges] = len(self.ranges), len(self.ranges) + len(ranges)
            self.ranges += ranges
        return found

    def _group(self, inner: Node, number: int) -> None:
        if number:
            self.add(_SAVE, 2 * number)
        self.write(inner)
        if number:
            self.add(_SAVE, 2 * number + 1)

    def _choice(self, branches: tuple[Node, ...]) -> None:
        jumps = []
        for branch in branches[:-1]:
            split = self._split()
            self.write(branch)
            jumps.append(self.add(_JUMP))
            self._exits([split], lazy=False)
        self.write(branches[-1])
        for jump in jumps:
            self.rows[jump][1] = len(self.rows)

    def _repeat(self, inner: Node, least: int, most: int | None, lazy: bool) -> None:
        for _ in range(least if most is not None else least - 1):
            self.write(inner)
        if most is not None:
            exits = []
            for _ in range(most - least):
                exits.append(self._split())
                self.write(inner)
            self._exits(exits, lazy)
            return
        # Rounds of a loop must take something, or it would not end.
        mark = None if isinstance(inner, Set) else self.marks
        self.marks += mark is not None
        before = [self._split()] if least == 0 else []
        start = len(self.rows)
        if mark is not None:
            self.add(_ENTER, mark)
        self.write(inner)
        again = self._split()
        if mark is not None:
            self.add(_MOVED, mark)
        self.add(_JUMP, start)
        self._exits([*before, again], lazy)

    def _split(self) -> int:
        """A choice between the next row and one that `_exits` names."""
        return self.add(_SPLIT, len(self.rows) + 1)

    def _exits(self, splits: list[int], lazy: bool) -> None:
        for split in splits:
            inside, outside = split + 1, len(self.rows)
            self.rows[split][1:] = (outside, inside) if lazy else (inside, outside)
