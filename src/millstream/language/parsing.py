"""From query text to typed algebra, in one call."""

from __future__ import annotations

from millstream.language.algebra import Query
from millstream.language.nesting import check_depth, too_deep
from millstream.language.parser.parser import parse as parse_syntax
from millstream.language.translation.translate import translate


def parse_query(text: str, base: str | None = None) -> Query:
    """The query that a text means; relative IRIs are seen from `base`."""
    unit, text = parse_syntax(text)
    try:
        query = translate(unit, text, base)
    except RecursionError:
        raise too_deep(text) from None
    check_depth(query)
    return query
