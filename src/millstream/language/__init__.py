"""From query text to typed algebra: SPARQL 1.1 with the stream clauses of CQELS-QL, RSP-QL and C-SPARQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millstream.lazy import exported

if TYPE_CHECKING:
    from millstream.language.algebra import Query
    from millstream.language.parsing import parse_query

__getattr__ = exported(__name__, {"Query": "millstream.language.algebra", "parse_query": "millstream.language.parsing"})

__all__ = ["Query", "parse_query"]
