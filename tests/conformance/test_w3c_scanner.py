"""The W3C syntax tests of N-Triples and N-Quads 1.1: the scanner reads what is legal and reports what is not."""

from __future__ import annotations

import pyoxigraph as ox
import pytest

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.scanner import Scanned, Scanner
from tests.suites import Case, cases, has_suite, suite

FOLDERS = ("rdf-n-triples", "rdf-n-quads")


def collect(kind: str) -> list[Case]:
    if not has_suite("w3c/rdf11"):
        return []
    root = suite("w3c/rdf11")
    found = [case for folder in FOLDERS for case in cases(root / folder / "manifest.ttl")]
    return [case for case in found if any(name.endswith(kind) for name in case.kinds)]


def scan(case: Case, dictionary: Dictionary) -> Scanned:
    return Scanner(dictionary, graphs=case.action_path.suffix == ".nq").feed(case.action_path.read_bytes(), final=True)


def test_the_suites_are_there() -> None:
    suite("w3c/rdf11")
    assert len(collect("PositiveSyntax")) == 94
    assert len(collect("NegativeSyntax")) == 63


@pytest.mark.parametrize("case", collect("PositiveSyntax"), ids=lambda case: case.id)
def test_legal_files_are_read_as_pyoxigraph_reads_them(case: Case) -> None:
    dictionary = Dictionary()
    scanned = scan(case, dictionary)
    form = ox.RdfFormat.N_QUADS if case.action_path.suffix == ".nq" else ox.RdfFormat.N_TRIPLES
    quads = list(ox.parse(path=case.action_path, format=form))
    assert scanned.errors == []
    assert dictionary.decode(scanned.s).to_pylist() == [str(quad.subject) for quad in quads]
    assert dictionary.decode(scanned.p).to_pylist() == [str(quad.predicate) for quad in quads]
    assert dictionary.decode(scanned.o).to_pylist() == [str(quad.object) for quad in quads]


@pytest.mark.parametrize("case", collect("NegativeSyntax"), ids=lambda case: case.id)
def test_illegal_files_are_reported(case: Case) -> None:
    assert scan(case, Dictionary()).errors
