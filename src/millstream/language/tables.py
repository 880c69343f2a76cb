"""LALR tables of the grammar, made by lark: once, when the package is built, and read from a file by every process.

The file begins with all that the tables follow from; where it is missing or of another grammar they are made anew.
Keywords, window words, function names and classes of characters are not spelt out in the grammar file but spliced in here.
"""

from __future__ import annotations

import pickle
import sys
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import lark
from lark import Lark

from millstream.language.functions import AGGREGATES, FUNCTIONS
from millstream.language.keywords import KEYWORDS, WINDOW_WORDS

_FOLDER = Path(__file__).parent
KEPT = _FOLDER / "sparql.tables"
"""Written by the build."""

# Productions [164] to [167], first what ASCII has of them.
_BASE = "A-Za-z"
_BASE_BEYOND = (
    "\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C-\\u200D\\u2070-\\u218F"
    "\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\U00010000-\\U000EFFFF"
)
_MORE_BEYOND = "\\u00B7\\u0300-\\u036F\\u203F-\\u2040"


@cache
def parser(transformer: Any, postlex: Any, *, is_ascii: bool) -> Lark:
    """The parser for texts that are ASCII, or for any; `postlex` sees all words before it does.

    Python takes long to compile classes of characters beyond Latin-1, and a lexer has hundreds of them. Most queries are
    ASCII, and have a parser without.
    """
    grammar = _grammar(is_ascii)
    kept = _kept(grammar) if is_ascii else None
    if kept is None:
        return _make(grammar, transformer, postlex)
    # What lark's own stand-alone parsers call; `Lark.load` takes no transformer.
    made: Lark = Lark._load_from_dict(**pickle.loads(kept), transformer=transformer, postlex=postlex)  # type: ignore[no-untyped-call]
    return made


def are_kept() -> bool:
    """Whether the file has the tables of this grammar."""
    return _kept(_grammar(is_ascii=True)) is not None


def keep() -> None:
    """Makes the tables and writes the file."""
    grammar = _grammar(is_ascii=True)
    saved = BytesIO()
    _make(grammar, None, None).save(saved)
    KEPT.write_bytes(_stamp(grammar) + saved.getvalue())


def _kept(grammar: str) -> bytes | None:
    """The tables in the file, if they are those of the grammar."""
    stamp = _stamp(grammar)
    data = KEPT.read_bytes() if KEPT.is_file() else b""
    return data[len(stamp) :] if data.startswith(stamp) else None


def _make(grammar: str, transformer: Any, postlex: Any) -> Lark:
    return Lark(
        grammar,
        start="query_unit",
        parser="lalr",
        lexer="contextual",
        transformer=transformer,
        postlex=postlex,
        maybe_placeholders=False,
    )


def _stamp(grammar: str) -> bytes:
    """All that tables follow from: it stands before them in the file."""
    return repr((grammar, lark.__version__, sys.version_info[:2])).encode() + b"\n"


def _grammar(is_ascii: bool) -> str:
    source = (_FOLDER / "sparql.lark").read_text("utf-8")
    base, more = (_BASE, "") if is_ascii else (_BASE + _BASE_BEYOND, _MORE_BEYOND)
    for name, characters in (
        ("PN_CHARS_BASE", base),
        ("PN_CHARS_U", f"{base}_"),
        ("PN_CHARS", f"{base}_\\-0-9{more}"),
        ("VARNAME_CHARS", f"{base}_0-9{more}"),
    ):
        source = source.replace(name, characters)
    for takes, windows in WINDOW_WORDS.items():
        source = source.replace(f"WINDOWS_OF_{takes.name}", " | ".join(windows))
    keywords = [f"{k}: /{k.lstrip('_')}(?![A-Za-z0-9_])/i" for k in KEYWORDS]
    names = [
        f"{terminal}: /(?:{'|'.join(sorted(words, key=lambda word: (-len(word), word)))})(?![A-Za-z0-9_:])/i"
        for terminal, words in (("FUNCTION", FUNCTIONS), ("AGGREGATE", AGGREGATES))
    ]
    return "\n".join([source, *keywords, *names])
