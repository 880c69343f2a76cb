"""The W3C test suites of the RDF formats, read through millstream's readers.

A negative test must raise DataError where reading is strict, and a positive one must set nothing aside where it is not.
What does not behave as its manifest says is listed in DEPARTURES with the reason.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from millstream.errors import DataError
from millstream.rdf import BlankScope, Rejected, Rejections
from millstream.rdf.readers.turtle import read_turtle
from millstream.rdf.statements import Statement
from tests.readers import read_quads
from tests.suites import Case, cases, has_suite, suite

FAMILIES = {"n-triples": "ntriples", "n-quads": "nquads", "turtle": "turtle", "trig": "trig"}

_DOTS = "pyoxigraph keeps the dot segments of @base (http://a/bb/ccc/./d;p?q): RFC 3986 section 5.2.4 is not applied to it"
_REMOTE = "the context is another file: millstream reads no remote context"
_1_0 = "the test is for JSON-LD 1.0 (its specVersion or processingMode); pyoxigraph processes as 1.1"
_GENERALIZED = "the expected triples have blank nodes as predicates: generalized RDF is not RDF"
_RDF_DIRECTION = "the option rdfDirection (not normative): directions are dropped"

DEPARTURES = {
    "#t0118": _GENERALIZED,
    "#t0122": _DOTS,
    "#t0123": _DOTS,
    "#tc013": "pyoxigraph does not apply the type-scoped context of a type taken from a type map's index",
    "#tc029": _1_0,
    "#tc031": _REMOTE,
    "#tc034": _REMOTE,
    "#tdi09": _RDF_DIRECTION,
    "#tdi10": _RDF_DIRECTION,
    "#tdi11": _RDF_DIRECTION,
    "#tdi12": _RDF_DIRECTION,
    "#te026": _1_0,
    "#te062": _DOTS,
    "#te071": _1_0,
    "#te075": _GENERALIZED,
    "#te077": "the option expandContext: millstream takes contexts only from the document",
    "#te091": _DOTS,
    "#te115": _1_0,
    "#te116": _1_0,
    "#te126": _REMOTE,
    "#te127": _REMOTE,
    "#te128": _REMOTE,
    "#tep02": _1_0,
    "#ter21": _1_0,
    "#ter24": _1_0,
    "#ter32": _1_0,
    "#ter42": _1_0,
    "#tli12": "@base is 'http://invalid/<>/', which pyoxigraph refuses where the test ignores it",
    "#tso05": _REMOTE,
    "#tso06": _REMOTE,
    "#tso08": _REMOTE,
    "#tso09": _REMOTE,
    "#tso11": _REMOTE,
    "#ttn01": _1_0,
}


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


def json_ld_cases() -> list[Any]:
    if not has_suite("w3c/json-ld"):
        return [pytest.param(None, marks=pytest.mark.skip(reason="suite w3c/json-ld is not there"))]
    manifest = json.loads((suite("w3c/json-ld") / "toRdf-manifest.jsonld").read_text())
    return [
        pytest.param(
            entry,
            id=entry["@id"],
            marks=[pytest.mark.xfail(reason=DEPARTURES[entry["@id"]], strict=True)] if entry["@id"] in DEPARTURES else [],
        )
        for entry in manifest["sequence"]
    ]


BASE = "https://w3c.github.io/json-ld-api/tests/"


@pytest.mark.parametrize("entry", json_ld_cases())
def test_json_ld_to_rdf(entry: dict[str, Any]) -> None:
    root: Path = suite("w3c/json-ld")
    path = root / entry["input"]
    options = entry.get("option", {})
    base = options.get("base", BASE + entry["input"])
    if "jld:NegativeEvaluationTest" in entry["@type"]:
        with pytest.raises(DataError):
            list(read_quads(path, format="jsonld", base=base))
        return
    quads = list(read_quads(path, format="jsonld", base=base))
    if "expect" in entry:
        expected = list(read_quads(root / entry["expect"], format="nquads"))
        assert canonical(quads) == canonical(expected)


@pytest.mark.parametrize(("case", "format"), [p for p in rdf11_cases() if "Eval" in str(getattr(p.values[0], "kinds", ""))])
@pytest.mark.parametrize("chunk", [1, 7])
def test_turtle_and_trig_mean_the_same_however_they_are_cut(case: Case, format: str, chunk: int) -> None:
    base = case.assumed_base + case.action_path.name if case.assumed_base else None
    events = read_turtle(
        io.BytesIO(case.action_path.read_bytes()),
        BlankScope(),
        Rejections("test"),
        graphs=format == "trig",
        base=base,
        chunk=chunk,
    )
    quads = [quad for event in events if isinstance(event, Statement) for quad in event.quads]
    assert canonical(quads) == canonical(list(read_quads(case.result_path, format="nquads")))
