"""Where the outside test suites are, and how their manifests are read.

The suites are not part of the project: `suite` finds them in the folder that MILLSTREAM_SUITES names or beside the
project, and skips the calling test (or module) with a reason where they are absent. `cases` reads W3C manifests, their
includes followed, in the order they list.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyoxigraph as ox
import pytest

MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple


def suites_root() -> Path:
    """The folder that holds the suites, whether it exists or not."""
    named = os.environ.get("MILLSTREAM_SUITES")
    return Path(named) if named else Path(__file__).resolve().parent.parent.parent / "shared" / "suites"


def suite(name: str) -> Path:
    """The path of a suite, such as `w3c/rdf11`; skips what asks for it if it is not there."""
    path = suites_root() / name
    if not path.exists():
        pytest.skip(f"suite {name} is not at {path}; set MILLSTREAM_SUITES to the folder of suites", allow_module_level=True)
    return path


def has_suite(name: str) -> bool:
    """Whether a suite is there, for parameters that are listed while tests are collected."""
    return (suites_root() / name).exists()


@dataclass(frozen=True, slots=True)
class Statements:
    """The triples of a manifest, looked up by subject and predicate."""

    by_subject_predicate: dict[tuple[Term, str], list[Term]] = field(default_factory=dict)

    def values(self, subject: Term, predicate: str) -> list[Term]:
        """All objects, in the order of the file."""
        return self.by_subject_predicate.get((subject, predicate), [])

    def value(self, subject: Term, predicate: str) -> Term | None:
        """The only or first object."""
        found = self.values(subject, predicate)
        return found[0] if found else None

    def one_of_type(self, kind: str) -> Term:
        """The first subject of a type: manifests of SPARQL 1.2 are not named after their file."""
        for (subject, predicate), found in self.by_subject_predicate.items():
            if predicate == RDF + "type" and ox.NamedNode(kind) in found:
                return subject
        raise LookupError(f"no {kind} in the file")

    def members(self, head: Term | None) -> Iterator[Term]:
        """The members of an RDF collection."""
        while head is not None and head != ox.NamedNode(RDF + "nil"):
            first = self.value(head, RDF + "first")
            if first is not None:
                yield first
            head = self.value(head, RDF + "rest")


@dataclass(frozen=True, slots=True)
class Case:
    """One entry of a manifest: `action` and `result` are terms, their details are in `statements`.

    `kinds` are the local names of its types (`TestTurtleEval`, `QueryEvaluationTest`, ...).
    """

    id: str
    name: str
    kinds: frozenset[str]
    action: Term
    result: Term | None
    subject: Term
    statements: Statements
    manifest: Path
    assumed_base: str | None

    @property
    def action_path(self) -> Path:
        """The file of an action that is a file."""
        return path_of(self.action)

    @property
    def result_path(self) -> Path:
        """The file of a result that is a file."""
        assert self.result is not None, f"{self.id} has no result"
        return path_of(self.result)

    def action_value(self, predicate: str) -> Term | None:
        """A detail of an action that is a node: `case.action_value(QT + "data")`."""
        return self.statements.value(self.action, predicate)

    def action_values(self, predicate: str) -> list[Term]:
        """All such details."""
        return self.statements.values(self.action, predicate)


def path_of(term: Term) -> Path:
    """The file that a term of a manifest names."""
    assert isinstance(term, ox.NamedNode), f"{term} does not name a file"
    assert term.value.startswith("file:"), f"{term} does not name a file"
    return Path(unquote(urlsplit(term.value).path))


def load(path: Path) -> Statements:
    """All statements of a Turtle file, with its own address as base."""
    statements = Statements()
    for quad in ox.parse(path=path, format=ox.RdfFormat.TURTLE, base_iri=path.resolve().as_uri()):
        statements.by_subject_predicate.setdefault((quad.subject, quad.predicate.value), []).append(quad.object)
    return statements


def cases(manifest: Path) -> Iterator[Case]:
    """The entries of a manifest and of those it includes."""
    manifest = manifest.resolve()
    statements = load(manifest)
    root = statements.one_of_type(MF + "Manifest")
    base = statements.value(root, MF + "assumedTestBase")
    for heads in statements.values(root, MF + "include"):
        for included in statements.members(heads):
            yield from cases(path_of(included))
    for heads in statements.values(root, MF + "entries"):
        for subject in statements.members(heads):
            action = statements.value(subject, MF + "action")
            if action is None:
                continue
            name = statements.value(subject, MF + "name")
            yield Case(
                id=f"{manifest.parent.name}#{_local(subject)}",
                name=name.value if isinstance(name, ox.Literal) else "",
                kinds=frozenset(_local(kind) for kind in statements.values(subject, RDF + "type")),
                action=action,
                result=statements.value(subject, MF + "result"),
                subject=subject,
                statements=statements,
                manifest=manifest,
                assumed_base=base.value if isinstance(base, ox.NamedNode) else None,
            )


def _local(term: Term) -> str:
    value = term.value if isinstance(term, ox.NamedNode) else str(term)
    return value.rsplit("#", 1)[-1]
