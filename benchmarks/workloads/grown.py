"""One query an operator, with rows that fill what it keeps and changes that each touch little of it.

Rows are numbered; the first n of them are a state of size n. A change is a few triples that are not there yet, about a row
or a group of the state, so that what it makes the query emit does not depend on the size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.workloads.patterns import XSD

_E = "http://example.org/"
_GROUPS = 10
_CHAIN = 4
_SPREAD = 7_919
"""Coprime to all sizes: changes go round the state in large steps."""


@dataclass(frozen=True, slots=True)
class Grown:
    """A query, the triples of its i-th row, and those of the k-th change of a state of size n."""

    query: str
    row: Callable[[int], str]
    change: Callable[[int, int], str]
    deletes: str = ""
    """Why its deletes may cost more as the state grows, if they may."""
    anything: str = ""
    """Why any change may."""


def _t(subject: str, predicate: str, value: str | int) -> str:
    o = f'"{value}"^^<{XSD}integer>' if isinstance(value, int) else f"<{_E}{value}>"
    return f"<{_E}{subject}> <{_E}{predicate}> {o} .\n"


def _some(k: int, n: int) -> int:
    """A row of the state."""
    return k * _SPREAD % n


def _pairs(i: int) -> str:
    return _t(f"x{i}", "p", f"y{i}")


def _pairs_and_more(i: int) -> str:
    return _t(f"x{i}", "p", f"y{i}") + (_t(f"y{i}", "q", f"z{i}") if i % 2 else "")


def _more(k: int, n: int) -> str:
    """Something about a row that had nothing of it: even rows."""
    return _t(f"y{_some(k, n) // 2 * 2}", "q", f"new{k}")


def _grouped(i: int) -> str:
    return _t(f"x{i}", "g", f"group{i % _GROUPS}") + _t(f"x{i}", "v", i * _SPREAD % 1_000_003)


def _member(k: int, n: int) -> str:
    return _t(f"new{k}", "g", f"group{k % _GROUPS}") + _t(f"new{k}", "v", k * 104_729 % 1_000_003)


def _small_groups(i: int) -> str:
    return _t(f"x{i}", "g", f"group{i // 10}")


def _select(what: str, where: str, rest: str = "") -> str:
    return f"PREFIX : <{_E}> SELECT {what} WHERE {{ {where} }} {rest}"


_MEMBERS = "?x :g ?g . ?x :v ?v"
_COUNTED = "SELECT ?g (COUNT(?{1}) AS ?{0}) {{ ?{1} :{2} ?g }} GROUP BY ?g"
OPERATORS: dict[str, Grown] = {
    "join": Grown(
        _select("*", "?x :p ?y . ?y :q ?z"),
        lambda i: _t(f"x{i}", "p", f"y{i}") + _t(f"y{i}", "q", f"z{i}"),
        lambda k, n: _t(f"new{k}", "p", f"y{_some(k, n)}"),
    ),
    "OPTIONAL": Grown(_select("*", "?x :p ?y OPTIONAL { ?y :q ?z }"), _pairs_and_more, _more),
    "UNION": Grown(
        _select("*", "{ ?x :p ?y } UNION { ?x :q ?y }"),
        _pairs_and_more,
        lambda k, n: _t(f"x{_some(k, n)}", "pq"[k % 2], f"new{k}"),
    ),
    "MINUS": Grown(_select("*", "?x :p ?y MINUS { ?y :q ?z }"), _pairs_and_more, _more),
    "NOT EXISTS": Grown(_select("*", "?x :p ?y FILTER NOT EXISTS { ?y :q ?z }"), _pairs_and_more, _more),
    "DISTINCT": Grown(
        _select("DISTINCT ?y", "?x :p ?y"),
        lambda i: _t(f"x{i}", "p", f"y{i // 10}"),
        lambda k, n: _t(f"new{k}", "p", f"y{_some(k, n)}"),
    ),
    "COUNT, SUM, AVG": Grown(
        _select("?g (COUNT(?v) AS ?n) (SUM(?v) AS ?sum) (AVG(?v) AS ?mean)", _MEMBERS, "GROUP BY ?g"), _grouped, _member
    ),
    "COUNT DISTINCT": Grown(_select("?g (COUNT(DISTINCT ?v) AS ?n)", _MEMBERS, "GROUP BY ?g"), _grouped, _member),
    "MIN, MAX": Grown(_select("?g (MIN(?v) AS ?low) (MAX(?v) AS ?high)", _MEMBERS, "GROUP BY ?g"), _grouped, _member),
    "MEDIAN": Grown(_select("?g (MEDIAN(?v) AS ?middle)", _MEMBERS, "GROUP BY ?g"), _grouped, _member),
    "SAMPLE": Grown(_select("?g (SAMPLE(?x) AS ?one)", _MEMBERS, "GROUP BY ?g"), _grouped, _member),
    "GROUP_CONCAT": Grown(
        _select("?g (GROUP_CONCAT(STR(?x)) AS ?all)", "?x :g ?g", "GROUP BY ?g"),
        _small_groups,
        lambda k, n: _t(f"new{k}", "g", f"group{_some(k, n) // 10}"),
    ),
    "ORDER BY, LIMIT": Grown(
        _select("?x ?v", "?x :v ?v", "ORDER BY ?v LIMIT 10"),
        lambda i: _t(f"x{i}", "v", i),
        lambda k, n: _t(f"new{k}", "v", -k - 1),
    ),
    "path +": Grown(
        _select("*", "?x :next+ ?y"),
        lambda i: _t(f"x{i + i // _CHAIN}", "next", f"x{i + i // _CHAIN + 1}"),
        lambda k, n: _t(f"x{(_some(k, n) // _CHAIN + 1) * (_CHAIN + 1) - 1}", "next", f"new{k}"),
        deletes="one doubts all that hung on its edge, here a chain",
    ),
    "comparison": Grown(
        _select("*", "?x :v ?v . ?y :w ?w FILTER (?v < ?w)"),
        lambda i: _t(f"x{i}", "v", i) + _t(f"y{i}", "w", -i),
        lambda k, n: _t(f"new{k}", "w", 1 + k % 3),
    ),
    "BIND, FILTER": Grown(
        _select("*", "?x :v ?v BIND (?v * 2 + 1 AS ?w) FILTER (?w > 3)"),
        lambda i: _t(f"x{i}", "v", i),
        lambda k, n: _t(f"new{k}", "v", 5 + k),
    ),
    "sub-queries joined": Grown(
        _select("*", f"{{ {_COUNTED.format('n', 'x', 'g')} }} {{ {_COUNTED.format('m', 'y', 'h')} }}"),
        lambda i: _small_groups(i) + _t(f"y{i}", "h", f"group{i // 10}"),
        lambda k, n: _t(f"new{k}", "g", f"group{_some(k, n) // 10}"),
    ),
    "comparison, no index": Grown(
        _select("*", "?x :v ?v . ?y :w ?w FILTER (?v * ?v + ?w * ?w = 4)"),
        lambda i: _t(f"x{i}", "v", i) + (_t(f"y{i}", "w", -i) if i < 5 else ""),
        lambda k, n: _t(f"new{k}", "w", 7 + k),
        anything="every row of the other part is looked at",
    ),
}
