"""From query text to typed algebra: SPARQL 1.1 with the stream clauses of CQELS-QL, RSP-QL and C-SPARQL."""

from __future__ import annotations

from millstream.language.algebra import Query
from millstream.language.grammar import parse as parse_syntax
from millstream.language.nesting import check_depth, too_deep
from millstream.language.translate import translate

__all__ = ["Query", "parse_query"]


def parse_query(text: str, base: str | None = None) -> Query:
    """The query that a text means; relative IRIs are seen from `base`."""
    unit, text = parse_syntax(text)
    try:
        query = translate(unit, text, base)
    except RecursionError:
        raise too_deep(text) from None
    check_depth(query)
    return query
