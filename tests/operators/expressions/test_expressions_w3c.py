"""The W3C's evaluation tests of expressions: those whose patterns a naive evaluator of a few lines can match.

Numbers, booleans and dates of the results are compared by value, everything else as terms; blank nodes are all alike.
"""

import re
from collections import Counter

import numpy as np
import pyoxigraph as ox
import pytest
from pyoxigraph import BlankNode, Literal, Variable

from millstream.errors import UnsupportedQueryError
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.language import algebra as a
from millstream.language import parse_query
from millstream.operators.expressions import Evaluator
from millstream.operators.expressions.values.values import Space, read_term
from millstream.plan.compile.fresh import with_solutions
from tests import suites
from tests.operators.expressions.columns import compute, passing

RESULT_SET = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
FOLDERS = [
    *("sparql10/" + name for name in "boolean-effective-value cast expr-builtin expr-equals expr-ops".split()),
    *("sparql10/" + name for name in "i18n open-world regex type-promotion bound".split()),
    *("sparql11/" + name for name in "functions cast bind project-expression".split()),
]


def all_cases():
    if not suites.has_suite("w3c/sparql"):
        return []
    return [
        pytest.param(case, id=case.id)
        for folder in FOLDERS
        for case in suites.cases(suites.suite(f"w3c/sparql/{folder}") / "manifest.ttl")
        if "QueryEvaluationTest" in case.kinds
    ]


class Unmatched(Exception):  # noqa: N818
    """A pattern beyond the naive evaluator."""


class Naive:
    """Solutions are dicts; expressions are what is tested here."""

    def __init__(self, triples, base):
        self.triples = triples
        self.dictionary = Dictionary()
        self.evaluator = Evaluator(self.dictionary, base=base)

    def columns(self, solutions):
        variables = {v for s in solutions for v in s if isinstance(v, Variable)}
        return {
            v: np.array([self.dictionary.encode_one(str(s[v])) if v in s else -1 for s in solutions], np.int64)
            for v in variables
        }

    def solve(self, pattern):
        match pattern:
            case a.BGP(triples):
                found = [{}]
                for triple in triples:
                    found = [more for s in found for more in self.extended(s, triple)]
                return found
            case a.Filter(expression, inner):
                found = self.solve(inner)
                kept = passing(self.evaluator, expression, self.columns(found), len(found))
                return [s for s, keep in zip(found, kept, strict=True) if keep]
            case a.Extend(inner, variable, expression):
                found = self.solve(inner)
                ids = compute(self.evaluator, expression, self.columns(found), len(found))
                texts = self.dictionary.decode(ids).to_pylist()
                return [s if t is None else {**s, variable: Term(t)} for s, t in zip(found, texts, strict=True)]
            case a.Join(left, right):
                return joined(self.solve(left), self.solve(right))
            case a.LeftJoin(left, right, None):
                other = self.solve(right)
                return [more for s in self.solve(left) for more in joined([s], other) or [s]]
            case a.Union(left, right):
                return self.solve(left) + self.solve(right)
            case a.Project(inner, variables):
                return [{v: s[v] for v in variables if v in s} for s in self.solve(inner)]
            case a.Values(variables, rows):
                return [{v: t for v, t in zip(variables, row, strict=True) if t is not None} for row in rows]
            case a.OrderBy(inner):
                return self.solve(inner)
            case _:
                raise Unmatched(type(pattern).__name__)

    def extended(self, solution, pattern):
        for triple in self.triples:
            found = dict(solution)
            for part, term in zip((pattern.subject, pattern.predicate, pattern.object), triple, strict=True):
                if isinstance(part, Variable | BlankNode):
                    if found.setdefault(part, term) != term:
                        break
                elif part != term:
                    break
            else:
                yield found


class Term(str):
    """A computed term, as N-Triples text."""


def joined(left, right):
    return [{**x, **y} for x in left for y in right if all(str(x[v]) == str(y[v]) for v in x.keys() & y.keys())]


def comparable(term):
    value = read_term(str(term))
    if value.space == Space.BLANK:
        return "blank"
    if value.is_numeric:
        return value.datatype, repr(float(value.value))
    return str(term) if value.space < Space.BOOLEAN else (value.datatype, value.value)


def rows_of(solutions):
    return Counter(frozenset((v.value, comparable(t)) for v, t in s.items() if isinstance(v, Variable)) for s in solutions)


def expected(path):
    if path.suffix in (".srx", ".srj"):
        kind = ox.QueryResultsFormat.XML if path.suffix == ".srx" else ox.QueryResultsFormat.JSON
        results = ox.parse_query_results(path=str(path), format=kind)
        if isinstance(results, ox.QueryBoolean):
            return bool(results)
        variables = results.variables
        return rows_of([{v: s[v] for v in variables if s[v] is not None} for s in results])
    statements = suites.load(path)
    (*truths,) = (v for (_, p), vs in statements.by_subject_predicate.items() for v in vs if p == RESULT_SET + "boolean")
    if truths:
        return truths[0].value == "true"
    root = statements.one_of_type(RESULT_SET + "ResultSet")
    solutions = []
    for solution in statements.values(root, RESULT_SET + "solution"):
        bindings = statements.values(solution, RESULT_SET + "binding")
        solutions.append(
            {
                Variable(statements.value(b, RESULT_SET + "variable").value): statements.value(b, RESULT_SET + "value")
                for b in bindings
            }
        )
    return rows_of(solutions)


@pytest.mark.parametrize("case", all_cases())
def test_expressions_of_the_w3c(case):
    query_path = suites.path_of(case.action_value(suites.QT + "query"))
    base = query_path.resolve().as_uri()
    triples = [
        (quad.subject, quad.predicate, quad.object)
        for data in case.action_values(suites.QT + "data")
        for quad in ox.parse(path=suites.path_of(data), base_iri=suites.path_of(data).resolve().as_uri())
    ]
    text = query_path.read_text()
    query = with_solutions(parse_query(text, base=base))
    declared = re.search(r"^BASE\s+<(.*)>", text, re.MULTILINE)
    try:
        solutions = Naive(triples, declared[1] if declared else base).solve(query.pattern)
    except Unmatched as unmatched:
        pytest.skip(f"{unmatched} is matched by more than a naive evaluator")
    except UnsupportedQueryError as refused:
        pytest.skip(f"refused: {refused.what}")
    if query.form is a.Form.ASK:
        assert bool(solutions) == expected(case.result_path)
    else:
        assert rows_of(solutions) == expected(case.result_path)


def test_literals_are_compared_by_value_in_this_module():
    assert comparable(Literal(1.0)) == comparable('"1"^^<http://www.w3.org/2001/XMLSchema#double>')
