"""Sets of characters as ranges of code points: the classes that XPath's regular expressions name.

Unicode categories come from Python's own tables; a set of ranges is a sorted tuple of (first, last) without overlaps.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable
from functools import cache

Ranges = tuple[tuple[int, int], ...]

_LAST = sys.maxunicode

# XML 1.0, fifth edition, productions 4 and 4a: what \i and \c mean.
NAME_START: Ranges = (
    *((ord(c), ord(c)) for c in ":_"),
    *((ord(a), ord(b)) for a, b in ("AZ", "az")),
    *((0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2FF), (0x370, 0x37D), (0x37F, 0x1FFF), (0x200C, 0x200D), (0x2070, 0x218F)),
    *((0x2C00, 0x2FEF), (0x3001, 0xD7FF), (0xF900, 0xFDCF), (0xFDF0, 0xFFFD), (0x10000, 0xEFFFF)),
)
NAME: Ranges = (*NAME_START, (0x2D, 0x2E), (0x30, 0x39), (0xB7, 0xB7), (0x300, 0x36F), (0x203F, 0x2040))
SPACE: Ranges = ((9, 10), (13, 13), (32, 32))


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The same characters, sorted and without overlaps."""
    result: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if result and first <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(last, result[-1][1]))
        else:
            result.append((first, last))
    return tuple(result)


def complement(ranges: Iterable[tuple[int, int]]) -> Ranges:
    result, following = [], 0
    for first, last in merged(ranges):
        if first > following:
            result.append((following, first - 1))
        following = last + 1
    if following <= _LAST:
        result.append((following, _LAST))
    return tuple(result)


@cache
def _by_category() -> dict[str, Ranges]:
    found: dict[str, list[tuple[int, int]]] = {}
    start, current = 0, unicodedata.category("\0")
    for point in range(1, _LAST + 2):
        category = unicodedata.category(chr(point)) if point <= _LAST else ""
        if category != current:
            found.setdefault(current, []).append((start, point - 1))
            start, current = point, category
    return {category: tuple(ranges) for category, ranges in found.items()}


@cache
def category(name: str) -> Ranges | None:
    """The characters of a category such as `Lu`, or of all in `L`; None for no category."""
    found = [r for key, ranges in _by_category().items() if key.startswith(name) for r in ranges]
    return merged(found) if found and 1 <= len(name) <= 2 else None


@cache
def word() -> Ranges:
    r"""What \w means: all but punctuation, separators and others."""
    return complement(r for name in "PZC" for r in category(name) or ())


@cache
def digit() -> Ranges:
    return category("Nd") or ()
