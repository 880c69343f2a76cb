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


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The same characters, sorted and without overlaps."""
    result: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if result and first <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(last, result[-1][1]))
        else:
            result.append((first, last))
    return tuple(result)


# XML 1.0, fifth edition, productions 4 and 4a: what \i and \c mean.
NAME_START: Ranges = (
    *((ord(a), ord(b)) for a, b in ("::", "AZ", "__", "az")),
    *((0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2FF), (0x370, 0x37D), (0x37F, 0x1FFF), (0x200C, 0x200D), (0x2070, 0x218F)),
    *((0x2C00, 0x2FEF), (0x3001, 0xD7FF), (0xF900, 0xFDCF), (0xFDF0, 0xFFFD), (0x10000, 0xEFFFF)),
)
NAME: Ranges = merged((*NAME_START, (0x2D, 0x2E), (0x30, 0x39), (0xB7, 0xB7), (0x300, 0x36F), (0x203F, 0x2040)))
SPACE: Ranges = ((9, 10), (13, 13), (32, 32))


def complement(ranges: Iterable[tuple[int, int]]) -> Ranges:
    result, following = [], 0
    for first, last in merged(ranges):
        if first > following:
            result.append((following, first - 1))
        following = last + 1
    if following <= _LAST:
        result.append((following, _LAST))
    return tuple(result)


def without(ranges: Ranges, others: Ranges) -> Ranges:
    """The characters of one set that are not in another."""
    return complement((*complement(ranges), *others))


def with_case_variants(ranges: Ranges) -> Ranges:
    """These characters, and all whose fn:upper-case or fn:lower-case is that of one of them (F&O 5.6.1.1)."""
    variants = _case_variants()
    if sum(last - first for first, last in ranges) < 64:
        points = [point for first, last in ranges for point in range(first, last + 1) if point in variants]
    else:
        points = [point for point in variants if any(first <= point <= last for first, last in ranges)]
    return merged((*ranges, *((v, v) for point in points for v in variants[point])))


@cache
def _case_variants() -> dict[int, tuple[int, ...]]:
    """The other characters that differ from one only in case."""
    by_mapping: dict[tuple[str, str], list[int]] = {}
    for point in range(_LAST + 1):
        char = chr(point)
        upper, lower = char.upper(), char.lower()
        if upper != lower:
            by_mapping.setdefault(("upper", upper), []).append(point)
            by_mapping.setdefault(("lower", lower), []).append(point)
    found: dict[int, set[int]] = {}
    for points in by_mapping.values():
        for point in points if len(points) > 1 else ():
            found.setdefault(point, set()).update(points)
    return {point: tuple(sorted(others - {point})) for point, others in found.items()}


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
