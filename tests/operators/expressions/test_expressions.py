"""Expressions one fact at a time: what section 17 of the recommendation says of every operator and function."""

import numpy as np
import pytest
from pyoxigraph import Variable

from millstream.errors import UnsupportedQueryError
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.language import algebra as a
from millstream.language import parse_query
from millstream.operators.expressions import Evaluator
from tests.operators.expressions.columns import compute, passing

XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = f"PREFIX xsd: <{XSD}> PREFIX : <http://example/> "
AT = '"2011-01-10T14:45:13.815-05:00"^^xsd:dateTime'


def expression(text):
    pattern = parse_query(f"{PREFIXES}SELECT ({text} AS ?result) {{}}").pattern
    while not isinstance(pattern, a.Extend):
        pattern = pattern.pattern
    return pattern.expression


def value(text, base=None, now_ms=0, **bindings):
    """The value of an expression in N-Triples with short names, None for an error."""
    dictionary = Dictionary()
    evaluator = Evaluator(dictionary, base=base, now_ms=now_ms)
    columns = {Variable(name): dictionary.encode([term]) for name, term in bindings.items()}
    (found,) = compute(evaluator, expression(text), columns, 1).tolist()
    if found < 0:
        return None
    text = dictionary.decode_one(found).replace(f"<{XSD}", "xsd:").replace("<http://example/", ":")
    return text[:-1] if "^^xsd:" in text or text.startswith(("xsd:", ":")) else text


def table(*rows):
    return pytest.mark.parametrize(("text", "expected"), rows)


TRUE, FALSE = '"true"^^xsd:boolean', '"false"^^xsd:boolean'


# Logic


@table(
    ("true || 1/0", TRUE),
    ("1/0 || true", TRUE),
    ("false || 1/0", None),
    ("1/0 || 1/0", None),
    ("false && 1/0", FALSE),
    ("1/0 && false", FALSE),
    ("true && 1/0", None),
    ("!(1/0)", None),
)
def test_an_error_is_a_third_truth_value(text, expected):
    assert value(text) == expected


@table(
    ('!""', TRUE),
    ('!"a"', FALSE),
    ('!"a"@en', FALSE),
    ("!0", TRUE),
    ("!0.0", TRUE),
    ("!1e0", FALSE),
    ('!"NaN"^^xsd:double', TRUE),
    ('!"abc"^^xsd:integer', TRUE),
    ('!"abc"^^xsd:boolean', TRUE),
    ('!"1"^^xsd:boolean', FALSE),
    ("!:a", None),
    ('!"a"^^:type', None),
    ('!"2020-01-01"^^xsd:date', None),
    ("!?unbound", None),
)
def test_effective_boolean_values(text, expected):
    assert value(text) == expected


@table(
    ("BOUND(?unbound)", FALSE),
    ("IF(true, 1, 1/0)", '"1"^^xsd:integer'),
    ("IF(1/0, 1, 2)", None),
    ("COALESCE(1/0, ?unbound, 3)", '"3"^^xsd:integer'),
    ("COALESCE(1/0)", None),
    ("COALESCE()", None),
    ("2 IN (1, 2)", TRUE),
    ("2 IN ()", FALSE),
    ("2 IN (1/0, 2)", TRUE),
    ("2 IN (1/0, 1)", None),
    ("2 NOT IN (1/0, 1)", None),
    ("2 IN (2.0, :a)", TRUE),
    (":a IN (:b, :a)", TRUE),
    ("?unbound IN (:a)", None),
    ('"NaN"^^xsd:double IN ("NaN"^^xsd:double)', FALSE),
)
def test_forms_with_rules_of_their_own_for_errors(text, expected):
    assert value(text) == expected


# Comparison


@table(
    ("1 = 1.0", TRUE),
    ('"01"^^xsd:integer = 1', TRUE),
    ("1 = 1e0", TRUE),
    ("9007199254740993 = 9007199254740992", FALSE),
    ("9007199254740993 = 9007199254740992.0", FALSE),
    ("9007199254740993 = 9007199254740992e0", TRUE),
    ("100000000000000000000000000000001 > 100000000000000000000000000000000", TRUE),
    ('"NaN"^^xsd:double = "NaN"^^xsd:double', FALSE),
    ('"NaN"^^xsd:double < 1', FALSE),
    ('"NaN"^^xsd:double >= 1', FALSE),
    ('1.1 = "1.1"^^xsd:float', TRUE),
    ('1.1e0 = "1.1"^^xsd:float', FALSE),
    ('"300"^^xsd:byte = 300', None),
    ('"100"^^xsd:byte = 100', TRUE),
    ("true > false", TRUE),
    ('true = "1"^^xsd:boolean', TRUE),
    ('"a" < "b"', TRUE),
    ('"a"@en < "b"@en', TRUE),
    ('"a" < "b"@en', None),
    ('"a"@fr < "b"@en', None),
    ('"a" = "a"@en', FALSE),
    ('"a" = "a"^^xsd:string', TRUE),
    ("1 < true", None),
    ('1 = "1"', FALSE),
    (":a < :b", None),
    (":a = :b", FALSE),
    (":a != 1", TRUE),
)
def test_comparisons_by_value(text, expected):
    assert value(text) == expected


@table(
    ('"a"^^:type = "a"^^:type', TRUE),
    ('"a"^^:type = "b"^^:type', None),
    ('"a"^^:type != "b"^^:type', None),
    ('"a"^^:type = "a"', None),
    ('"a"^^:type = "a"@en', FALSE),
    ('"a"^^:type = :a', FALSE),
    ('"x"^^xsd:integer = "x"^^xsd:integer', TRUE),
    ('"x"^^xsd:integer = 1', None),
)
def test_literals_of_unknown_types_only_equal_themselves(text, expected):
    assert value(text) == expected


@table(
    ('"2020-01-01T12:00:00Z"^^xsd:dateTime = "2020-01-01T13:00:00+01:00"^^xsd:dateTime', TRUE),
    ('"2020-01-01T12:00:00"^^xsd:dateTime < "2020-01-01T13:00:00"^^xsd:dateTime', TRUE),
    ('"2020-01-01T12:00:00"^^xsd:dateTime = "2020-01-01T12:00:00Z"^^xsd:dateTime', None),
    ('"2020-01-01T12:00:00"^^xsd:dateTime < "2020-01-02T02:00:00Z"^^xsd:dateTime', None),
    ('"2020-01-01T12:00:00"^^xsd:dateTime < "2020-01-02T02:00:01Z"^^xsd:dateTime', TRUE),
    ('"2020-01-01T24:00:00Z"^^xsd:dateTime = "2020-01-02T00:00:00Z"^^xsd:dateTime', TRUE),
    ('"2020-01-01T00:00:00.1234567Z"^^xsd:dateTime < "2020-01-01T00:00:00.1234568Z"^^xsd:dateTime', TRUE),
    ('"2020-01-01"^^xsd:date < "2020-01-02"^^xsd:date', TRUE),
    ('"2020-01-01"^^xsd:date = "2020-01-01T00:00:00"^^xsd:dateTime', FALSE),
    ('"10:00:00"^^xsd:time < "11:00:00"^^xsd:time', TRUE),
    ('"P1Y"^^xsd:duration = "P12M"^^xsd:yearMonthDuration', TRUE),
    ('"P1M"^^xsd:duration < "P27D"^^xsd:duration', FALSE),
    ('"P1M"^^xsd:duration < "P30D"^^xsd:duration', None),
)
def test_dates_compare_where_the_zones_allow(text, expected):
    assert value(text) == expected


@table(
    ("SAMETERM(1, 1.0)", FALSE),
    ('SAMETERM("01"^^xsd:integer, 1)', FALSE),
    ('SAMETERM("NaN"^^xsd:double, "NaN"^^xsd:double)', TRUE),
    ("SAMETERM(?unbound, ?unbound)", None),
)
def test_same_term_looks_at_spelling(text, expected):
    assert value(text) == expected


# Numbers


@table(
    ("1 + 1", '"2"^^xsd:integer'),
    ("1 / 2", '"0.5"^^xsd:decimal'),
    ("4 / 2", '"2"^^xsd:decimal'),
    ("1 / 3", '"0.333333333333333333"^^xsd:decimal'),
    ("-2 / 3.0", '"-0.666666666666666666"^^xsd:decimal'),
    ("1 / 0", None),
    ("1 / 0.0", None),
    ("1 / 0e0", '"INF"^^xsd:double'),
    ("-1e0 / 0", '"-INF"^^xsd:double'),
    ("0 / 0e0", '"NaN"^^xsd:double'),
    ("0.1 + 0.2", '"0.3"^^xsd:decimal'),
    ("1.50 * 2", '"3"^^xsd:decimal'),
    ("1 + 1.5e0", '"2.5"^^xsd:double'),
    ('"1.1"^^xsd:float + 1', '"2.1"^^xsd:float'),
    ('"1.1"^^xsd:float + 1e0', '"2.100000023841858"^^xsd:double'),
    ('"1"^^xsd:byte + "1"^^xsd:byte', '"2"^^xsd:integer'),
    ("9223372036854775807 * 9223372036854775807", '"85070591730234615847396907784232501249"^^xsd:integer'),
    ("288230376151711743 + 1", '"288230376151711744"^^xsd:integer'),
    ("-288230376151711744 - 1", '"-288230376151711745"^^xsd:integer'),
    ("536870912 * 536870912", '"288230376151711744"^^xsd:integer'),
    ("0.1234567890123456789 * 0.1", '"0.01234567890123456789"^^xsd:decimal'),
    ("-(1.50)", '"-1.5"^^xsd:decimal'),
    ("-(0.0)", '"0"^^xsd:decimal'),
    ("-(0e0)", '"-0"^^xsd:double'),
    ('1 + "1"', None),
    ("1 + true", None),
    ("1 + ?unbound", None),
    ('-"a"', None),
)
def test_arithmetic_promotes_to_the_wider_type(text, expected):
    assert value(text) == expected


@table(
    ("ABS(-1.5)", '"1.5"^^xsd:decimal'),
    ("ABS(-1)", '"1"^^xsd:integer'),
    ("ROUND(2.5)", '"3"^^xsd:decimal'),
    ("ROUND(-2.5)", '"-2"^^xsd:decimal'),
    ("ROUND(-2.5e0)", '"-2"^^xsd:double'),
    ("ROUND(0.49999999999999994e0)", '"0"^^xsd:double'),
    ("ROUND(-0.4e0)", '"-0"^^xsd:double'),
    ("ROUND(7)", '"7"^^xsd:integer'),
    ("CEIL(1.2)", '"2"^^xsd:decimal'),
    ("CEIL(-0.5e0)", '"-0"^^xsd:double'),
    ("FLOOR(-1.5)", '"-2"^^xsd:decimal'),
    ('FLOOR("INF"^^xsd:double)', '"INF"^^xsd:double'),
    ('ROUND("a")', None),
)
def test_rounding(text, expected):
    assert value(text) == expected


# Terms


@table(
    ("STR(:a)", '"http://example/a"'),
    ('STR("01"^^xsd:integer)', '"01"'),
    ("STR(1e0)", '"1e0"'),
    ('LANG("a"@EN-us)', '"en-us"'),
    ("LANG(1)", '""'),
    ("LANG(:a)", None),
    ('DATATYPE("a")', "xsd:string"),
    ('DATATYPE("1"^^xsd:byte)', "xsd:byte"),
    ('DATATYPE("a"@en)', "<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>"),
    ("DATATYPE(:a)", None),
    ('STRDT("1", xsd:integer)', '"1"^^xsd:integer'),
    ('STRDT("1"@en, xsd:integer)', None),
    ('STRDT("a", <http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>)', None),
    ('STRLANG("a", "EN")', '"a"@en'),
    ('STRLANG("a", "e n")', None),
    ('IRI("http://example/a")', ":a"),
    ('IRI("a")', None),
    ('IRI("a"@en)', None),
    ('IRI("http://a b")', None),
    ("ISIRI(:a)", TRUE),
    ("ISLITERAL(:a)", FALSE),
    ('ISNUMERIC("1"^^xsd:byte)', TRUE),
    ('ISNUMERIC("1000"^^xsd:byte)', FALSE),
    ('ISNUMERIC("1")', FALSE),
    ("ISNUMERIC(?unbound)", None),
    ("ISBLANK(1/0)", None),
    ('LANGMATCHES("en-US", "EN")', TRUE),
    ('LANGMATCHES("en", "en-US")', FALSE),
    ('LANGMATCHES("en", "*")', TRUE),
    ('LANGMATCHES("", "*")', FALSE),
)
def test_functions_on_terms(text, expected):
    assert value(text) == expected


def test_blank_nodes_are_equal_to_themselves_and_have_no_text():
    assert value("ISBLANK(?x)", x="_:a") == TRUE
    assert value("?x = ?y", x="_:a", y="_:a") == TRUE
    assert value("?x = ?y", x="_:a", y="_:b") == FALSE
    assert value("STR(?x)", x="_:a") is None


def test_relative_references_are_seen_from_the_base():
    assert value('IRI("b")', base="http://example/a") == ":b"
    assert value('URI("http://example/b")', base="http://other/") == ":b"


# Strings


@table(
    ('STRLEN("a\U0001f4a9"@en)', '"2"^^xsd:integer'),
    ("STRLEN(1)", None),
    ('SUBSTR("motor car", 6)', '" car"'),
    ('SUBSTR("metadata", 4, 3)', '"ada"'),
    ('SUBSTR("12345"@en, 0, 3)', '"12"@en'),
    ('SUBSTR("12345", 5, -3)', '""'),
    ('SUBSTR("12345", 1.5)', None),
    ('UCASE("aß"@en)', '"ASS"@en'),
    ('LCASE("ABC")', '"abc"'),
    ('CONTAINS("ab"@en, "b")', TRUE),
    ('CONTAINS("ab"@en, "b"@en)', TRUE),
    ('CONTAINS("ab"@en, "b"@fr)', None),
    ('CONTAINS("ab", "b"@en)', None),
    ('STRSTARTS("ab", 1)', None),
    ('STRENDS("ab", "")', TRUE),
    ('STRBEFORE("abc"@en, "b")', '"a"@en'),
    ('STRBEFORE("abc"@en, "z")', '""'),
    ('STRBEFORE("abc"@en, "")', '""@en'),
    ('STRAFTER("abc"@en, "b")', '"c"@en'),
    ('STRAFTER("abc"@en, "z")', '""'),
    ('STRAFTER("abc"@en, "")', '"abc"@en'),
    ('CONCAT("a"@en, "b"@en)', '"ab"@en'),
    ('CONCAT("a"@en, "b")', '"ab"'),
    ('CONCAT("a", 1)', None),
    ("CONCAT()", '""'),
    ('ENCODE_FOR_URI("Los Angeles/é~-_.")', '"Los%20Angeles%2F%C3%A9~-_."'),
    ('MD5("abc")', '"900150983cd24fb0d6963f7d28e17f72"'),
    ('SHA1("abc")', '"a9993e364706816aba3e25717850c26c9cd0d89d"'),
    ('SHA256("a"@en)', None),
)
def test_functions_on_strings(text, expected):
    assert value(text) == expected


@table(
    ('REGEX("abc", "B")', FALSE),
    ('REGEX("abc"@en, "B", "i")', TRUE),
    ('REGEX("abc", "^b")', FALSE),
    ('REGEX("ab\\n", "b$")', FALSE),
    ('REGEX("a\\nb", "^b")', FALSE),
    ('REGEX("a\\nb", "^b", "m")', TRUE),
    ('REGEX("a\\n", "a$", "m")', TRUE),
    ('REGEX("a\\nb", "a.b")', FALSE),
    ('REGEX("a\\nb", "a.b", "s")', TRUE),
    ('REGEX("ab", "a b", "x")', TRUE),
    ('REGEX("a b", "a[ ]b", "x")', TRUE),
    ('REGEX("a.b", "a.b", "q")', TRUE),
    ('REGEX("axb", "a.b", "q")', FALSE),
    ('REGEX("abab", "(ab)\\\\1")', TRUE),
    ('REGEX("e", "^[a-z-[aeiou]]$")', FALSE),
    ('REGEX("f", "^[a-z-[aeiou]]$")', TRUE),
    ('REGEX("f", "^[^a-z]$")', FALSE),
    ('REGEX("É", "^\\\\p{Lu}$")', TRUE),
    ('REGEX("É", "^\\\\P{Lu}$")', FALSE),
    ('REGEX("_", "^\\\\w$")', FALSE),
    ('REGEX("+", "^\\\\w$")', TRUE),
    ('REGEX("\u00a0", "^\\\\s$")', FALSE),
    ('REGEX("٣", "^\\\\d$")', TRUE),
    ('REGEX("_a-1", "^\\\\i\\\\c*$")', TRUE),
    ('REGEX("a-]", "^[\\\\-\\\\]a]+$")', TRUE),
    ('REGEX("aab", "^a{2}b$")', TRUE),
    ('REGEX("aaab", "a+?b")', TRUE),
    ('REGEX("a word", "\\\\bword\\\\b")', TRUE),
    ('REGEX("a", "(")', None),
    ('REGEX("a", "a{,2}")', None),
    ('REGEX("a", "a*+")', None),
    ('REGEX("a", "(?=a)")', None),
    ('REGEX("a", "(?i)A")', None),
    ('REGEX("a", "\\\\p{IsBasicLatin}")', None),
    ('REGEX("a", "\\\\1")', None),
    ('REGEX("a", "[]")', None),
    ('REGEX("a", "[b-a]")', None),
    ('REGEX("a", "a", "g")', None),
    ('REGEX(1, "1")', None),
    ('REGEX("a", "a"@en)', None),
)
def test_regular_expressions_are_those_of_xpath(text, expected):
    assert value(text) == expected


@table(
    ('REPLACE("abab"@en, "b", "Z")', '"aZaZ"@en'),
    ('REPLACE("abab", "B", "Z", "i")', '"aZaZ"'),
    ('REPLACE("abab", "(a)(b)", "$2$1")', '"baba"'),
    ('REPLACE("abab", "(a)b", "$1x")', '"axax"'),
    ('REPLACE("abab", "(a)b", "$12")', '"a2a2"'),
    ('REPLACE("abab", "(a)|(b)", "[$1]")', '"[a][][a][]"'),
    ('REPLACE("ab", "b", "$0$0")', '"abb"'),
    ('REPLACE("ab", "b", "$3")', '"a"'),
    ('REPLACE("ab", "b", "\\\\$\\\\\\\\")', '"a$\\\\"'),
    ('REPLACE("ab", "b", "$")', None),
    ('REPLACE("ab", "b", "\\\\n")', None),
    ('REPLACE("ab", "x*", "-")', None),
    ('REPLACE("a.b", ".", "$", "q")', '"a$b"'),
    ('REPLACE("ab", "b", "c"@en)', None),
)
def test_replacing(text, expected):
    assert value(text) == expected


# Dates


@table(
    (f"YEAR({AT})", '"2011"^^xsd:integer'),
    (f"MONTH({AT})", '"1"^^xsd:integer'),
    (f"DAY({AT})", '"10"^^xsd:integer'),
    (f"HOURS({AT})", '"14"^^xsd:integer'),
    (f"MINUTES({AT})", '"45"^^xsd:integer'),
    (f"SECONDS({AT})", '"13.815"^^xsd:decimal'),
    (f"TIMEZONE({AT})", '"-PT5H"^^xsd:dayTimeDuration'),
    (f"TZ({AT})", '"-05:00"'),
    ('TIMEZONE("2011-01-10T00:00:00Z"^^xsd:dateTime)', '"PT0S"^^xsd:dayTimeDuration'),
    ('TIMEZONE("2011-01-10T00:00:00+05:30"^^xsd:dateTime)', '"PT5H30M"^^xsd:dayTimeDuration'),
    ('TIMEZONE("2011-01-10T00:00:00"^^xsd:dateTime)', None),
    ('TZ("2011-01-10T00:00:00Z"^^xsd:dateTime)', '"Z"'),
    ('TZ("2011-01-10T00:00:00+00:00"^^xsd:dateTime)', '"+00:00"'),
    ('TZ("2011-01-10T00:00:00"^^xsd:dateTime)', '""'),
    ('YEAR("-0044-03-15T00:00:00Z"^^xsd:dateTime)', '"-44"^^xsd:integer'),
    ('YEAR("12011-03-15T00:00:00Z"^^xsd:dateTime)', '"12011"^^xsd:integer'),
    ('YEAR("2011-01-10"^^xsd:date)', '"2011"^^xsd:integer'),
    ('HOURS("2011-01-10"^^xsd:date)', None),
    ('YEAR("2011-02-29T00:00:00Z"^^xsd:dateTime)', None),
    ('YEAR("2011-01-10T00:00:60Z"^^xsd:dateTime)', None),
    ('YEAR("2011")', None),
)
def test_functions_on_dates(text, expected):
    assert value(text) == expected


def test_now_is_the_time_given():
    assert value("NOW()", now_ms=1_500) == '"1970-01-01T00:00:01.5Z"^^xsd:dateTime'
    assert value("NOW()", now_ms=-1) == '"1969-12-31T23:59:59.999Z"^^xsd:dateTime'


# Casts


@table(
    ('xsd:boolean(" true ")', TRUE),
    ('xsd:boolean("TRUE")', None),
    ('xsd:boolean("NaN"^^xsd:double)', FALSE),
    ("xsd:boolean(0.1)", TRUE),
    ('xsd:integer("+01")', '"1"^^xsd:integer'),
    ("xsd:integer(-1.9)", '"-1"^^xsd:integer'),
    ("xsd:integer(1e20)", '"100000000000000000000"^^xsd:integer'),
    ("xsd:integer(true)", '"1"^^xsd:integer'),
    ('xsd:integer("1.5")', None),
    ('xsd:integer("INF"^^xsd:double)', None),
    ('xsd:integer("1"@en)', None),
    ("xsd:integer(:a)", None),
    ('xsd:decimal("1.50")', '"1.5"^^xsd:decimal'),
    ('xsd:decimal("1e0")', None),
    ("xsd:decimal(0.5e0)", '"0.5"^^xsd:decimal'),
    ('xsd:double("1e400")', '"INF"^^xsd:double'),
    ("xsd:double(1)", '"1"^^xsd:double'),
    ('xsd:float("16777217")', '"16777216"^^xsd:float'),
    ("xsd:float(1e300)", '"INF"^^xsd:float'),
    ("xsd:float(1.00000005960464477540)", '"1.0000001"^^xsd:float'),
    ('xsd:string("01"^^xsd:integer)', '"1"'),
    ("xsd:string(1e0)", '"1"'),
    ("xsd:string(1e21)", '"1.0E21"'),
    ("xsd:string(1.5e-7)", '"1.5E-7"'),
    ("xsd:string(:a)", '"http://example/a"'),
    ('xsd:string("a"@en)', '"a"'),
    ('xsd:dateTime("2020-01-01T00:00:00.500Z")', '"2020-01-01T00:00:00.5Z"^^xsd:dateTime'),
    ('xsd:dateTime("2020-01-01"^^xsd:date)', '"2020-01-01T00:00:00"^^xsd:dateTime'),
    ('xsd:dateTime("2020-01-01")', None),
    (f"xsd:date({AT})", '"2011-01-10-05:00"^^xsd:date'),
    (f"xsd:time({AT})", '"14:45:13.815-05:00"^^xsd:time'),
    ('xsd:dayTimeDuration("PT36H")', '"P1DT12H"^^xsd:dayTimeDuration'),
    ('xsd:yearMonthDuration("P0M")', '"P0M"^^xsd:yearMonthDuration'),
)
def test_casts(text, expected):
    assert value(text) == expected


# Refusals


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (":f(1)", "http://example/f"),
        ("xsd:int(1)", "XMLSchema#int"),
        ("true && EXISTS { ?s ?p ?o }", "EXISTS"),
    ],
)
def test_what_is_not_evaluated_is_refused(text, named):
    with pytest.raises(UnsupportedQueryError, match=named) as refused:
        Evaluator(Dictionary()).check(expression(text))
    assert refused.value.place is not None


def test_a_string_of_the_language_type_without_one_is_refused():
    with pytest.raises(UnsupportedQueryError, match="langString"):
        Evaluator(Dictionary()).check(expression('"a"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> = 1'))


def test_an_aggregate_is_refused():
    with pytest.raises(UnsupportedQueryError, match="aggregate"):
        Evaluator(Dictionary()).check(a.Aggregate("COUNT", None))


# Columns


def columns_of(dictionary, **texts):
    """Columns of terms; None is unbound."""
    return {
        Variable(name): np.array([-1 if t is None else dictionary.encode_one(t) for t in column], np.int64)
        for name, column in texts.items()
    }


def kept(text, **texts):
    dictionary = Dictionary()
    length = len(next(iter(texts.values())))
    return passing(Evaluator(dictionary), expression(text), columns_of(dictionary, **texts), length).tolist()


def number(n, datatype="integer"):
    return f'"{n}"^^<{XSD}{datatype}>'


def test_a_test_keeps_rows_whose_value_is_true():
    assert kept("?v > 80", v=[number(79), number(80), number(81), None, '"90"', "<x:a>"]) == [
        *(False, False, True, False, False, False),
    ]


def test_a_column_may_mix_types():
    mixed = [
        number(1),
        number("1.0", "decimal"),
        number("1e0", "double"),
        number("01"),
        number("x"),
        '"1"',
        "<x:a>",
        None,
    ]
    assert kept("?v = 1", v=mixed) == [True, True, True, True, False, False, False, False]
    assert kept("?v != 1", v=mixed) == [False, False, False, False, False, True, True, False]
    assert kept("?v IN (1, :b)", v=mixed) == [True, True, True, True, False, False, False, False]
    assert kept("?v NOT IN (:a, :b)", v=mixed) == [True, True, True, True, True, True, True, False]


def test_a_variable_without_a_column_is_unbound():
    assert kept("BOUND(?w) || ?v = 1", v=[number(1), number(2)]) == [True, False]


def test_rows_are_told_apart_by_all_their_columns():
    v, w = [number(1), number(2), number(1), number(2)], ['"a"', '"a"', '"b"', '"b"']
    assert kept('CONCAT(STR(?v), ?w) IN ("1a", "2b")', v=v, w=w) == [True, False, False, True]


def test_texts_are_tested_through_escapes_and_kinds():
    texts = ['"say \\"x\\""', '"x"@en', "<x:x>", number(1), "_:x", None]
    assert kept('CONTAINS(?s, "x")', s=texts) == [True, True, False, False, False, False]
    assert kept('CONTAINS(STR(?s), "x")', s=texts) == [True, True, True, False, False, False]
    assert kept('!CONTAINS(STR(?s), "x")', s=texts) == [False, False, False, True, False, False]
    assert kept("STRLEN(?s) = 7", s=texts) == [True, False, False, False, False, False]


def test_an_empty_batch_gives_empty_columns():
    evaluator, empty = Evaluator(Dictionary()), {Variable("v"): np.empty(0, np.int64)}
    for text in ("?v > 80", "?v = :a", "REGEX(?v, 'x')", "STR(?v) < ?w", "?v + 1", "?v IN (1)", "IF(?v, ?v, 1)", "1"):
        assert passing(evaluator, expression(text), empty, 0).shape == (0,)
        assert compute(evaluator, expression(text), empty, 0).shape == (0,)


def test_results_are_new_arrays_or_the_columns_themselves():
    dictionary = Dictionary()
    columns = columns_of(dictionary, v=[number(1), None])
    before = columns[Variable("v")].copy()
    evaluator = Evaluator(dictionary)
    for text in ("COALESCE(?v, 2)", "IF(BOUND(?v), ?v, 2)", "?v + 1", "-?v"):
        compute(evaluator, expression(text), columns, 2)
    assert np.array_equal(columns[Variable("v")], before)


def test_terms_of_constants_may_be_forgotten_between_batches():
    dictionary = Dictionary()
    evaluator, same = Evaluator(dictionary), expression('?v = "constant"')
    for batch in range(3):
        columns = columns_of(dictionary, v=['"constant"', f'"other {batch}"'])
        assert passing(evaluator, same, columns, 2).tolist() == [True, False]
        dictionary.forget_before(batch + 1)
        dictionary.settle()
        dictionary.sweep(1000)
