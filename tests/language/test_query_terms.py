"""Terms of a query: IRIs and how they are resolved, literals, numbers beside operators, escapes, odd characters."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode

from millstream.errors import QuerySyntaxError
from millstream.language import algebra as a
from millstream.language import parse_query
from millstream.language.translation.iris import resolve
from tests.language.algebra_text import algebra, parse
from tests.suites import has_suite, suite

XSD = "http://www.w3.org/2001/XMLSchema#"


def object_of(text: str) -> object:
    """The object of the only triple pattern of a query."""
    pattern = parse(f"ASK {{ ?s ?p {text} }}").pattern
    assert isinstance(pattern, a.BGP)
    return pattern.triples[0].object


def bound(expression: str) -> str:
    """How an expression is understood, with all of its parentheses."""
    pattern = parse(f"ASK {{ BIND({expression} AS ?result) }}").pattern
    assert isinstance(pattern, a.Extend)
    return _full(pattern.expression)


def _full(e: a.Expression) -> str:
    match e:
        case a.Arithmetic(operator, left, right) | a.Comparison(operator, left, right):
            return f"({_full(left)} {operator} {_full(right)})"
        case a.Or(left, right):
            return f"({_full(left)} || {_full(right)})"
        case a.And(left, right):
            return f"({_full(left)} && {_full(right)})"
        case a.UnaryMinus(operand):
            return f"neg {_full(operand)}"
        case a.UnaryPlus(operand):
            return f"pos {_full(operand)}"
        case a.Not(operand):
            return f"not {_full(operand)}"
        case a.In(operand, choices):
            return f"({_full(operand)} in {', '.join(_full(c) for c in choices)})"
        case Literal():
            return e.value
        case _:
            return str(e)


# IRIs -----------------------------------------------------------------------------------------------------------------

# RFC 3986, section 5.4, seen from http://a/b/c/d;p?q; the last one as "strict" parsers resolve it.
REFERENCES = {
    "g:h": "g:h", "g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/", "/g": "http://a/g",
    "//g": "http://g", "?y": "http://a/b/c/d;p?y", "g?y": "http://a/b/c/g?y", "#s": "http://a/b/c/d;p?q#s",
    "g#s": "http://a/b/c/g#s", "g?y#s": "http://a/b/c/g?y#s", ";x": "http://a/b/c/;x", "g;x": "http://a/b/c/g;x",
    "g;x?y#s": "http://a/b/c/g;x?y#s", "": "http://a/b/c/d;p?q", ".": "http://a/b/c/", "./": "http://a/b/c/",
    "..": "http://a/b/", "../": "http://a/b/", "../g": "http://a/b/g", "../..": "http://a/", "../../": "http://a/",
    "../../g": "http://a/g",
    "../../../g": "http://a/g", "../../../../g": "http://a/g", "/./g": "http://a/g", "/../g": "http://a/g",
    "g.": "http://a/b/c/g.", ".g": "http://a/b/c/.g", "g..": "http://a/b/c/g..", "..g": "http://a/b/c/..g",
    "./../g": "http://a/b/g", "./g/.": "http://a/b/c/g/", "g/./h": "http://a/b/c/g/h", "g/../h": "http://a/b/c/h",
    "g;x=1/./y": "http://a/b/c/g;x=1/y", "g;x=1/../y": "http://a/b/c/y",
    "g?y/./x": "http://a/b/c/g?y/./x", "g?y/../x": "http://a/b/c/g?y/../x", "g#s/./x": "http://a/b/c/g#s/./x",
    "g#s/../x": "http://a/b/c/g#s/../x", "http:g": "http:g",
}  # fmt: skip


@pytest.mark.parametrize(("reference", "target"), REFERENCES.items())
def test_a_reference_is_resolved_as_rfc_3986_says(reference: str, target: str) -> None:
    assert resolve("http://a/b/c/d;p?q", reference) == target


@pytest.mark.parametrize(
    ("base", "reference", "target"),
    [
        ("http://a", "g", "http://a/g"),
        ("http://a?q", "g", "http://a/g"),
        ("http://a", "", "http://a"),
        ("http://a/b#f", "#g", "http://a/b#g"),
        ("urn:x:y", "#g", "urn:x:y#g"),
        ("urn:x:y", "", "urn:x:y"),
        ("file:///a/b", "c", "file:///a/c"),
        ("http://a/b/", "http://c/../d", "http://c/../d"),
        ("http://a/é/", "ü", "http://a/é/ü"),
    ],
)
def test_bases_of_other_shapes(base: str, reference: str, target: str) -> None:
    assert resolve(base, reference) == target


def test_base_counts_from_where_it_stands() -> None:
    query = parse_query(
        "BASE <http://a/x/> PREFIX p: <p#> BASE <y/> PREFIX q: <q#> ASK { p:a q:b <c> }", base="http://ignored/"
    )
    triple = query.pattern.triples[0]  # type: ignore[union-attr]
    assert [triple.subject.value, triple.predicate.value, triple.object.value] == [
        "http://a/x/p#a",
        "http://a/x/y/q#b",
        "http://a/x/y/c",
    ]


def test_the_callers_base_serves_a_text_without_one() -> None:
    query = parse_query("ASK { <a> <b> <c> }", base="http://b/")
    assert query.pattern.triples[0].subject == NamedNode("http://b/a")  # type: ignore[union-attr]


def test_a_text_without_any_base_has_one_of_its_own() -> None:
    assert object_of("<Taxi>") == NamedNode("http://millstream.local/Taxi")


def test_the_last_declaration_of_a_prefix_counts() -> None:
    query = parse_query("PREFIX p: <http://a/> PREFIX p: <http://b/> ASK { ?s ?p p:x }")
    assert query.pattern.triples[0].object == NamedNode("http://b/x")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "iri"),
    [
        (":a.b", "a.b"),
        (":a:b", "a:b"),
        (":1", "1"),
        (":-", None),
        (":a%20b", "a%20b"),
        (r":a\.", "a."),
        (r":\-x\'y", "-x'y"),
        (r":a\/b", "a/b"),
        (":", ""),
        (":é", "é"),
        (":a_-b", "a_-b"),
    ],
)
def test_a_local_name_may_hold(name: str, iri: str | None) -> None:
    if iri is None:
        with pytest.raises(QuerySyntaxError):
            object_of(name)
    else:
        assert object_of(name) == NamedNode("http://example.org/" + iri)


def test_a_dot_behind_a_name_ends_the_triple() -> None:
    assert algebra("{ ?s :p :o.?t :q :r. }") == "BGP(?s :p :o. ?t :q :r)"


def test_what_is_no_iri_is_refused_where_it_stands() -> None:
    with pytest.raises(QuerySyntaxError, match=r"<http://\[x> is not an IRI") as error:
        object_of("<http://[x>")
    assert (error.value.line, error.value.column) == (2, 13)


# Literals -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"a"', "a"),
        ("'a'", "a"),
        ('"it\'s"', "it's"),
        ("'say \"x\"'", 'say "x"'),
        ('"""two\n"lines" """', 'two\n"lines" '),
        ("'''it''s'''", "it''s"),
        ('""', ""),
        ("''''''", ""),
        (r'"\t\b\n\r\f\"\'\\"', "\t\b\n\r\f\"'\\"),
        (r'"\u00E9\U0001F47E"', "é👾"),
        (r'"\\u00E9"', r"\u00E9"),
        ('"# no comment"', "# no comment"),
        ('"a\x00b"', "a\x00b"),
        ('"{ } STREAM [RANGE 5s]"', "{ } STREAM [RANGE 5s]"),
    ],
)
def test_a_string_reads(text: str, value: str) -> None:
    assert object_of(text) == Literal(value)


def test_a_string_may_have_a_datatype() -> None:
    assert object_of(f'"1"^^<{XSD}byte>') == Literal("1", datatype=NamedNode(XSD + "byte"))
    assert object_of('"1"^^:t') == Literal("1", datatype=NamedNode("http://example.org/t"))


@pytest.mark.parametrize("tag", ["en", "de-CH", "zh-Hant-TW", "x-private"])
def test_a_string_may_have_a_language(tag: str) -> None:
    assert object_of(f'"x"@{tag}') == Literal("x", language=tag)


@pytest.mark.parametrize("tag", ["toolonglanguage", "e-1", "en-toolongsubtag"])
def test_a_language_tag_must_be_one(tag: str) -> None:
    with pytest.raises(QuerySyntaxError, match=f"@{tag} is not a language tag") as error:
        object_of(f'"x"@{tag}')
    assert (error.value.line, error.value.column) == (2, 16)


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("1", "integer"),
        ("01", "integer"),
        ("-1", "integer"),
        ("+1", "integer"),
        ("1.5", "decimal"),
        (".5", "decimal"),
        ("-.5", "decimal"),
        ("1e3", "double"),
        ("1.e3", "double"),
        (".5E-3", "double"),
        ("+1.5e+3", "double"),
    ],
)
def test_a_number_keeps_its_writing(text: str, datatype: str) -> None:
    assert object_of(text) == Literal(text, datatype=NamedNode(XSD + datatype))


def test_a_dot_behind_an_integer_ends_the_triple() -> None:
    assert algebra("{ ?s :p 1. ?t :p -5.}") == "BGP(?s :p 1. ?t :p -5)"


@pytest.mark.parametrize(("text", "value"), [("true", "true"), ("FALSE", "false"), ("True", "true")])
def test_a_boolean_is_read_in_any_case(text: str, value: str) -> None:
    assert object_of(text) == Literal(value, datatype=NamedNode(XSD + "boolean"))


# Operators ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("?a-1", "(?a - 1)"),
        ("?a -1", "(?a - 1)"),
        ("?a - 1", "(?a - 1)"),
        ("?a - -1", "(?a - -1)"),
        ("?a+1.5", "(?a + 1.5)"),
        ("?a -1*2", "(?a - (1 * 2))"),
        ("?a -1 -2", "((?a - 1) - 2)"),
        ("?a*-1", "(?a * -1)"),
        ("2-1", "(2 - 1)"),
        ("-1-1", "(-1 - 1)"),
        ("-?a", "neg ?a"),
        ("-(1)", "neg 1"),
        ("- 1", "neg 1"),
        ("+?a", "pos ?a"),
        ("1 - 2 - 3", "((1 - 2) - 3)"),
        ("1 - (2 - 3)", "(1 - (2 - 3))"),
        ("1 + 2 * 3", "(1 + (2 * 3))"),
        ("8 / 4 / 2", "((8 / 4) / 2)"),
        ("8 / 4 * 2", "((8 / 4) * 2)"),
        ("!?a && ?b || ?c", "((not ?a && ?b) || ?c)"),
        ("?a || ?b && ?c", "(?a || (?b && ?c))"),
        ("?a || ?b || ?c", "((?a || ?b) || ?c)"),
        ("!(?a && ?b)", "not (?a && ?b)"),
        ("!?a = ?b", "(not ?a = ?b)"),
        ("?a < ?b + 1", "(?a < (?b + 1))"),
        ("?a<3", "(?a < 3)"),
        ("?a <= 3 && ?a >= 1", "((?a <= 3) && (?a >= 1))"),
        ("?a IN (1, 2)", "(?a in 1, 2)"),
        ("?a NOT IN ()", "not (?a in )"),
        ("?a + 1 in (?b)", "((?a + 1) in ?b)"),
    ],
)
def test_operators_bind(text: str, meaning: str) -> None:
    assert bound(text) == meaning


# The text as a whole --------------------------------------------------------------------------------------------------


def test_code_point_escapes_stand_for_their_character_anywhere() -> None:
    # Section 19.2. SPARQL 1.2 will allow them only inside of strings and IRIs.
    assert parse_query(r"\u0041\u0053\u004B { ?caf\u00E9 <http://x/\u00E9> '\u00E9' }") == parse_query(
        "ASK { ?café <http://x/é> 'é' }"
    )


@pytest.mark.parametrize("escape", [r"\uD83C", r"\uDCA1", r"\uD83C\uDCA1", r"\U00110000", r"\UFFFFFFFF"])
def test_an_escape_stands_for_a_character(escape: str) -> None:
    with pytest.raises(QuerySyntaxError, match="is not a character") as error:
        object_of(f'"{escape}"')
    assert (error.value.line, error.value.column) == (2, 14)


def test_the_w3c_tests_of_surrogate_escapes_are_refused() -> None:
    folder = suite("w3c/sparql/sparql12/codepoint-escapes")
    texts = [p.read_text("utf-8") for p in sorted(folder.glob("surrogate-*-bad.rq"))]
    assert len(texts) == 5
    for text in texts:
        with pytest.raises(QuerySyntaxError, match="is not a character"):
            parse_query(text)


@pytest.mark.skipif(not has_suite("w3c/sparql"), reason="the suite is absent; set MILLSTREAM_SUITES to the folder of suites")
@pytest.mark.parametrize("number", ["05", "06", "07"])
def test_the_w3c_tests_of_escapes_in_strings_and_iris_are_read(number: str) -> None:
    text = (suite("w3c/sparql/sparql12/codepoint-escapes") / f"codepoint-esc-{number}.rq").read_text("utf-8")
    assert "abc👾" in str(parse_query(text).pattern)


def test_a_byte_order_mark_in_front_is_skipped() -> None:
    assert parse_query("\ufeffASK {}") == parse_query("ASK {}")
    with pytest.raises(QuerySyntaxError) as error:
        parse_query("\ufeffASK }")
    assert (error.value.line, error.value.column) == (1, 5)


def test_a_byte_order_mark_inside_is_no_space() -> None:
    with pytest.raises(QuerySyntaxError, match=r"found the character '\\ufeff'"):
        parse_query("ASK \ufeff{}")


def test_a_nul_outside_of_strings_is_named() -> None:
    with pytest.raises(QuerySyntaxError, match=r"found the character '\\x00'"):
        parse_query("ASK {}\x00")


def test_half_a_character_is_named() -> None:
    with pytest.raises(QuerySyntaxError, match=r"\\uD800 is half a character; the text was not decoded properly") as error:
        parse_query('ASK {\n ?s ?p "\ud800" }')
    assert (error.value.line, error.value.column) == (2, 9)


def test_comments_end_with_their_line_and_stand_between_any_tokens() -> None:
    assert parse(
        "#one\nSELECT#two\n?s#three\nWHERE#four\n{#five\n?s#six\n:p#seven\n?o#eight\n.#nine\n}#ten\nORDER#eleven\nBY#twelve\n?s"
    ) == parse("SELECT ?s WHERE { ?s :p ?o . } ORDER BY ?s")


def test_a_hash_inside_an_iri_is_no_comment() -> None:
    assert object_of("<http://x#y>") == NamedNode("http://x#y")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\t"])
def test_any_white_space_separates(end: str) -> None:
    assert parse(end.join(["SELECT", "*", "{", "?s", ":p", "?o", "}"])) == parse("SELECT * { ?s :p ?o }")


def test_keywords_need_no_space_where_nothing_is_ambiguous() -> None:
    assert parse("SELECT?s{?s:p?o.FILTER(?o>1)OPTIONAL{?s:q?x}}ORDER BY?s LIMIT 1") == parse(
        "SELECT ?s { ?s :p ?o . FILTER(?o > 1) OPTIONAL { ?s :q ?x } } ORDER BY ?s LIMIT 1"
    )
