"""What callers may pass as triples, and what they are told when it is none."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pandas as pd
import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from millstream.errors import DataError
from millstream.ingest.triples import coerce_triples, lines_of
from millstream.rdf import BlankScope, parse_term

S, P, OBJECT = NamedNode("http://e/s"), NamedNode("http://e/p"), NamedNode("http://e/o")
TRIPLE = Triple(S, P, OBJECT)


@pytest.mark.parametrize(
    "passed",
    [
        "<http://e/s> <http://e/p> <http://e/o> .",
        b"<http://e/s> <http://e/p> <http://e/o> .\n",
        [TRIPLE],
        TRIPLE,
        (TRIPLE for _ in range(2)),
        [Quad(S, P, OBJECT, NamedNode("http://e/g"))],
        [("<http://e/s>", "<http://e/p>", "<http://e/o>")],
        [["<http://e/s>", "<http://e/p>", "<http://e/o>"]],
        [(S, "<http://e/p>", OBJECT)],
        [(rdflib.URIRef("http://e/s"), rdflib.URIRef("http://e/p"), rdflib.URIRef("http://e/o"))],
        ["<http://e/s> <http://e/p> <http://e/o> ."],
    ],
)
def test_one_triple_in_all_its_forms(passed: object) -> None:
    assert coerce_triples(passed) == (TRIPLE,)


def test_order_is_kept_and_repeats_are_dropped() -> None:
    lines = "\n".join(f"<http://e/s> <http://e/p> {n} ." for n in ('"2"', '"1"', '"2"', '"3"'))
    assert [triple.object for triple in coerce_triples(lines)] == [Literal("2"), Literal("1"), Literal("3")]


def test_an_rdflib_graph_is_an_iterable_of_triples() -> None:
    graph = rdflib.Graph()
    graph.add((rdflib.URIRef("http://e/s"), rdflib.URIRef("http://e/p"), rdflib.Literal("x", lang="en")))
    assert coerce_triples(graph) == (Triple(S, P, Literal("x", language="en")),)


def test_rdflib_literals_keep_their_lexical_form_and_datatype() -> None:
    value = rdflib.Literal("01", datatype=rdflib.XSD.integer, normalize=False)
    (triple,) = coerce_triples([(rdflib.URIRef("http://e/s"), rdflib.URIRef("http://e/p"), value)])
    assert str(triple.object) == '"01"^^<http://www.w3.org/2001/XMLSchema#integer>'


def test_rdflib_is_not_imported() -> None:
    code = "import sys, millstream.ingest.triples; sys.exit('rdflib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_label_in_text_is_one_node_within_a_call() -> None:
    (triple,) = coerce_triples("_:a <http://e/p> _:a .")
    assert triple.subject == triple.object


def test_a_label_in_text_is_another_node_in_another_call() -> None:
    first, second = (coerce_triples([("_:a", "<http://e/p>", "_:a")])[0].subject for _ in range(2))
    assert first != second


def test_blank_node_objects_stay_the_nodes_they_are() -> None:
    node = BlankNode("a")
    assert coerce_triples([Triple(node, P, node)])[0].subject == node
    assert coerce_triples([(node, P, OBJECT)])[0].subject == node


def test_an_rdflib_blank_node_is_the_same_node_in_every_call() -> None:
    passed = [(rdflib.BNode("a"), rdflib.URIRef("http://e/p"), rdflib.BNode("a"))]
    assert coerce_triples(passed) == coerce_triples(passed)


def test_labels_inside_triple_terms_are_scoped_too() -> None:
    (triple,) = coerce_triples("<http://e/s> <http://e/p> <<( _:a <http://e/p> _:a )>> .")
    assert isinstance(triple.object, Triple)
    assert triple.object.subject != BlankNode("a")


@pytest.mark.parametrize(
    ("passed", "reason"),
    [
        (5, "an iterable of triples, got int"),
        (None, "got NoneType"),
        ("<http://e/s> <http://e/p>", "line 1"),
        ("<http://e/s> <http://e/p> <http://e/o> .\nrubbish", "line 2"),
        ("\ud800", "UTF-8"),
        (b"\xff", "UTF-8"),
        ([TRIPLE, 5], r"triples\[1\].*got a int"),
        ([("<http://e/s>", "<http://e/p>")], "a tuple of 2"),
        ([("<http://e/s> <http://e/p>", "<http://e/o>", "")], r"triples\[0\]\.s: not one N-Triples term"),
        ([("<http://e/s>", "<http://e/p>", '"a" . <http://e/s> <http://e/p> "b"')], r"triples\[0\]\.o"),
        ([("<relative>", "<http://e/p>", '"a"')], "relative IRI"),
        ([('"s"', "<http://e/p>", '"a"')], "subject"),
        ([(Literal("s"), P, OBJECT)], "a subject is an IRI or a blank node"),
        ([(S, BlankNode("p"), OBJECT)], "a predicate is an IRI"),
        ([(S, P, None)], r"triples\[0\]\.o: not a term"),
        ([(5, P, OBJECT)], r"triples\[0\]\.s: not a term"),
        ([("http://e/s", "<http://e/p>", "x")], r"triples\[0\]\.s: not one N-Triples term \(write <iri>"),
        ([("<http://e/s>", "<http://e/p>", "<3 you")], r"triples\[0\]\.o: .* for other text pyoxigraph.Literal"),
        ([("<http://e/s>", "<http://e/p>", Decimal("NaN"))], r"triples\[0\]\.o: xsd:decimal has no NaN"),
        ([("<http://e/s>", "<http://e/p>", datetime(1900, 1, 1, tzinfo=timezone(timedelta(seconds=1))))], "whole minutes"),
        ([("<http://e/s>", "<http://e/p>", pd.NaT)], r"triples\[0\]\.o: not a term"),
        ([("<http://e/s>", "<http://e/p>", "\ud800")], r"triples\[0\]\.o"),
        ([(rdflib.URIRef("http://e/s"), rdflib.URIRef("http://e/p"), rdflib.Variable("x"))], "Variable"),
        ([(rdflib.BNode("a b"), rdflib.URIRef("http://e/p"), rdflib.BNode("x"))], "blank node"),
        (("<http://e/s>", "<http://e/p>", "<http://e/o>"), r"pass one triple as \[\(s, p, o\)\]"),
    ],
)
def test_what_is_no_triple_is_named_with_its_position(passed: object, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        coerce_triples(passed)


def test_triple_terms_nested_too_deep_are_refused_rather_than_overflow_the_stack() -> None:
    deep = "<http://e/s> <http://e/p> " + "<<( <http://e/s> <http://e/p> " * 50_000 + '"x"' + " )>>" * 50_000 + " ."
    with pytest.raises(DataError, match="deep"):
        coerce_triples(deep)


def test_a_broken_repr_does_not_hide_the_error() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.raises(DataError, match="Broken"):
        coerce_triples([Broken()])


@given(
    st.one_of(st.text(), st.binary(), st.lists(st.one_of(st.text(), st.none(), st.tuples(st.text(), st.text(), st.text()))))
)
def test_anything_gives_triples_or_a_data_error(passed: object) -> None:
    with contextlib.suppress(DataError):
        assert all(isinstance(triple, Triple) for triple in coerce_triples(passed))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_literal_survives_text_and_back(value: str) -> None:
    literal = Literal(value)
    assert parse_term(str(literal)) == literal
    assert coerce_triples(f"{Triple(S, P, literal)} .") == (Triple(S, P, literal),)


def test_a_scope_with_a_prefix_names_the_same_node_each_time() -> None:
    first, second = (coerce_triples("_:a <http://e/p> _:b .", scope=BlankScope("x")) for _ in range(2))
    assert first == second


_TEXTS = st.sampled_from(
    [
        "<http://e/s>",
        "<rel>",
        "_:a",
        '"x"',
        '"x"@en',
        '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
        '"a\nb"',
        "",
        "<a b>",
    ]
) | st.text(alphabet='<>":_\\ \n^@ax.', max_size=8)


@given(st.lists(st.tuples(_TEXTS, st.just("<http://e/p>") | _TEXTS, _TEXTS), max_size=3))
def test_term_strings_as_lines_are_what_they_are_one_by_one(items: list[tuple[str, str, str]]) -> None:
    lines = lines_of(items)
    if lines is None:
        return
    assert lines.count("\n") == len(items)
    # Blank nodes differ from call to call.
    written = lines if "_:" not in lines else ""
    try:
        expected = coerce_triples(items)
    except DataError:
        with pytest.raises(DataError):
            coerce_triples(lines)
    else:
        assert len(coerce_triples(lines)) == len(expected)
        assert not written or coerce_triples(written) == expected


def test_terms_of_other_kinds_are_not_lines() -> None:
    assert lines_of([("<http://e/s>", "<http://e/p>", "<http://e/o>")]) == "<http://e/s> <http://e/p> <http://e/o> .\n"
    for item in (TRIPLE, (S, "<http://e/p>", OBJECT), ('"x"', "<http://e/p>", '"x"'), ("<http://e/s>", "<http://e/p>")):
        assert lines_of([item]) is None
