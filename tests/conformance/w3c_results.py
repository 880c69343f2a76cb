"""The expected results of the W3C's query evaluation tests, read from every format they come in, and compared.

A result is a boolean, a graph or a sequence of solutions. Graphs and solutions are equal up to the names of blank nodes.
In solutions, numbers, booleans and dates are compared by value: the tests spell the same values in several ways, even those
that a query only copies.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph as ox

from millstream.operators.expressions.values.values import Space, read_term
from tests.suites import RDF, Statements

RS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
FORMATS = {
    ".ttl": ox.RdfFormat.TURTLE,
    ".n3": ox.RdfFormat.TURTLE,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".nt": ox.RdfFormat.N_TRIPLES,
}

Term = ox.NamedNode | ox.BlankNode | ox.Literal
Solution = dict[str, Term]


@dataclass(frozen=True, slots=True)
class Table:
    """Solutions, in order if that is part of the result."""

    variables: frozenset[str]
    solutions: tuple[Solution, ...]
    ordered: bool = False


Result = bool | frozenset[ox.Triple] | Table


def read_triples(path: Path) -> list[ox.Triple]:
    """The triples of a file, with its own address as base."""
    return [
        quad.triple
        for quad in ox.parse(
            path=path, format=FORMATS[path.suffix], base_iri=path.resolve().as_uri(), rename_blank_nodes=True
        )
    ]


def read_result(path: Path) -> Result:
    """What a test expects."""
    match path.suffix:
        case ".srx" | ".srj":
            kind = ox.QueryResultsFormat.XML if path.suffix == ".srx" else ox.QueryResultsFormat.JSON
            results = ox.parse_query_results(path=path, format=kind)
        case ".tsv":
            results = ox.parse_query_results(path=path, format=ox.QueryResultsFormat.TSV)
        case ".csv":
            return _read_csv(path)
        case _:
            return _read_graph(path)
    if isinstance(results, ox.QueryBoolean):
        return bool(results)
    names = [v.value for v in results.variables]
    solutions = tuple({n: t for n, t in zip(names, row, strict=True) if t is not None} for row in results)
    return Table(frozenset(names), solutions)


def _read_csv(path: Path) -> Table:
    """CSV tells no kinds of terms: everything but blank nodes is a plain string there, and unbound is an empty one."""
    with path.open(newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    solutions = [{n: _from_csv(text) for n, text in zip(names, row, strict=True) if text} for row in rows]
    return Table(frozenset(names), tuple(solutions))


def _from_csv(text: str) -> Term:
    return ox.BlankNode(text[2:]) if text.startswith("_:") else ox.Literal(text)


def as_csv(term: Term) -> Term:
    """A term as it can be told from CSV."""
    return term if isinstance(term, ox.BlankNode) else ox.Literal(term.value)


def _read_graph(path: Path) -> Result:
    """A graph that is the result itself, or that describes a result set."""
    triples = read_triples(path)
    statements = Statements()
    for triple in triples:
        statements.by_subject_predicate.setdefault((triple.subject, triple.predicate.value), []).append(triple.object)
    try:
        root = statements.one_of_type(RS + "ResultSet")
    except LookupError:
        return frozenset(triples)
    truth = statements.value(root, RS + "boolean")
    if truth is not None:
        return truth.value == "true"
    rows: list[tuple[int | None, Solution]] = []
    for solution in statements.values(root, RS + "solution"):
        found: Solution = {}
        for binding in statements.values(solution, RS + "binding"):
            found[statements.value(binding, RS + "variable").value] = statements.value(binding, RS + "value")
        index = statements.value(solution, RS + "index")
        rows.append((None if index is None else int(index.value), found))
    ordered = bool(rows) and all(index is not None for index, _ in rows)
    if ordered:
        rows.sort(key=lambda row: row[0] or 0)
    variables = frozenset(v.value for v in statements.values(root, RS + "resultVariable"))
    return Table(variables, tuple(row for _, row in rows), ordered)


# Comparing ------------------------------------------------------------------------------------------------------------


def same_graph(left: Iterable[ox.Triple], right: Iterable[ox.Triple]) -> bool:
    """Whether two graphs are equal up to the names of blank nodes."""
    return _canonical(ox.Quad(*t) for t in left) == _canonical(ox.Quad(*t) for t in right)


def _canonical(quads: Iterable[ox.Quad]) -> set[ox.Quad]:
    dataset = ox.Dataset(quads)
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return set(dataset)


def same_solutions(left: Sequence[Solution], right: Sequence[Solution], *, ordered: bool = False, lax: bool = False) -> bool:
    """Whether two sequences are equal, as multisets unless `ordered`; with `lax` as sets."""
    sides = []
    for solutions in (left, right):
        rows = [frozenset((name, by_value(term)) for name, term in row.items()) for row in solutions]
        if ordered:
            rows = [row | {("index", ox.Literal(i))} for i, row in enumerate(rows)]
        counts = Counter(rows)
        sides.append(Counter(counts.keys()) if lax else counts)
    if sides[0] == sides[1]:
        return True
    if not any(isinstance(term, ox.BlankNode) for rows in sides for row in rows for _, term in row):
        return False
    return _canonical(_described(sides[0])) == _canonical(_described(sides[1]))


def _described(rows: Counter[frozenset[tuple[str, Term]]]) -> Iterable[ox.Quad]:
    """Solutions as a graph, so that they are equal when it is isomorphic."""
    for row, count in rows.items():
        node = ox.BlankNode()
        yield ox.Quad(node, ox.NamedNode(RDF + "count"), ox.Literal(count))
        for name, term in row:
            yield ox.Quad(node, ox.NamedNode(RDF + "_" + name), term)


def by_value(term: Term) -> Term:
    """One spelling for all terms of a value and a datatype: numbers, booleans, dates and times."""
    if not isinstance(term, ox.Literal):
        return term
    value = read_term(str(term))
    if value.is_numeric:
        return ox.Literal(repr(float(value.value)), datatype=term.datatype)
    return ox.Literal(repr(value.value), datatype=term.datatype) if value.space >= Space.BOOLEAN else term
