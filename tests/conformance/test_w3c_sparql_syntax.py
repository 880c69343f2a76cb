"""The W3C syntax tests of SPARQL 1.0 and 1.1 queries: what is legal is read, what is not is refused with a place.

Every query of the evaluation tests must be read as well.
"""

from __future__ import annotations

import pytest

from millstream.errors import QuerySyntaxError
from millstream.language import parse_query
from tests.suites import QT, Case, cases, has_suite, path_of, suite

POSITIVE = {"PositiveSyntaxTest", "PositiveSyntaxTest11"}
NEGATIVE = {"NegativeSyntaxTest", "NegativeSyntaxTest11"}


def collect(kinds: set[str]) -> list[Case]:
    if not has_suite("w3c/sparql"):
        return []
    root = suite("w3c/sparql")
    found: dict[str, Case] = {}
    for manifest in ("sparql10/manifest-syntax.ttl", "sparql11/manifest-all.ttl"):
        for case in cases(root / manifest):
            if case.kinds & kinds and case.action_path.suffix != ".ru":
                found.setdefault(case.id, case)
    return list(found.values())


def queries() -> list[Case]:
    if not has_suite("w3c/sparql"):
        return []
    root = suite("w3c/sparql")
    found: dict[str, Case] = {}
    for manifest in ("sparql10/manifest-evaluation.ttl", "sparql11/manifest-all.ttl"):
        for case in cases(root / manifest):
            if "QueryEvaluationTest" in case.kinds:
                found.setdefault(case.id, case)
    return list(found.values())


def text_of(case: Case) -> str:
    query = case.action_value(QT + "query")
    return (path_of(query) if query is not None else case.action_path).read_text("utf-8")


@pytest.mark.parametrize("case", collect(POSITIVE), ids=lambda c: c.id)
def test_a_legal_query_is_read(case: Case) -> None:
    parse_query(text_of(case), base="http://example.org/")


@pytest.mark.parametrize("case", collect(NEGATIVE), ids=lambda c: c.id)
def test_an_illegal_query_is_refused_with_its_place(case: Case) -> None:
    with pytest.raises(QuerySyntaxError) as error:
        parse_query(text_of(case), base="http://example.org/")
    assert error.value.line is not None


@pytest.mark.parametrize("case", queries(), ids=lambda c: c.id)
def test_a_query_to_be_evaluated_is_read(case: Case) -> None:
    parse_query(text_of(case), base="http://example.org/")


def test_the_suite_is_whole() -> None:
    suite("w3c/sparql")
    assert len(collect(POSITIVE)) == 215
    assert len(collect(NEGATIVE)) == 90
    assert len(queries()) == 590
