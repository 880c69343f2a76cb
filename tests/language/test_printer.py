"""Expressions, paths and terms as text: as short as a person would write them, and read back as the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Variable

from millstream.language import algebra as a
from millstream.language.functions import FUNCTIONS, MANY
from millstream.language.printer import Printer
from tests.language.algebra_text import parse

XSD = "http://www.w3.org/2001/XMLSchema#"
PRINTER = Printer({"": "http://example.org/"})


def expression_of(text: str) -> a.Expression:
    pattern = parse(f"ASK {{ BIND({text} AS ?result) }}").pattern
    assert isinstance(pattern, a.Extend)
    return pattern.expression


def path_of(text: str) -> a.PropertyPath:
    """A path as it is read; a sequence of two optional steps keeps it from being taken apart."""
    pattern = parse(f"ASK {{ ?x ({text})? ?y }}").pattern
    assert isinstance(pattern, a.Path)
    assert isinstance(pattern.path, a.ZeroOrOne)
    return pattern.path.path


@pytest.mark.parametrize(
    "text",
    [
        "?x + 1 * 2 - ?y / 3",
        "(?x + 1) * 2",
        "?x - (1 - 2)",
        "?x - -1",
        "-(1)",
        "-?x",
        "-(-?x)",
        "!(?a && ?b)",
        "!?a && !BOUND(?b)",
        "?a || ?b && ?c",
        "(?a || ?b) && ?c",
        "?a || (?b || ?c)",
        "?x = 1 && ?y != 2.5",
        "(?x = 1) = true",
        "?x IN (1, :a, \"b\")",
        "?x NOT IN ()",
        "!(?x NOT IN (1))",
        "STRLEN(STR(?x)) + 1",
        ":f(?x, 1)",
        "IF(BOUND(?x), ?x, 0)",
        '"a\\"b\\\\c"@en',
        f'"1"^^<{XSD}byte>',
        "<http://other.org/x>",
    ],
)  # fmt: skip
def test_an_expression_is_printed_with_the_parentheses_it_needs(text: str) -> None:
    assert PRINTER.expression(expression_of(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        ":p",
        "a",
        "^:p",
        "^(^:p)",
        ":p/:q/:r",
        ":p/(:q/:r)",
        ":p|:q|:r",
        ":p|(:q|:r)",
        "(:p|:q)/:r",
        ":p|:q/:r",
        "^(:p/:q)",
        "^:p/:q",
        "^:p*",
        "(^:p)*",
        "(:p*)+",
        "!(:p|:q)",
        "!()",
        "^!(:p)",
        "!(:p)*",
    ],
)
def test_a_path_is_printed_with_the_parentheses_it_needs(text: str) -> None:
    assert PRINTER.path(path_of(text)) == text


def test_the_longest_namespace_gives_the_prefix() -> None:
    printer = Printer({"a": "http://x/", "b": "http://x/y/", "c": "http://x/y/z#"})
    assert printer.iri(NamedNode("http://x/y/z")) == "b:z"
    assert printer.iri(NamedNode("http://x/y/z#w")) == "c:w"


def test_what_no_local_name_can_hold_is_written_out() -> None:
    assert PRINTER.iri(NamedNode("http://example.org/a/b")) == "<http://example.org/a/b>"
    assert PRINTER.iri(NamedNode("http://example.org/a.")) == "<http://example.org/a.>"


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        (Literal("1", datatype=NamedNode(XSD + "integer")), "1"),
        (Literal("x1", datatype=NamedNode(XSD + "integer")), f'"x1"^^<{XSD}integer>'),
        (Literal("١", datatype=NamedNode(XSD + "integer")), f'"١"^^<{XSD}integer>'),
        (Literal("1.0", datatype=NamedNode(XSD + "decimal")), "1.0"),
        (Literal("1", datatype=NamedNode(XSD + "decimal")), f'"1"^^<{XSD}decimal>'),
        (Literal("1e0", datatype=NamedNode(XSD + "double")), f'"1e0"^^<{XSD}double>'),
        (Literal("true", datatype=NamedNode(XSD + "boolean")), "true"),
        (Literal("1", datatype=NamedNode(XSD + "boolean")), f'"1"^^<{XSD}boolean>'),
    ],
)
def test_only_what_reads_the_same_is_printed_bare(literal: Literal, text: str) -> None:
    assert PRINTER.term(literal) == text


def test_an_aggregate_is_printed_with_all_its_parts() -> None:
    aggregate = a.Aggregate("GROUP_CONCAT", Variable("x"), True, "\n")
    assert PRINTER.aggregate(aggregate) == 'GROUP_CONCAT(DISTINCT ?x; SEPARATOR="\\n")'


# Random expressions and paths -----------------------------------------------------------------------------------------

iris = st.sampled_from([NamedNode("http://example.org/p"), NamedNode("http://example.org/a/b"), NamedNode("urn:x")])
numbers = st.one_of(
    st.integers().map(lambda n: Literal(str(n), datatype=NamedNode(XSD + "integer"))),
    st.decimals(allow_nan=False, allow_infinity=False, places=2).map(
        lambda n: Literal(f"{n:f}", datatype=NamedNode(XSD + "decimal"))
    ),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda n: Literal(repr(n), datatype=NamedNode(XSD + "double"))),
)
strings = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
literals = st.one_of(
    numbers,
    strings.map(Literal),
    strings.map(lambda s: Literal(s, language="de-ch")),
    st.builds(lambda s, d: Literal(s, datatype=d), strings, iris),
    st.booleans().map(lambda b: Literal(str(b).lower(), datatype=NamedNode(XSD + "boolean"))),
)
atoms = st.one_of(st.sampled_from([Variable("x"), Variable("y"), Variable("été")]), iris, literals)


@st.composite
def calls(draw: st.DrawFn, inner: st.SearchStrategy[a.Expression]) -> a.FunctionCall:
    name = draw(st.sampled_from(sorted(set(FUNCTIONS) - {"BOUND"})))
    fewest, most = FUNCTIONS[name]
    count = draw(st.integers(fewest, min(most, fewest + 2) if most == MANY else most))
    return a.FunctionCall(name, tuple(draw(inner) for _ in range(count)))


def larger(inner: st.SearchStrategy[a.Expression]) -> st.SearchStrategy[a.Expression]:
    some = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        st.builds(a.Or, inner, inner),
        st.builds(a.And, inner, inner),
        st.builds(a.Not, inner),
        st.builds(a.UnaryPlus, inner),
        st.builds(a.UnaryMinus, inner),
        st.builds(a.Comparison, st.sampled_from(["=", "!=", "<", ">", "<=", ">="]), inner, inner),
        st.builds(a.Arithmetic, st.sampled_from("+-*/"), inner, inner),
        st.builds(a.In, inner, some),
        st.builds(a.FunctionCall, iris, some),
        calls(inner),
    )


@given(st.recursive(atoms, larger, max_leaves=12))
@settings(max_examples=400, deadline=None)
def test_an_expression_printed_and_read_is_the_same(expression: a.Expression) -> None:
    assert expression_of(PRINTER.expression(expression)) == expression


paths = st.recursive(
    st.one_of(st.builds(a.Link, iris), st.builds(a.NegatedPropertySet, st.frozensets(iris))),
    lambda inner: st.one_of(
        st.builds(a.Inverse, inner),
        st.builds(a.Sequence, inner, inner),
        st.builds(a.Alternative, inner, inner),
        st.builds(a.ZeroOrOne, inner),
        st.builds(a.ZeroOrMore, inner),
        st.builds(a.OneOrMore, inner),
    ),
    max_leaves=8,
)


@given(paths)
@settings(max_examples=200, deadline=None)
def test_a_path_printed_and_read_is_the_same(path: a.PropertyPath) -> None:
    assert path_of(PRINTER.path(path)) == path
