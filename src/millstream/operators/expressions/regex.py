r"""XPath's regular expressions (fn:matches, fn:replace) as Python's.

What differs between the two and is translated: `$` is only the very end; `^` and `$` with the flag m follow newlines
but not a last one; `\s \d \w \i \c \p{..}` and their opposites are XPath's sets of characters (`\w` is without the
underscore); classes may be subtracted, `[a-z-[aeiou]]`; the flag x removes white space outside of classes; `{,3}`,
`*+`, lookaround, inline flags and unknown escapes are errors. `(?:...)` and the flag q are taken from XPath 3, `\b` and
`\B` from everybody else.

What differs and is not translated: blocks such as `\p{IsGreek}` are errors; with the flag i Python's simple case
folding decides; a pattern that backtracks exponentially does so here.
"""

from __future__ import annotations

import re
from functools import lru_cache

from millstream.operators.expressions import characters
from millstream.operators.expressions.characters import Ranges, complement
from millstream.operators.expressions.values import ExpressionError

_SINGLE = {"n": "\n", "r": "\r", "t": "\t"} | {c: c for c in "\\|.-^?*+{}()[]$"}
_QUANTITY = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_CATEGORY = re.compile(r"\{([A-Z][a-z]?)\}")


@lru_cache(maxsize=1024)
def compiled(pattern: str, flags: str) -> re.Pattern[str]:
    """The Python pattern; an ExpressionError for what XPath does not allow."""
    if set(flags) - set("smixq"):
        raise ExpressionError
    python_flags = re.IGNORECASE if "i" in flags else 0
    if "q" in flags:
        return re.compile(re.escape(pattern), python_flags)
    try:
        return re.compile(_Translation(pattern, flags).result(), python_flags)
    except (re.error, OverflowError, RecursionError):
        raise ExpressionError from None


def matches(text: str, pattern: str, flags: str = "") -> bool:
    return compiled(pattern, flags).search(text) is not None


def replace(text: str, pattern: str, replacement: str, flags: str = "") -> str:
    """fn:replace. A pattern that matches the empty string is an error, as is an escape or `$` out of place."""
    expression = compiled(pattern, flags)
    if expression.search("") is not None:
        raise ExpressionError
    if "q" in flags:
        return expression.sub(lambda _: replacement, text)
    parts = _replacement(replacement, expression.groups)
    return expression.sub(lambda m: "".join(p if isinstance(p, str) else m[p] or "" for p in parts), text)


@lru_cache(maxsize=1024)
def _replacement(text: str, groups: int) -> tuple[str | int, ...]:
    """Text and numbers of groups; a group that the pattern does not have is empty."""
    parts: list[str | int] = []
    at = 0
    while at < len(text):
        char, following = text[at], text[at + 1 : at + 2]
        if char == "\\":
            if following not in ("\\", "$"):
                raise ExpressionError
            parts.append(following)
            at += 2
        elif char == "$":
            if not following or following not in "0123456789":
                raise ExpressionError
            end = at + 2
            # $12 is group 12 if there is one, else group 1 and the text 2.
            while text[end : end + 1] in tuple("0123456789") and int(text[at + 1 : end + 1]) <= groups:
                end += 1
            number = int(text[at + 1 : end])
            parts.append(number if number <= groups else "")
            at = end
        else:
            parts.append(char)
            at += 1
    return tuple(parts)


class _Translation:
    """One pass over a pattern."""

    def __init__(self, pattern: str, flags: str) -> None:
        self.pattern = pattern
        self.flags = flags
        self.at = 0
        self.opened = 0
        self.open: list[int] = []
        self.closed: set[int] = set()

    def result(self) -> str:
        parts = []
        while self.at < len(self.pattern):
            parts.append(self._piece())
        if self.open:
            raise ExpressionError
        return "".join(parts)

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _piece(self) -> str:
        char = self.pattern[self.at]
        self.at += 1
        if char in " \t\n\r" and "x" in self.flags:
            return ""
        match char:
            case "(":
                return self._group()
            case ")":
                if not self.open:
                    raise ExpressionError
                self.closed.add(self.open.pop())
                return ")" + self._quantifier()
            case "|":
                return "|"
            case "^":
                return r"(?:\A|(?<=\n)(?!\Z))" if "m" in self.flags else r"\A"
            case "$":
                return r"(?=\n|\Z)" if "m" in self.flags else r"\Z"
            case "?" | "*" | "+" | "{" | "}" | "]":
                raise ExpressionError
            case ".":
                return ("(?s:.)" if "s" in self.flags else r"[^\n]") + self._quantifier()
            case "[":
                return self._class() + self._quantifier()
            case "\\":
                return self._escape()
            case _:
                return re.escape(char) + self._quantifier()

    def _group(self) -> str:
        if self._peek() == "?":
            if self.pattern[self.at : self.at + 2] != "?:":
                raise ExpressionError
            self.at += 2
            self.open.append(0)
            return "(?:"
        self.opened += 1
        self.open.append(self.opened)
        return "("

    def _quantifier(self) -> str:
        self._skip_blanks()
        char = self._peek()
        if char in ("?", "*", "+"):
            self.at += 1
            quantity = char
        elif char == "{":
            found = _QUANTITY.match(self.pattern, self.at)
            if found is None:
                raise ExpressionError
            self.at = found.end()
            quantity = found[0]
        else:
            return ""
        self._skip_blanks()
        if self._peek() == "?":
            self.at += 1
            quantity += "?"
        return quantity

    def _skip_blanks(self) -> None:
        while "x" in self.flags and self._peek() in (" ", "\t", "\n", "\r"):
            self.at += 1

    def _escape(self) -> str:
        char = self._peek()
        if char and char in "123456789":
            return self._back_reference() + self._quantifier()
        if char and char in "bB":
            self.at += 1
            return "\\" + char
        single, ranges = self._escaped()
        return (re.escape(single) if ranges is None else _class_text(ranges)) + self._quantifier()

    def _back_reference(self) -> str:
        end = self.at + 1
        while self.pattern[end : end + 1] in tuple("0123456789") and int(self.pattern[self.at : end + 1]) <= self.opened:
            end += 1
        number = int(self.pattern[self.at : end])
        self.at = end
        if number not in self.closed:
            raise ExpressionError
        # A group that took no part in the match is the empty string to XPath.
        return f"(?:(?({number})\\{number}))"

    def _escaped(self) -> tuple[str, Ranges | None]:
        """What follows a backslash: one character, or several as ranges."""
        char = self._peek()
        self.at += 1
        if char in _SINGLE:
            return _SINGLE[char], None
        named = {
            "s": characters.SPACE,
            "i": characters.NAME_START,
            "c": characters.NAME,
        }.get(char.lower())
        if char.lower() == "d":
            named = characters.digit()
        elif char.lower() == "w":
            named = characters.word()
        elif char.lower() == "p":
            found = _CATEGORY.match(self.pattern, self.at)
            named = characters.category(found[1]) if found else None
            self.at = found.end() if found else self.at
        if not char or named is None:
            raise ExpressionError
        return "", complement(named) if char.isupper() else named

    def _class(self) -> str:
        """From behind `[` to behind `]`, a subtracted class included."""
        negated = self._peek() == "^"
        self.at += negated
        ranges: list[tuple[int, int]] = []
        subtracted = ""
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
                subtracted = self._class()
                if self._peek() != "]":
                    raise ExpressionError
                self.at += 1
                break
            first = False
            ranges.extend(self._class_member(char))
        text = _class_text(complement(ranges) if negated else characters.merged(ranges))
        return f"(?:(?!{subtracted}){text})" if subtracted else text

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
        return ((ord(char), ord(last)),)


def _class_text(ranges: Ranges) -> str:
    if not ranges:
        return r"(?!)"
    inside = "".join(
        re.escape(chr(first)) if first == last else f"{re.escape(chr(first))}-{re.escape(chr(last))}"
        for first, last in ranges
    )
    return f"[{inside}]"
