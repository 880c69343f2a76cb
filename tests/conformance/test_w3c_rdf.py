"""The W3C test suites of the RDF formats, read through millstream's readers.

Each family runs twice where it can: strict, where a negative test must raise DataError, and lenient, where a positive
test must not set anything aside. What does not behave as its manifest says is listed below with the reason.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from millstream.errors import DataError
from millstream.rdf import Rejected, read_quads
from tests.suites import Case, cases, has_suite, suite

FAMILIES = {"n-triples": "ntriples", "n-quads": "nquads", "turtle": "turtle", "trig": "trig"}


def canonical(quads: list[ox.Quad]) -> set[ox.Quad]:
    dataset = ox.Dataset(quads)
    dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return set(dataset)


def rdf11_cases() -> list[Any]:
    found = []
    for family, format in FAMILIES.items():
        if has_suite(f"w3c/rdf11/rdf-{family}"):
            for case in cases(suite(f"w3c/rdf11/rdf-{family}") / "manifest.ttl"):
                found.append(pytest.param(case, format, id=case.id))
    return found or [pytest.param(None, None, marks=pytest.mark.skip(reason="suite w3c/rdf11 is not there"))]


@pytest.mark.parametrize(("case", "format"), rdf11_cases())
def test_rdf_1_1(case: Case, format: str) -> None:
    path = case.action_path
    base = case.assumed_base + path.name if case.assumed_base else None
    kind = next(iter(case.kinds))
    if kind.endswith("NegativeSyntax"):
        with pytest.raises(DataError) as raised:
            list(read_quads(path, format=format, base=base))
        assert raised.value.source == str(path)
        assert raised.value.line is not None
        return
    rejected: list[Rejected] = []
    quads = list(read_quads(path, format=format, base=base, on_rejected=rejected.append))
    assert rejected == []
    if kind.endswith("Eval"):
        expected = list(read_quads(case.result_path, format="nquads"))
        assert canonical(quads) == canonical(expected)
