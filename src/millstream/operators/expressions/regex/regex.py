"""fn:matches and fn:replace, safe from patterns and texts that are made to take for ever.

RE2 runs patterns as automata: in time linear in the text whatever the pattern, in bounded memory. What it cannot is run by
`kernels.rows.backtracking`: references to groups, patterns that would be too large an automaton, and texts where RE2 means
something else than XPath. That counts steps and gives up; steps, not time, so that answers do not depend on the machine.

Both run the same parsed pattern (`regex_syntax`), and match the same texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache

import re2

from millstream.kernels.rows.backtracking import Backtracker, StepsSpentError
from millstream.operators.expressions.bounds import Bounds
from millstream.operators.expressions.regex.programs import bounded_program, linear_text, parts
from millstream.operators.expressions.regex.syntax import At, Pattern, Place, Reference, parse
from millstream.operators.expressions.values.values import ExpressionError

_PATTERNS = 32
"""How many patterns are remembered beside those that queries spell out. They may come from data."""
_LINEAR_BYTES = 2 << 20
"""What RE2 may use for one: its program, and the states of its automaton that it remembers."""
_STEPS = 5_000_000
_STEPS_A_CHARACTER = 50

Spans = tuple[int, ...]
"""Start and end of a match, then of its groups; -1 for one that took no part."""


@lru_cache(maxsize=_PATTERNS)
def compiled(pattern: str, flags: str) -> Regex:
    """The pattern, ready to run; an ExpressionError for what XPath does not allow, and for what no engine has room for."""
    return Regex(parse(pattern, flags), is_literal="q" in flags)


def replace(text: str, pattern: str, replacement: str, flags: str, bounds: Bounds) -> str:
    """fn:replace. A pattern that matches the empty string is an error, as is an escape or `$` out of place."""
    regex = compiled(pattern, flags)
    if regex.matches("", bounds):
        raise ExpressionError
    parts = (replacement,) if regex.is_literal else _replacement(replacement, regex.groups)
    return regex.replace(text, parts, bounds)


class Regex:
    def __init__(self, pattern: Pattern, is_literal: bool) -> None:
        self.groups = pattern.groups
        self.is_literal = is_literal
        self._pattern = pattern
        present = frozenset(parts(pattern.node))
        self._has_references = any(isinstance(part, Reference) for part in present)
        # Where RE2 means something else than XPath by a place.
        self._needs_ascii = not present.isdisjoint((At(Place.WORD_EDGE), At(Place.NO_WORD_EDGE)))
        self._minds_last_newline = At(Place.LINE_START) in present
        if self._test is None:
            self._bounded  # noqa: B018  what is too long for this one as well is an error for every text

    def matches(self, text: str, bounds: Bounds) -> bool:
        if self._test is not None and self._is_clear(text):
            return self._test(text.encode(), 0)[0][0] >= 0
        return next(self._bounded_matches(text, bounds), None) is not None

    def replace(self, text: str, replacement: tuple[str | int, ...], bounds: Bounds) -> str:
        """The text with every match replaced by strings and groups."""
        new = [part.encode() if isinstance(part, str) else part for part in replacement]
        found: Iterator[Spans]
        cut: Callable[[slice], bytes]
        if self._search is not None and self._is_clear(text):
            encoded = text.encode()
            found, cut = _linear_matches(self._search, encoded), encoded.__getitem__
        else:
            found, cut = self._bounded_matches(text, bounds), lambda span: text[span].encode()
        made, end = bytearray(), 0
        for spans in found:
            # Places are those of bytes or, in the other case, of characters, which are fewer: enough not to make too much.
            size = sum(len(p) if isinstance(p, bytes) else spans[2 * p + 1] - spans[2 * p] for p in new)
            bounds.check(len(made) + spans[0] - end + size)
            made += cut(slice(end, spans[0]))
            for part in new:
                made += part if isinstance(part, bytes) else cut(slice(max(spans[2 * part], 0), max(spans[2 * part + 1], 0)))
            end = spans[1]
        made += cut(slice(end, None))
        bounds.check(len(made))
        return made.decode()

    def _is_clear(self, text: str) -> bool:
        """Whether RE2 means the same by all places of this text.

        To it words are of ASCII, and with the flag m a line begins behind a last newline.
        """
        return not (self._needs_ascii and not text.isascii()) and not (self._minds_last_newline and text.endswith("\n"))

    @cached_property
    def _test(self) -> _Search | None:
        return self._linear(captures=False)

    @cached_property
    def _search(self) -> _Search | None:
        """As `_test`, with groups."""
        return self._linear(captures=True)

    def _linear(self, *, captures: bool) -> _Search | None:
        return None if self._has_references else _linear(linear_text(self._pattern.node), captures)

    @cached_property
    def _bounded(self) -> Backtracker:
        return bounded_program(self._pattern)

    def _bounded_matches(self, text: str, bounds: Bounds) -> Iterator[Spans]:
        """All matches, one after the other, within one number of steps."""
        steps, program, start = _STEPS + _STEPS_A_CHARACTER * len(text), self._bounded, 0
        while True:
            try:
                spans = program.search(text, start, steps)
            except StepsSpentError:
                bounds.refuse()
            if spans is None:
                return
            yield spans
            steps -= program.steps
            start = spans[1] + (spans[1] == spans[0])


# RE2 -----------------------------------------------------------------------------------------------------------------

_Search = Callable[[bytes, int], list[tuple[int, int]]]
"""The first match in a text from a place on, and its groups; -1 where there is none."""


def _linear(pattern: str, captures: bool) -> _Search | None:
    """A pattern as RE2 runs it; None if that would be too large."""
    options = re2.Options()
    options.max_mem = _LINEAR_BYTES
    options.never_capture = not captures
    options.log_errors = False
    try:
        # What the package's own `search` calls, which makes a match as Python's are and takes five times as long.
        search, unanchored = re2._Regexp(pattern, options)._regexp.Match, re2._Anchor.UNANCHORED
    except re2.error:
        return None
    return lambda text, start: search(unanchored, text, start, len(text))


def _linear_matches(search: _Search, text: bytes) -> Iterator[Spans]:
    start = 0
    while start <= len(text):
        spans = search(text, start)
        first, start = spans[0]
        if first < 0:
            return
        yield tuple(place for span in spans for place in span)
        if first == start:
            start += 1
            while start < len(text) and text[start] & 0xC0 == 0x80:  # within a character
                start += 1


# What takes the place of a match -------------------------------------------------------------------------------------

_REPLACEMENT = re.compile(r"(?P<text>[^\\$]+)|\\(?P<escaped>[\\$])|\$(?P<group>[0-9])")


def _replacement(text: str, groups: int) -> tuple[str | int, ...]:
    """Text and numbers of groups; a group that the pattern does not have is empty."""
    parts: list[str | int] = []
    at = 0
    while at < len(text):
        found = _REPLACEMENT.match(text, at)
        if found is None:
            raise ExpressionError
        at = found.end()
        if found["group"] is None:
            parts.append(found["text"] or found["escaped"])
            continue
        number = int(found["group"])
        # $12 is group 12 if there is one, else group 1 and the text 2.
        while "0" <= text[at : at + 1] <= "9" and 0 < 10 * number + int(text[at]) <= groups:
            number = 10 * number + int(text[at])
            at += 1
        parts.append(number if number <= groups else "")
    return tuple(parts)
