"""How deep a text nests triple terms or JSON values.

The parser recurses over both without a limit, so that a hostile text of some hundred kilobytes would overflow the
stack and end the process: readers ask here first.
"""

from __future__ import annotations

import re

MAX_DEPTH = 200

_TRIPLE_TERMS = re.compile(rb'"(?:[^"\\\n\r]|\\.)*+"|<[^\x00-\x20<>"{}|^`]*+>|(<<)|(>>)')
_JSON = re.compile(rb'"(?:[^"\\]|\\.)*+"|([\[{])|([\]}])')

TOO_DEEP = f"nested more than {MAX_DEPTH} deep"


def triple_terms_too_deep(text: bytes) -> bool:
    """Whether triple terms nest too deep to be parsed safely."""
    return text.count(b"<<") > MAX_DEPTH and _depth(_TRIPLE_TERMS, text) > MAX_DEPTH


def json_too_deep(text: bytes) -> bool:
    """Whether JSON objects and arrays nest too deep to be parsed safely."""
    return text.count(b"{") + text.count(b"[") > MAX_DEPTH and _depth(_JSON, text) > MAX_DEPTH


def _depth(brackets: re.Pattern[bytes], text: bytes) -> int:
    depth = deepest = 0
    for match in brackets.finditer(text):
        if match.lastindex == 1:
            depth += 1
            deepest = max(deepest, depth)
        elif match.lastindex == 2:
            depth -= 1
    return deepest
